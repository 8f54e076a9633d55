import type { Snapshot } from "./snapshot.ts";
import { isStatusName, STATUS_NAMES } from "./status.ts";

/** A filter line taken apart: `agent:codex status:needs project:web since:2d rate limit`. */
export interface Filter {
  words: string[];
  terms: { field: Field; value: string }[];
}

const FIELDS = [
  "agent",
  "status",
  "project",
  "branch",
  "source",
  "model",
  "since",
  "tag",
  "title",
  "id",
  "is",
] as const;
type Field = (typeof FIELDS)[number];

export function parseFilter(text: string): Filter {
  const filter: Filter = { words: [], terms: [] };
  for (const part of text.trim().split(/\s+/u)) {
    const [, name, value] = /^([a-z]+):(.+)$/u.exec(part) ?? [];
    const field = FIELDS.find((one) => one === name);
    if (field && value !== undefined) filter.terms.push({ field, value: value.toLowerCase() });
    else if (part !== "") filter.words.push(part.toLowerCase());
  }
  return filter;
}

export interface FilterFacts {
  tags: readonly string[];
  pinned: boolean;
  /** ms since 1970. */
  now: number;
}

/** Whether a session passes the operators; words are matched fuzzily elsewhere, over `searchText`. */
export function passes(snapshot: Snapshot, filter: Filter, facts: FilterFacts): boolean {
  return filter.terms.every(({ field, value }) => {
    switch (field) {
      case "agent":
        return (
          has(snapshot.agent, value) || has(snapshot.source, value) || snapshot.panes.some((p) => has(p.agent, value))
        );
      case "status":
        return statusMatches(snapshot, value);
      case "project":
        return has(snapshot.project, value) || has(snapshot.cwd, value);
      case "branch":
        return has(branchOf(snapshot), value);
      case "source":
        return snapshot.source === value;
      case "model":
        return snapshot.models.some((model) => has(model, value));
      case "since": {
        const span = spanMs(value);
        return span !== null && snapshot.updatedAt !== null && Date.parse(snapshot.updatedAt) >= facts.now - span;
      }
      case "tag":
        return facts.tags.some((tag) => has(tag, value));
      case "title":
        return has(snapshot.title, value) || has(snapshot.name, value);
      case "id":
        return has(snapshot.id, value);
      case "is":
        return value === "pinned" ? facts.pinned : statusMatches(snapshot, value);
    }
    return false;
  });
}

/** The git branch that the session says it works on, null when its tool records none. */
function branchOf(snapshot: Snapshot): string | null {
  const { gitBranch } = snapshot.extra;
  return typeof gitBranch === "string" && gitBranch !== "" ? gitBranch : null;
}

function has(text: string | null, value: string): boolean {
  return text?.toLowerCase().includes(value) ?? false;
}

/** `needs` is enough for `needs-input`; the tool's own word counts too. */
function statusMatches(snapshot: Snapshot, value: string): boolean {
  if (isStatusName(value)) return snapshot.status === value;
  const begins = STATUS_NAMES.filter((name) => name.startsWith(value));
  return begins.includes(snapshot.status) || has(snapshot.native, value);
}

/** `90s`, `30m`, `4h`, `2d`, `3w` in ms; null when it is none. */
export function spanMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})(s|m|h|d|w)$/u.exec(text) ?? [];
  if (count === undefined) return null;
  const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
  return Number(count) * (units[unit ?? ""] ?? 0);
}

/** What the words of a filter are looked for in. */
export function searchText(snapshot: Snapshot): string {
  const { title, name, project, cwd, agent, models, id, activity } = snapshot;
  return [title, name, project, cwd, branchOf(snapshot), agent, ...models, id, activity]
    .filter((part) => part !== null)
    .join(" ");
}
