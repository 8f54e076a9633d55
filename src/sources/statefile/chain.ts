import type { Header, StateRecord } from "./record.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** What the file alone says of a session, plus `stepping`, which only the harness knows (statefile.md §9). */
export type Status = "open" | "closed" | "interrupted" | "failed" | "stepping";

/** What the functions here need of a record; bodies play no part. */
export type Chain<R extends Header = Header> = readonly R[];

/** The status at the tip of a whole file. Never `stepping`: that is the lock's word. An empty chain is no session: `closed`. */
export function derive(chain: Chain): Exclude<Status, "stepping"> {
  if (chain.at(-1)?.kind === "error") return "failed";
  if (waiting(chain).length > 0) return "interrupted";
  const upto = lastStep(chain)?.upto ?? 0;
  const addressed = lastStep(chain) === null ? Number.NEGATIVE_INFINITY : upto;
  const unaddressed = chain.some((r) => (r.kind === "message" || r.kind === "result") && r.n > addressed);
  return unaddressed ? "open" : "closed";
}

/** The calls closed by a step that have no result yet, in file order (statefile.md §8). */
export function waiting<R extends Header>(chain: Chain<R>): R[] {
  const unclosed = new Map<string, R[]>();
  const calls = new WaitingCalls<R>();
  for (const record of chain) {
    if (record.kind === "call") {
      const step = record.step ?? "";
      const held = unclosed.get(step);
      if (held) held.push(record);
      else unclosed.set(step, [record]);
    } else if (record.kind === "step") {
      for (const call of unclosed.get(record.id) ?? []) calls.add(call);
      unclosed.delete(record.id);
    } else if (record.kind === "result") {
      calls.answer(record.for ?? "");
    }
  }
  return calls.list();
}

/** The newest step record, or null. */
export function lastStep<R extends Header>(chain: Chain<R>): R | null {
  return chain.findLast((record) => record.kind === "step") ?? null;
}

/** Tokens of the last step's prompt: what the context costs now. 0 without a step or without usage. */
export function prompt(chain: Chain): number {
  const usage = lastStep(chain)?.usage;
  return usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0;
}

export interface Built<R> {
  /** The records in the order the model sees them; start, config and unclosed blocks never enter. */
  records: R[];
  /** What the next step's `upto` must be. */
  nextUpto: number;
  /** What each step saw and made, in file order. */
  steps: { step: R; results: R[]; others: R[]; blocks: R[] }[];
  /** What no step has seen yet: it comes last. */
  unseen: { results: R[]; others: R[] };
  /** Blocks that no step closed: dropped. */
  unclosed: R[];
}

/** What one step saw and made, and where its record stands. */
interface Group<R> {
  at: number;
  step: R;
  results: R[];
  others: R[];
  blocks: R[];
}

/** Reorders a file into context order (statefile.md §11), in n log n at worst, in linear time for real files. */
export function build<R extends Header>(chain: Chain<R>): Built<R> {
  const groups = new Map<number, Group<R>>();
  chain.forEach((record, at) => {
    if (record.kind === "step") groups.set(at, { at, step: record, results: [], others: [], blocks: [] });
  });
  const seenBy = firstSeers(chain, groups);
  const closers = new Closers([...groups.values()]);
  const unseen: { results: R[]; others: R[] } = { results: [], others: [] };
  const unclosed: R[] = [];
  chain.forEach((record, at) => {
    const { kind } = record;
    if (kind === "start" || kind === "config" || kind === "step") return;
    if (isBlock(kind)) {
      const blocks = closers.after(record.step ?? "", at)?.blocks ?? unclosed;
      blocks.push(record);
      return;
    }
    const group = seenBy[at] ?? unseen;
    if (kind === "result") group.results.push(record);
    else group.others.push(record);
  });
  const steps = [...groups.values()].map(({ at: _at, ...group }) => group);
  const records = steps.flatMap(({ results, others, blocks, step }) => [...results, ...others, ...blocks, step]);
  for (const one of [unseen.results, unseen.others]) for (const record of one) records.push(record);
  return { records, nextUpto: chain.at(-1)?.n ?? 0, steps, unseen, unclosed };
}

/** The steps by id. Asked in file order, it passes each of them once. */
class Closers<R extends Header> {
  readonly #byId = new Map<string, { groups: Group<R>[]; next: number }>();

  constructor(groups: readonly Group<R>[]) {
    for (const group of groups) {
      const known = this.#byId.get(group.step.id);
      if (known === undefined) this.#byId.set(group.step.id, { groups: [group], next: 0 });
      else known.groups.push(group);
    }
  }

  /** The first step of this id behind `at`, which must not be smaller than in the question before. */
  after(id: string, at: number): Group<R> | undefined {
    const steps = this.#byId.get(id);
    if (steps === undefined) return undefined;
    while ((steps.groups[steps.next]?.at ?? Number.POSITIVE_INFINITY) <= at) steps.next += 1;
    return steps.groups[steps.next];
  }
}

/**
 * For each place in the chain, the first later step whose `upto` reaches the record there. From the end backwards: a step
 * whose `upto` a nearer one reaches too is never the first, so those that are left grow from the nearest to the farthest.
 */
function firstSeers<R extends Header>(
  chain: Chain<R>,
  groups: ReadonlyMap<number, Group<R>>,
): (Group<R> | undefined)[] {
  const seers: (Group<R> | undefined)[] = new Array(chain.length);
  /** The nearest comes last. */
  const ahead: { upto: number; group: Group<R> }[] = [];
  for (let at = chain.length - 1; at >= 0; at -= 1) {
    const group = groups.get(at);
    if (group === undefined) {
      seers[at] = nearestReaching(ahead, chain[at]?.n ?? 0);
      continue;
    }
    const upto = group.step.upto ?? 0;
    while ((ahead.at(-1)?.upto ?? Number.POSITIVE_INFINITY) <= upto) ahead.pop();
    ahead.push({ upto, group });
  }
  return seers;
}

/** `upto` falls from the first of these to the last. */
function nearestReaching<G>(ahead: readonly { upto: number; group: G }[], n: number): G | undefined {
  let reach = 0;
  let fall = ahead.length;
  // In real files the nearest step almost always saw it.
  if ((ahead.at(-1)?.upto ?? Number.NEGATIVE_INFINITY) >= n) reach = fall;
  while (reach < fall) {
    const middle = (reach + fall) >>> 1;
    if ((ahead[middle]?.upto ?? 0) >= n) reach = middle + 1;
    else fall = middle;
  }
  return ahead[reach - 1]?.group;
}

export function isBlock(kind: string): boolean {
  return kind === "text" || kind === "thinking" || kind === "call";
}

/** Body of a record as text, invalid UTF-8 replaced; null for a body that is not text (statefile.md §2). */
export function textOf(record: StateRecord): string | null {
  return isTextType(record.type) ? record.body.toString("utf8") : null;
}

export function isTextType(type: string | undefined): boolean {
  return type !== undefined && (/^text\//iu.test(type) || /^application\/json\b/iu.test(type));
}
