import type { ModelRequest } from "../../usage/request.ts";
import { isoTime } from "../jsonl/record.ts";
import { copiedPrefix } from "./copied-prefix.ts";
import type { CodexEvent, RawUsage } from "./file.ts";
import { cutAt, pathOf, type Segment } from "./path.ts";
import { baseOf, eventsOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";

const MOST_ANCESTORS = 64;

/**
 * Every request of a thread once (agents.md §2.4): those of all its own files, reverted ones too, for they were billed,
 * and those it inherited, marked as copied. A sub-agent's parent's rows are not its conversation.
 */
export function threadRequests(thread: string, files: readonly Rollout[], lookup: RolloutLookup): ModelRequest[] {
  const byKey = new Map<string, ModelRequest>();
  const add = (one: ModelRequest): void => {
    if (!byKey.has(one.key)) byKey.set(one.key, one);
  };
  const current = files.at(-1);
  if (current !== undefined && metaOf(current)?.kind === "user") {
    for (const one of inherited(current, lookup, 0)) add(one);
  }
  for (const file of files) {
    for (const one of ownRequests(file, eventsOf(file).length, thread, lookup)) add(one);
  }
  return [...byKey.values()].map((one) => {
    if (one.by !== thread) return { ...one, by: null, copied: true };
    return { ...one, by: null };
  });
}

/** What a file has from others: its base's rows, or rows that were copied into it. `by` is the owning thread. */
function inherited(file: Rollout, lookup: RolloutLookup, depth: number): ModelRequest[] {
  if (depth > MOST_ANCESTORS) return [];
  const base = baseOf(file, lookup);
  if (base !== null) {
    const kept = cutAt(pathOf(base.file, lookup), base.endOrdinal);
    const last = kept.findLast((part) => part.file === base.file);
    return upTo(base.file, last?.to ?? 0, lookup, depth + 1);
  }
  const copied = copiedPrefix(file, lookup);
  if (copied.thread === null || copied.events === 0) return [];
  if (copied.file !== null) return upTo(copied.file, copied.events, lookup, depth + 1);
  return requestsIn({ file, from: 0, to: copied.events }, copied.thread, []);
}

/** A file's first `to` events and all it is based on. */
function upTo(file: Rollout, to: number, lookup: RolloutLookup, depth: number): ModelRequest[] {
  const copied = copiedPrefix(file, lookup);
  if (copied.file !== null && to < copied.events && depth <= MOST_ANCESTORS) {
    return upTo(copied.file, to, lookup, depth + 1);
  }
  const thread = metaOf(file)?.id ?? "";
  return [...inherited(file, lookup, depth), ...ownRequests(file, to, thread, lookup)];
}

function ownRequests(file: Rollout, to: number, thread: string, lookup: RolloutLookup): ModelRequest[] {
  const from = Math.min(to, copiedPrefix(file, lookup).events);
  return requestsIn({ file, from, to }, thread, beforeOwn(file, from, lookup));
}

/** The events before a file's own: where its counters and its model go on from. */
function beforeOwn(file: Rollout, from: number, lookup: RolloutLookup): CodexEvent[] {
  const base = baseOf(file, lookup);
  if (base === null) return eventsOf(file).slice(0, from);
  return cutAt(pathOf(base.file, lookup), base.endOrdinal).flatMap((part) =>
    eventsOf(part.file).slice(part.from, part.to),
  );
}

/**
 * Records of single responses where there are any; else the differences of the running total, which goes on from the
 * copied part, is written again unchanged, and starts anew after a revert. Never the sum of `last` (agents.md §2.4).
 */
function requestsIn({ file, from, to }: Segment, thread: string, before: readonly CodexEvent[]): ModelRequest[] {
  const events = eventsOf(file).slice(from, to);
  const provider = metaOf(file)?.provider ?? null;
  const contexts = before.findLast((event) => event.k === "context" && event.model !== null);
  let model = contexts?.k === "context" ? contexts.model : null;
  const byRecord = events.some((event) => event.k === "record");
  const totalBefore = before.findLast((event) => event.k === "total");
  let total = totalBefore?.k === "total" ? totalBefore.total : null;
  let epoch = 0;
  const found: ModelRequest[] = [];
  const add = (key: string, usage: RawUsage, time: number | null): void => {
    found.push({ key, time: isoTime(time), provider, model, ...tokensOf(usage), cost: null, by: thread });
  };
  for (const event of events) {
    if (event.k === "context") model = event.model ?? model;
    if (event.k === "record" && byRecord) add(recordKey(event.id, thread), event.usage, event.time);
    if (event.k !== "total" || byRecord) continue;
    const fresh = since(total, event);
    if (fresh.reset) epoch += 1;
    total = event.total;
    if (fresh.usage.input + fresh.usage.output === 0) continue;
    add(`codex:${thread}:${epoch}:${totalKey(event.total)}`, fresh.usage, event.time);
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
