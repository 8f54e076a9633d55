import type { Tokens, Usage } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { PriceBook } from "../../usage/prices.ts";
import { addTokens, NO_TOKENS } from "../../usage/request.ts";
import { isoTime } from "../jsonl/record.ts";
import type { CodexEvent, CodexFile, RawUsage } from "./file.ts";
import { recordKey, tokensOf } from "./requests.ts";
import { eventsOf, metaOf, type Rollout } from "./rollouts.ts";
import { noTail, stepTail, type Tail, type TailSoFar } from "./tail.ts";

/** What a thread's rows say of it, as far as they were looked at. */
export interface Running {
  events: number;
  firstPrompt: string | null;
  lastPrompt: string | null;
  models: Set<string>;
  counts: { human: number; assistant: number; toolCalls: number };
  compactions: number;
  context: { used: number; limit: number | null } | null;
  limit: number | null;
  tail: TailSoFar;
  /** A rollback looks back: then everything is worked out from the whole path. */
  rolledBack: boolean;
}

const held = new WeakMap<CodexFile, Running>();

/**
 * A paginated thread that is one file, with nothing copied, based on or rolled back, is read on from where it was
 * read to: an append to a long one costs what was appended. null for all others.
 */
export function runningOf(file: Rollout): (Running & { now: Tail }) | null {
  if (metaOf(file)?.paginated !== true) return null;
  const { state } = file.folded;
  const events = eventsOf(file);
  let so = held.get(state);
  if (so === undefined || so.events > events.length) {
    so = nothingYet();
    held.set(state, so);
  }
  for (; so.events < events.length && !so.rolledBack; so.events += 1) {
    const event = events[so.events];
    if (event === undefined) break;
    step(so, event);
    stepTail(so.tail, { file, event, index: so.events, dropped: false });
  }
  if (so.rolledBack) return null;
  const { tail } = so.tail;
  return { ...so, counts: { ...so.counts }, now: { ...tail, calls: [...tail.calls] } };
}

function nothingYet(): Running {
  return {
    events: 0,
    firstPrompt: null,
    lastPrompt: null,
    models: new Set(),
    counts: { human: 0, assistant: 0, toolCalls: 0 },
    compactions: 0,
    context: null,
    limit: null,
    tail: noTail(),
    rolledBack: false,
  };
}

/** Tokens in the model's context after a response, null where its numbers are not there: an answer is never 0 tokens. */
export function contextUsed({ total }: RawUsage, limit: number | null): Running["context"] {
  return total === 0 ? null : { used: total, limit };
}

function step(so: Running, event: CodexEvent): void {
  switch (event.k) {
    case "prompt": {
      if (event.from !== "item") return;
      so.counts.human += 1;
      const text = cleanLine(event.text);
      if (text === "") return;
      so.firstPrompt ??= text;
      so.lastPrompt = text;
      return;
    }
    case "reply":
      if (event.from === "item") so.counts.assistant += 1;
      return;
    case "call":
      so.counts.toolCalls += 1;
      return;
    case "compaction":
      so.compactions += 1;
      return;
    case "context":
      if (event.model !== null && so.models.size < 64) so.models.add(event.model);
      return;
    case "task":
      so.limit = event.window ?? so.limit;
      if (so.context !== null) so.context = { ...so.context, limit: so.limit };
      return;
    case "total":
      so.limit = event.window ?? so.limit;
      so.context = contextUsed(event.last, so.limit);
      return;
    case "record":
      so.context = contextUsed(event.usage, so.limit);
      return;
    case "rollback":
      so.rolledBack = true;
      return;
    default:
  }
}

interface RunningSum {
  events: number;
  prices: PriceBook | null;
  seen: Set<string>;
  model: string | null;
  tokens: Tokens;
  cost: number;
  priced: number;
}

const sums = new WeakMap<CodexFile, RunningSum>();

/** The sum of such a thread's requests, by its records of responses; null where it has none. */
export function runningSum(file: Rollout, thread: string, prices: PriceBook | null): Usage | null {
  const events = eventsOf(file);
  const provider = metaOf(file)?.provider ?? null;
  let so = sums.get(file.folded.state);
  if (so === undefined || so.prices !== prices || so.events > events.length) {
    so = { events: 0, prices, seen: new Set(), model: null, tokens: NO_TOKENS, cost: 0, priced: 0 };
    sums.set(file.folded.state, so);
  }
  for (; so.events < events.length; so.events += 1) {
    const event = events[so.events];
    if (event?.k === "context") so.model = event.model ?? so.model;
    if (event?.k !== "record") continue;
    const key = recordKey(event.id, thread);
    if (so.seen.has(key)) continue;
    so.seen.add(key);
    const tokens = tokensOf(event.usage);
    const one = { key, time: isoTime(event.time), provider, model: so.model, ...tokens, cost: null, by: null };
    const price = prices?.price(one) ?? null;
    so.tokens = addTokens(so.tokens, tokens);
    so.cost += price ?? 0;
    so.priced += price === null ? 0 : 1;
  }
  const requests = so.seen.size;
  if (requests === 0) return null;
  const basis = so.priced === 0 ? null : so.priced < requests ? "partial" : "estimated";
  return { requests, ...so.tokens, cost: so.priced === 0 ? null : so.cost, costBasis: basis };
}
