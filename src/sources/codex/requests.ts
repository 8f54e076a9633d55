import type { ModelRequest } from "../../usage/request.ts";
import { uuid7Time } from "../agents/uuid7.ts";
import { isoTime } from "../jsonl/record.ts";
import { copiedPrefix, copiedThreads } from "./copied-prefix.ts";
import type { CodexEvent, RawUsage } from "./file.ts";
import { cutAt, pathOf, type Segment } from "./path.ts";
import { baseOf, eventsOf, metaOf, type Rollout, type RolloutLookup, startOf } from "./rollouts.ts";

const MOST_ANCESTORS = 64;

/** A request of a conversation, and whose it is. */
interface Told {
  request: ModelRequest;
  /** The thread whose row tells of it. */
  from: string;
  /** Whose file has the row: that thread's own, or where it stands there no more, that of a copy. */
  in: string;
}

/**
 * Every request of a thread once (agents.md §2.4): those of all its own files, reverted ones too, for they were billed,
 * and those it inherited, marked as copied where another thread is counted for them. A sub-agent's parent's rows are not
 * its conversation.
 */
export function threadRequests(thread: string, files: readonly Rollout[], lookup: RolloutLookup): ModelRequest[] {
  return toldIn(thread, files, lookup).map((one) =>
    one.from === thread || isHeir(thread, one, lookup) ? one.request : { ...one.request, copied: true },
  );
}

function toldIn(thread: string, files: readonly Rollout[], lookup: RolloutLookup): Told[] {
  const byKey = new Map<string, Told>();
  const add = (one: Told): void => {
    if (!byKey.has(one.request.key)) byKey.set(one.request.key, one);
  };
  const current = files.at(-1);
  if (current !== undefined && metaOf(current)?.kind === "user") {
    for (const one of inherited(current, eventsOf(current).length, lookup, 0)) add(one);
  }
  for (const file of files) {
    const to = eventsOf(file).length;
    if (metaOf(file)?.kind === "user") for (const one of lostRequests(file, to, lookup)) add(one);
    for (const one of ownRequests(file, to, thread, lookup)) add(one);
  }
  return [...byKey.values()];
}

/** What a file has from others before an event: its base's rows, and rows that were copied into it. */
function inherited(file: Rollout, to: number, lookup: RolloutLookup, depth: number): Told[] {
  if (depth > MOST_ANCESTORS) return [];
  const copied = copiedPrefix(file, lookup);
  const found = Math.min(to, copied.found);
  // A copy has the base of the file it was copied from.
  const there =
    copied.file !== null && found > 0 ? upTo(copied.file, found, lookup, depth + 1) : ofBase(file, lookup, depth + 1);
  return [...there, ...lostRequests(file, to, lookup)];
}

/** Those of rows that were copied into a file and are found nowhere else. */
function lostRequests(file: Rollout, to: number, lookup: RolloutLookup): Told[] {
  const { events, thread, found } = copiedPrefix(file, lookup);
  const end = Math.min(to, events);
  return thread === null || end <= found ? [] : requestsIn({ file, from: found, to: end }, thread, lookup);
}

function ofBase(file: Rollout, lookup: RolloutLookup, depth: number): Told[] {
  const base = baseOf(file, lookup);
  const last = base === null ? undefined : cutAt(pathOf(base.file, lookup), base.endOrdinal).at(-1);
  return last === undefined ? [] : upTo(last.file, last.to, lookup, depth);
}

/** A file's first `to` events and all it is based on. */
function upTo(file: Rollout, to: number, lookup: RolloutLookup, depth: number): Told[] {
  const thread = metaOf(file)?.id ?? "";
  return [...inherited(file, to, lookup, depth), ...ownRequests(file, to, thread, lookup)];
}

function ownRequests(file: Rollout, to: number, thread: string, lookup: RolloutLookup): Told[] {
  const from = Math.min(to, copiedPrefix(file, lookup).events);
  return requestsIn({ file, from, to }, thread, lookup);
}

/**
 * Is this thread counted for a request of another one, whose row is gone there? A copied request is counted once: for
 * the thread that made it, else for the copy that did something of its own first, which is to begin (agents.md §0).
 */
function isHeir(thread: string, { request, from, in: holder }: Told, lookup: RolloutLookup): boolean {
  if (holder !== thread || keysOf(from, lookup).own.has(request.key)) return false;
  return !eldersOf(thread, lookup).some((elder) => keysOf(elder, lookup).lost.has(request.key));
}

/** Keys of a thread's own requests, and of others' that its files have and the others' own have not. */
interface Keys {
  own: ReadonlySet<string>;
  lost: ReadonlySet<string>;
}

/** Worked out only where copies outlived their original. */
interface Heirs {
  keys: Map<string, Keys>;
  elders: Map<string, string[]>;
  born: Map<string, string>;
}

/** A lookup is one moment: what was found for it stays true. */
const heirs = new WeakMap<RolloutLookup, Heirs>();

function heirsOf(lookup: RolloutLookup): Heirs {
  const known = heirs.get(lookup) ?? { keys: new Map(), elders: new Map(), born: new Map() };
  heirs.set(lookup, known);
  return known;
}

function keysOf(thread: string, lookup: RolloutLookup): Keys {
  const { keys } = heirsOf(lookup);
  const known = keys.get(thread);
  if (known !== undefined) return known;
  const own = new Set<string>();
  const lost = new Set<string>();
  for (const one of toldIn(thread, lookup.of(thread), lookup)) {
    if (one.from === thread) own.add(one.request.key);
    else if (one.in === thread) lost.add(one.request.key);
  }
  const made = { own, lost };
  keys.set(thread, made);
  return made;
}

