import type { SessionKey } from "../session/key.ts";
import type { Snapshot, Usage } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import { missedCache } from "./cache-misses.ts";
import { type PriceBook, sumPriced } from "./prices.ts";
import { type ModelRequest, promptTokens } from "./request.ts";

/** A session and the requests behind its numbers. */
export interface UsageSession {
  snapshot: Snapshot;
  requests: readonly ModelRequest[];
}

export const GROUPINGS = ["day", "model", "project", "agent", "session"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface LedgerOptions {
  by: Grouping;
  /** First and last day that count, `YYYY-MM-DD` in the time zone; null: no bound. */
  since: string | null;
  until: string | null;
  /** IANA name: where a day begins. */
  timezone: string;
}

export interface LedgerRow {
  /** The day, model, project, agent, or the session's key. */
  name: string;
  /** For people: the session's title; else the name. */
  label: string;
  usage: Usage;
  /** Sessions that had a part in it. */
  sessions: number;
  /** Requests without a known price. */
  unpriced: number;
  /** Share of the prompts' tokens that came from a cache, null without prompts. */
  cacheHitRate: number | null;
}

export interface Ledger {
  rows: LedgerRow[];
  total: Usage;
  cacheHitRate: number | null;
  /** Copies of requests that were left out, because another session owns them. */
  duplicates: number;
  unpriced: { requests: number; models: string[] };
  /** What requests after a pause cost because the cache had gone cold. */
  coldCache: { requests: number; tokens: number; cost: number | null };
}

/** A request, and the one session it is counted for. */
export interface Entered {
  session: UsageSession;
  request: ModelRequest;
}

/**
 * Every request once (agents.md §0): for the session that owns it, not for one it was copied into; where all are
 * copies, for the oldest of them. Depends on no order.
 */
export function enterOnce(sessions: readonly UsageSession[]): { entered: Entered[]; duplicates: Entered[] } {
  const best = new Map<string, Entered>();
  const duplicates: Entered[] = [];
  for (const session of sessions) {
    for (const request of session.requests) {
      const one = { session, request };
      const before = best.get(request.key);
      if (before === undefined || owns(one, before)) best.set(request.key, one);
      if (before !== undefined) duplicates.push(owns(one, before) ? before : one);
    }
  }
  return { entered: [...best.values()], duplicates };
}

function owns(a: Entered, b: Entered): boolean {
  const [copiedA, copiedB] = [a.request.copied === true, b.request.copied === true];
  if (copiedA !== copiedB) return !copiedA;
  const [bornA, bornB] = [a.session.snapshot.createdAt ?? "~", b.session.snapshot.createdAt ?? "~"];
  if (bornA !== bornB) return bornA < bornB;
  return a.session.snapshot.key < b.session.snapshot.key;
}

/** Sums of all sessions, hidden ones too: their requests were billed like any. */
export function ledgerOf(sessions: readonly UsageSession[], options: LedgerOptions, prices: PriceBook | null): Ledger {
  const days = dayNames(options.timezone);
  const { entered, duplicates } = enterOnce(sessions);
  const counts = ({ request }: Entered): boolean => inRange(days(request.time), options);
  const counted = entered.filter(counts);
  const groups = new Map<string, Entered[]>();
  for (const one of counted) {
    const name = groupOf(one, options.by, days);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  const rows = [...groups].map(([name, group]) => rowOf(name, group, options.by, prices));
  const all = counted.map((one) => one.request);
  const total = sumPriced(all, prices);
  const unpriced = all.filter((request) => isUnpriced(request, prices));
  return {
    rows: rows.sort(rowOrder(options.by)),
    total,
    cacheHitRate: hitRate(total),
    duplicates: duplicates.filter(counts).length,
    unpriced: { requests: unpriced.length, models: distinct(unpriced.map((request) => modelName(request))) },
    coldCache: coldCacheOf(counted, prices),
  };
}

function rowOf(name: string, group: readonly Entered[], by: Grouping, prices: PriceBook | null): LedgerRow {
  const requests = group.map((one) => one.request);
  const usage = sumPriced(requests, prices);
  const first = group[0]?.session.snapshot;
  return {
    name,
    label: by === "session" && first !== undefined ? first.title : name,
    usage,
    sessions: new Set(group.map((one) => one.session.snapshot.key)).size,
    unpriced: requests.filter((request) => isUnpriced(request, prices)).length,
    cacheHitRate: hitRate(usage),
  };
}

function groupOf({ session, request }: Entered, by: Grouping, days: (time: string | null) => string): string {
  const { snapshot } = session;
  switch (by) {
    case "day":
      return days(request.time);
    case "model":
      return modelName(request);
    case "project":
      return cleanLine(snapshot.project ?? snapshot.cwd ?? "no project");
    case "agent":
      return cleanLine(snapshot.agent ?? snapshot.source);
    case "session":
      return snapshot.key;
  }
}

/** Days in order; all else the dearest first, then the most tokens. */
function rowOrder(by: Grouping): (a: LedgerRow, b: LedgerRow) => number {
  const byName = (a: LedgerRow, b: LedgerRow): number => (a.name < b.name ? -1 : 1);
  if (by === "day") return byName;
  return (a, b) =>
    (b.usage.cost ?? -1) - (a.usage.cost ?? -1) ||
    promptTokens(b.usage) + b.usage.output - promptTokens(a.usage) - a.usage.output ||
    byName(a, b);
}

function coldCacheOf(entered: readonly Entered[], prices: PriceBook | null): Ledger["coldCache"] {
  const bySession = new Map<SessionKey, ModelRequest[]>();
  for (const { session, request } of entered) {
    const list = bySession.get(session.snapshot.key) ?? [];
    bySession.set(session.snapshot.key, list);
    list.push(request);
  }
  const sum: Ledger["coldCache"] = { requests: 0, tokens: 0, cost: 0 };
  for (const requests of bySession.values()) {
    const one = missedCache(requests, prices);
    sum.requests += one.requests;
    sum.tokens += one.tokens;
    sum.cost = sum.cost === null || one.cost === null ? null : sum.cost + one.cost;
  }
  return sum;
}

function isUnpriced(request: ModelRequest, prices: PriceBook | null): boolean {
  return request.cost === null && (prices?.price(request) ?? null) === null;
}

function modelName(request: ModelRequest): string {
  return cleanLine(request.model ?? "unknown model");
}

function hitRate(usage: Usage): number | null {
  const prompt = promptTokens(usage);
  return prompt === 0 ? null : usage.cacheRead / prompt;
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

const NO_DAY = "no time recorded";

function inRange(day: string, { since, until }: LedgerOptions): boolean {
  if (since === null && until === null) return true;
  if (day === NO_DAY) return false;
  return (since === null || day >= since) && (until === null || day <= until);
}

/** The day a time lies on in a time zone. Formatting is slow, and a quarter of an hour lies on one day everywhere. */
function dayNames(timeZone: string): (time: string | null) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const known = new Map<number, string>();
  return (time) => {
    const at = time === null ? Number.NaN : Date.parse(time);
    if (Number.isNaN(at)) return NO_DAY;
    const slice = Math.floor(at / 900_000);
    const day = known.get(slice) ?? format.format(at);
    known.set(slice, day);
    return day;
  };
}
