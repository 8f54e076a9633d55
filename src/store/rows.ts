import fuzzysort from "fuzzysort";
import type { Memory } from "../memory/memory.ts";
import { parseFilter, passes, searchText } from "../session/filter.ts";
import { joinSessions } from "../session/join.ts";
import type { SessionKey } from "../session/key.ts";
import { byNewest, type Snapshot } from "../session/snapshot.ts";
import { STATUSES } from "../session/status.ts";
import type { ForktailState } from "./store.ts";
import type { GroupBy, SortBy } from "./view.ts";

/** A line of the session list. */
export type ListRow =
  | { type: "group"; label: string; count: number }
  | {
      type: "session";
      key: SessionKey;
      snapshot: Snapshot;
      /** Nesting in a tree, 0 for a top row. */
      depth: number;
      pinned: boolean;
      /** Our own tags, joined by spaces. */
      tags: string;
      /** Our own name for it, null when the person gave none. */
      alias: string | null;
      /** Positions of the filter's hits in the shown title. */
      hits: number[];
    };

export interface ListRows {
  rows: ListRow[];
  /** Keys in the order of their rows. */
  keys: SessionKey[];
  /** Sessions that are not listed, by reason. */
  left: { hidden: number; superseded: number; filtered: number; elsewhere: number };
}

type Inputs = Pick<ForktailState, "sessions" | "memoryRevision" | "clock"> &
  Pick<ForktailState["view"], "filter" | "sort" | "group" | "all" | "scope">;

/** Makes the rows, and makes them anew only when something they are made from changed. */
export function rowsSelector(memory: Memory): (state: ForktailState) => ListRows {
  let last: { inputs: Inputs; rows: ListRows } | null = null;
  return (state) => {
    const { sessions, memoryRevision, clock, view } = state;
    const { filter, sort, group, all, scope } = view;
    // Only relative filters depend on the clock.
    const inputs: Inputs = {
      sessions,
      memoryRevision,
      clock: filter.includes("since:") ? clock : 0,
      filter,
      sort,
      group,
      all,
      scope,
    };
    if (last && sameInputs(last.inputs, inputs)) return last.rows;
    last = { inputs, rows: listRows({ ...inputs, clock }, memory) };
    return last.rows;
  };
}

function sameInputs(a: Inputs, b: Inputs): boolean {
  return (
    a.sessions === b.sessions &&
    a.memoryRevision === b.memoryRevision &&
    a.clock === b.clock &&
    a.filter === b.filter &&
    a.sort === b.sort &&
    a.group === b.group &&
    a.all === b.all &&
    a.scope === b.scope
  );
}

export function listRows(inputs: Inputs, memory: Memory): ListRows {
  const left = { hidden: 0, superseded: 0, filtered: 0, elsewhere: 0 };
  const shown: Snapshot[] = [];
  for (const snapshot of joinSessions(inputs.sessions).sessions.values()) {
    if (!inputs.all) {
      if (memory.get("superseded", snapshot.key) || memory.get("withdrawn", snapshot.key)) {
        left.superseded += 1;
        continue;
      }
      if (snapshot.hidden || memory.get("hidden", snapshot.key)) {
        left.hidden += 1;
        continue;
      }
    }
    if (inputs.scope !== null && !isBelow(snapshot.cwd, inputs.scope)) {
      left.elsewhere += 1;
      continue;
    }
    shown.push(snapshot);
  }
  const matched = match(shown, inputs, memory);
  left.filtered = shown.length - matched.length;
  const ordered = matched.sort((a, b) => pinnedFirst(a, b, memory) || compare(inputs.sort)(a.snapshot, b.snapshot));
  const rows = arrange(ordered, inputs.group, memory, inputs.clock);
  return { rows, keys: rows.flatMap((row) => (row.type === "session" ? row.key : [])), left };
}

function isBelow(path: string | null, directory: string): boolean {
  return path !== null && (path === directory || path.startsWith(`${directory}/`));
}

/** How well a word must fit, of 1. */
const LEAST_SCORE = 0.3;

interface Match {
  snapshot: Snapshot;
  hits: number[];
}

function match(snapshots: readonly Snapshot[], inputs: Inputs, memory: Memory): Match[] {
  const filter = parseFilter(inputs.filter);
  const kept = snapshots.filter((snapshot) =>
    passes(snapshot, filter, {
      tags: memory.get("tags", snapshot.key) ?? [],
      pinned: memory.get("pinned", snapshot.key) ?? false,
      now: inputs.clock,
    }),
  );
  if (filter.words.length === 0) return kept.map((snapshot) => ({ snapshot, hits: [] }));
  return kept.flatMap((snapshot) => {
    const name = memory.get("name", snapshot.key);
    const text = name === null ? searchText(snapshot) : `${name} ${searchText(snapshot)}`;
    const hits: number[] = [];
    for (const word of filter.words) {
      const whole = fuzzysort.single(word, text);
      if (whole === null || whole.score < LEAST_SCORE) return [];
      // Letters strewn over a title that the word is not in are no hit.
      const shown = fuzzysort.single(word, name ?? snapshot.title);
      if (shown !== null && shown.score >= LEAST_SCORE) hits.push(...shown.indexes);
    }
    return { snapshot, hits };
  });
}

