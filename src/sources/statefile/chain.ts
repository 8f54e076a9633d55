import type { Header, StateRecord } from "./record.ts";

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
  const calls: R[] = [];
  for (const record of chain) {
    if (record.kind === "call") {
      const step = record.step ?? "";
      const held = unclosed.get(step);
      if (held) held.push(record);
      else unclosed.set(step, [record]);
    } else if (record.kind === "step") {
      calls.push(...(unclosed.get(record.id) ?? []));
      unclosed.delete(record.id);
    } else if (record.kind === "result") {
      const answered = calls.findIndex((call) => call.id === record.for);
      if (answered >= 0) calls.splice(answered, 1);
    }
  }
  return calls;
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

/** Reorders a file into context order (statefile.md §11), in time linear in the records. */
export function build<R extends Header>(chain: Chain<R>): Built<R> {
  const stepsById = new Map<string, { at: number; step: R }[]>();
  const steps: { at: number; step: R; results: R[]; others: R[]; blocks: R[] }[] = [];
  chain.forEach((record, at) => {
    if (record.kind !== "step") return;
    steps.push({ at, step: record, results: [], others: [], blocks: [] });
    stepsById.set(record.id, [...(stepsById.get(record.id) ?? []), { at, step: record }]);
  });
  const groupOf = new Map(steps.map((group) => [group.at, group]));
  const furthest = furthestUpto(steps.map((group) => group.step));
  const unseen: { results: R[]; others: R[] } = { results: [], others: [] };
  const unclosed: R[] = [];
  let next = 0;
  chain.forEach((record, at) => {
    while (next < steps.length && (steps[next]?.at ?? 0) <= at) next += 1;
    if (record.kind === "start" || record.kind === "config" || record.kind === "step") return;
    if (isBlock(record.kind)) {
      const closing = stepsById.get(record.step ?? "")?.find((step) => step.at > at);
      const group = closing && groupOf.get(closing.at);
      if (group) group.blocks.push(record);
      else unclosed.push(record);
      return;
    }
    // The first later step that saw it. `upto` grows in real files, so this almost always ends at once.
    let seer = (furthest[next] ?? Number.NEGATIVE_INFINITY) < record.n ? steps.length : next;
    while (seer < steps.length && (steps[seer]?.step.upto ?? 0) < record.n) seer += 1;
    const group = steps[seer] ?? unseen;
    if (record.kind === "result") group.results.push(record);
    else group.others.push(record);
  });
  const records = steps.flatMap(({ results, others, blocks, step }) => [...results, ...others, ...blocks, step]);
  records.push(...unseen.results, ...unseen.others);
  return {
    records,
    nextUpto: chain.at(-1)?.n ?? 0,
    steps: steps.map(({ at: _at, ...group }) => group),
    unseen,
    unclosed,
  };
}

/** For each step, the largest `upto` from it on: what none of them saw is known without looking at each. */
function furthestUpto(steps: readonly Header[]): number[] {
  const furthest: number[] = new Array(steps.length);
  let most = Number.NEGATIVE_INFINITY;
  for (let i = steps.length - 1; i >= 0; i -= 1) {
    most = Math.max(most, steps[i]?.upto ?? 0);
    furthest[i] = most;
  }
  return furthest;
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