/** The threads that were begun before this one and have rows from where it has some. */
function eldersOf(thread: string, lookup: RolloutLookup): string[] {
  const { elders } = heirsOf(lookup);
  const known = elders.get(thread);
  if (known !== undefined) return known;
  const origins = lookup.of(thread).flatMap((file) => copiedThreads(file.folded));
  const others = new Set(origins.flatMap((origin) => lookup.pointingAt(origin)));
  const made = [...others].filter((other) => other !== thread && isElder(other, thread, lookup));
  elders.set(thread, made);
  return made;
}

function isElder(a: string, b: string, lookup: RolloutLookup): boolean {
  const [bornA, bornB] = [bornOf(a, lookup), bornOf(b, lookup)];
  return bornA !== "" && bornB !== "" && (bornA === bornB ? a < b : bornA < bornB);
}

/** "": it has no file. */
function bornOf(thread: string, lookup: RolloutLookup): string {
  const { born } = heirsOf(lookup);
  const known = born.get(thread);
  if (known !== undefined) return known;
  const [first] = lookup.of(thread);
  const made = first === undefined ? "" : startOf(first);
  born.set(thread, made);
  return made;
}

/** The events before a file's own: where its counters and its model go on from. */
function beforeOwn(file: Rollout, from: number, lookup: RolloutLookup): CodexEvent[] {
  const base = baseOf(file, lookup);
  const parts = base === null ? [] : cutAt(pathOf(base.file, lookup), base.endOrdinal);
  return [...parts, { file, from: 0, to: from }].flatMap((part) => eventsOf(part.file).slice(part.from, part.to));
}

/**
 * Records of single responses where there are any; else the differences of the running total, which goes on from the
 * copied part, is written again unchanged, and starts anew after a revert. Never the sum of `last` (agents.md §2.4).
 * A difference is told from others by its turn, which it has in every copy; without one, or where none are copied, by
 * the thread.
 */
function requestsIn({ file, from, to }: Segment, thread: string, lookup: RolloutLookup): Told[] {
  const before = beforeOwn(file, from, lookup);
  const events = eventsOf(file).slice(from, to);
  const provider = metaOf(file)?.provider ?? null;
  const contexts = before.findLast((event) => event.k === "context" && event.model !== null);
  let model = contexts?.k === "context" ? contexts.model : null;
  const byRecord = events.some((event) => event.k === "record");
  const totalBefore = before.findLast((event) => event.k === "total");
  let total = totalBefore?.k === "total" ? totalBefore.total : null;
  const holder = metaOf(file)?.id ?? "";
  const byTurn = metaOf(file)?.kind === "user";
  const fromZero = countsFromZero(file, lookup);
  let turn: string | null = null;
  // Turns without an id of their own share the thread's count, which never starts anew.
  let resets = 0;
  let atTurn = 0;
  const found: Told[] = [];
  const add = (key: string, usage: RawUsage, time: number | null): void => {
    const request = { key, time: isoTime(time), provider, model, ...tokensOf(usage), cost: null, by: null };
    found.push({ request, from: thread, in: holder });
  };
  for (const event of events) {
    if (event.k === "context") model = event.model ?? model;
    if (byTurn && (event.k === "context" || event.k === "task") && event.turn !== null && event.turn !== turn) {
      turn = uuid7Time(event.turn) === null ? null : event.turn;
      atTurn = turn === null ? 0 : resets;
    }
    if (event.k === "record" && byRecord) add(recordKey(event.id, thread), event.usage, event.time);
    if (event.k !== "total" || byRecord) continue;
    const fresh = total === null && !fromZero ? { usage: event.last, reset: false } : since(total, event);
    if (fresh.reset) resets += 1;
    total = event.total;
    if (fresh.usage.input + fresh.usage.output === 0) continue;
    add(`codex:${turn ?? thread}:${resets - atTurn}:${totalKey(event.total)}`, fresh.usage, event.time);
  }
  return found;
}

export function recordKey(id: string, thread: string): string {
  return id.startsWith("@") ? `codex:${thread}:${id}` : `codex:${id}`;
}

function totalKey(usage: RawUsage): string {
  return [usage.input, usage.cached, usage.cacheWrite, usage.output].join("/");
}

function since(before: RawUsage | null, event: CodexEvent & { k: "total" }): { usage: RawUsage; reset: boolean } {
  if (before === null) return { usage: event.total, reset: false };
  const usage = {
    input: event.total.input - before.input,
    cached: event.total.cached - before.cached,
    cacheWrite: event.total.cacheWrite - before.cacheWrite,
    output: event.total.output - before.output,
    reasoning: event.total.reasoning - before.reasoning,
    total: event.total.total - before.total,
  };
  const reset = usage.input < 0 || usage.output < 0 || usage.cached < 0;
  return reset ? { usage: event.last, reset } : { usage, reset };
}

/** Is all there that its running total goes on from? A base may be gone, or be lost with a header. */
function countsFromZero(file: Rollout, lookup: RolloutLookup): boolean {
  let at: Rollout | undefined = file;
  for (let depth = 0; at !== undefined && depth < MOST_ANCESTORS; depth += 1) {
    const meta = metaOf(at);
    if (meta === null || meta.headless) return false;
    if (meta.base === null) return true;
    at = baseOf(at, lookup)?.file;
  }
  return false;
}

/** Input without what was cached; reasoning stays a part of output (agents.md §0). */
export function tokensOf(usage: RawUsage) {
  const cacheRead = Math.max(0, Math.min(usage.cached, usage.input));
  const cacheWrite = Math.max(0, Math.min(usage.cacheWrite, usage.input - cacheRead));
  return {
    input: Math.max(0, usage.input - cacheRead - cacheWrite),
    output: Math.max(0, usage.output),
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    reasoning: Math.max(0, usage.reasoning),
  };
}