function pinnedFirst(a: Match, b: Match, memory: Memory): number {
  return Number(memory.get("pinned", b.snapshot.key) ?? 0) - Number(memory.get("pinned", a.snapshot.key) ?? 0);
}

function compare(sort: SortBy): (a: Snapshot, b: Snapshot) => number {
  const spent = (one: Snapshot): number =>
    one.own ? one.own.input + one.own.output + one.own.cacheRead + one.own.cacheWrite : -1;
  switch (sort) {
    case "updated":
      return byNewest;
    case "status":
      return (a, b) => STATUSES[a.status].rank - STATUSES[b.status].rank || byNewest(a, b);
    case "created":
      return (a, b) => (b.createdAt ?? "").localeCompare(a.createdAt ?? "") || byNewest(a, b);
    case "title":
      return (a, b) => a.title.localeCompare(b.title) || byNewest(a, b);
    case "tokens":
      return (a, b) => spent(b) - spent(a) || byNewest(a, b);
    case "cost":
      return (a, b) => (b.own?.cost ?? -1) - (a.own?.cost ?? -1) || byNewest(a, b);
  }
}

function arrange(matches: readonly Match[], group: GroupBy, memory: Memory, now: number): ListRow[] {
  const row = ({ snapshot, hits }: Match, depth: number): ListRow => ({
    type: "session",
    key: snapshot.key,
    snapshot,
    depth,
    hits,
    pinned: memory.get("pinned", snapshot.key) ?? false,
    tags: (memory.get("tags", snapshot.key) ?? []).join(" "),
    alias: memory.get("name", snapshot.key),
  });
  if (group === "none") return matches.map((one) => row(one, 0));
  if (group === "tree") return treeRows(matches, row);
  const groups = new Map<string, Match[]>();
  for (const one of matches) {
    const label = groupLabel(one.snapshot, group, now);
    const members = groups.get(label);
    if (members) members.push(one);
    else groups.set(label, [one]);
  }
  const sorted = group === "status" ? [...groups].sort((a, b) => statusRank(a[1]) - statusRank(b[1])) : [...groups];
  return sorted.flatMap(([label, members]) => [
    { type: "group" as const, label, count: members.length },
    ...members.map((one) => row(one, 0)),
  ]);
}

function statusRank(members: readonly Match[]): number {
  const first = members[0];
  return first ? STATUSES[first.snapshot.status].rank : 0;
}

function groupLabel(snapshot: Snapshot, group: GroupBy, now: number): string {
  switch (group) {
    case "project":
      return snapshot.project ?? snapshot.cwd ?? "no project";
    case "agent":
      return snapshot.agent ?? snapshot.source;
    case "status":
      return snapshot.status;
    case "day":
      return dayLabel(snapshot.updatedAt, now);
    default:
      return "";
  }
}

const DAY = 86_400_000;

function dayLabel(time: string | null, now: number): string {
  if (time === null) return "no time";
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const at = Date.parse(time);
  if (at >= midnight) return "today";
  if (at >= midnight - DAY) return "yesterday";
  if (at >= midnight - 6 * DAY) return "this week";
  return new Date(at).toISOString().slice(0, 7);
}

/** Children beneath their parents; a child whose parent is not listed stands at the top; a cycle is cut where it closes. */
function treeRows(matches: readonly Match[], row: (one: Match, depth: number) => ListRow): ListRow[] {
  const byKey = new Map(matches.map((one) => [one.snapshot.key, one]));
  const children = new Map<SessionKey, Match[]>();
  const tops: Match[] = [];
  for (const one of matches) {
    const parent = one.snapshot.parent?.key;
    if (parent === undefined || !byKey.has(parent)) tops.push(one);
    else children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  const rows: ListRow[] = [];
  const placed = new Set<SessionKey>();
  const place = (one: Match, depth: number): void => {
    if (placed.has(one.snapshot.key)) return;
    placed.add(one.snapshot.key);
    rows.push(row(one, depth));
    for (const child of children.get(one.snapshot.key) ?? []) place(child, depth + 1);
  };
  for (const one of tops) place(one, 0);
  for (const one of matches) place(one, 0);
  return rows;
}
