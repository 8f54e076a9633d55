import type { SessionKey } from "./key.ts";
import type { CostBasis, Snapshot } from "./snapshot.ts";
import { STATUSES, type StatusName } from "./status.ts";

/** What happened to one session between two moments. */
export interface DigestLine {
  key: SessionKey;
  title: string;
  /** null: it was not there. */
  from: StatusName | null;
  /** null: it is gone. */
  to: StatusName | null;
  /** Messages since; negative after a rewind. */
  messages: number;
  /** US dollars since, null where nothing is known. */
  cost: number | null;
  costBasis: CostBasis | null;
  /** Tokens since, of every kind, null where the tool records none. */
  tokens: number | null;
  /** What it asks or failed of, null when it does neither. */
  asks: string | null;
  /** Tasks completed since. */
  tasks: number;
}

/**
 * One line a session that changed between two moments, most important first: who wants the person, then what ended, then
 * what went on; equal ones by how much happened. Sub-agents count in their parents. Both maps joined, as lists show them.
 */
export function digest(
  before: ReadonlyMap<SessionKey, Snapshot>,
  after: ReadonlyMap<SessionKey, Snapshot>,
): DigestLine[] {
  if (before === after) return [];
  const lines: DigestLine[] = [];
  for (const [key, now] of after) {
    const then = before.get(key) ?? null;
    if (now === then || now.hidden) continue;
    const line = difference(then, now);
    if (tells(line)) lines.push(line);
  }
  for (const [key, then] of before) if (!after.has(key) && !then.hidden) lines.push(goneLine(then));
  return lines.sort(byImportance);
}

function difference(then: Snapshot | null, now: Snapshot): DigestLine {
  const asks = now.status === "needs-input" || now.status === "failed" ? now.activity : null;
  return {
    key: now.key,
    title: now.title,
    from: then?.status ?? null,
    to: now.status,
    messages: now.messages - (then?.messages ?? 0),
    ...spent(then, now),
    asks,
    tasks: Math.max(0, (now.tasks?.completed ?? 0) - (then?.tasks?.completed ?? 0)),
  };
}

/** Own numbers, because what a copy brought along was not spent now; what grew smaller (a rewind) cost nothing. */
function spent(then: Snapshot | null, now: Snapshot): Pick<DigestLine, "cost" | "costBasis" | "tokens"> {
  if (now.own === null || (then !== null && then.own === null)) return { cost: null, costBasis: null, tokens: null };
  const sum = (one: Snapshot | null): number =>
    one?.own ? one.own.input + one.own.output + one.own.cacheRead + one.own.cacheWrite : 0;
  const costThen = then === null ? 0 : (then.own?.cost ?? (sum(then) === 0 ? 0 : null));
  const cost = now.own.cost === null || costThen === null ? null : Math.max(0, now.own.cost - costThen);
  return { cost, costBasis: cost === null ? null : now.own.costBasis, tokens: Math.max(0, sum(now) - sum(then)) };
}

function goneLine(then: Snapshot): DigestLine {
  const nothing = { messages: 0, cost: null, costBasis: null, tokens: null, asks: null, tasks: 0 };
  return { key: then.key, title: then.title, from: then.status, to: null, ...nothing };
}

/** A touched file and a failed look are no news. */
function tells(line: DigestLine): boolean {
  if (line.from === null) return true;
  const status = line.from !== line.to && line.to !== "unknown";
  return status || line.messages !== 0 || (line.tokens ?? 0) > 0 || (line.cost ?? 0) > 0 || line.tasks > 0;
}

function byImportance(a: DigestLine, b: DigestLine): number {
  return rank(a) - rank(b) || b.messages - a.messages || (b.tokens ?? 0) - (a.tokens ?? 0) || compareKeys(a, b);
}

/** Who wants the person now; among these, those that did not before come first. */
function rank(line: DigestLine): number {
  if (line.to === null) return 100;
  return STATUSES[line.to].rank * 2 + Number(line.from === line.to);
}

function compareKeys(a: DigestLine, b: DigestLine): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** How a surface writes amounts. */
export interface Amounts {
  tokens(count: number): string;
  cost(dollars: number, basis: CostBasis | null): string;
}

/** The line after the title: `working → needs-input · +12 messages · 31k tokens · $0.42 · push to main?` */
export function digestText(line: DigestLine, amounts: Amounts, options: { ascii?: boolean } = {}): string {
  const arrow = options.ascii ? "->" : "→";
  const parts: string[] = [];
  if (line.to === null) parts.push("gone");
  else if (line.from === null) parts.push(`new, ${line.to}`);
  else parts.push(line.from === line.to ? line.to : `${line.from} ${arrow} ${line.to}`);
  if (line.messages > 0) parts.push(`+${counted(line.messages, "message")}`);
  if (line.messages < 0) parts.push(`rewound by ${counted(-line.messages, "message")}`);
  if (line.tasks > 0) parts.push(`${counted(line.tasks, "task")} completed`);
  if (line.tokens !== null && line.tokens > 0) parts.push(`${amounts.tokens(line.tokens)} tokens`);
  if (line.cost !== null && line.cost > 0) parts.push(amounts.cost(line.cost, line.costBasis));
  if (line.asks !== null && line.asks !== "") parts.push(line.asks);
  return parts.join(options.ascii ? " - " : " · ");
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
