import type { MessageFacts } from "./facts.ts";

/**
 * How many messages codebot would restore, kept up to date message by message at constant cost. Always equals the
 * length of `repairSequence` over the same messages (codebot.md §6). Plain data.
 */
export interface ContextCount {
  /** Messages that stay. */
  kept: number;
  /** Synthetic results of calls whose run of results is over. */
  synthetic: number;
  /** Calls of the last assistant message that nothing has answered yet. */
  pending: string[];
  /** Ids of all calls so far, each with `$` before it. */
  calls: Record<string, true>;
  /** Tool messages that answer no call so far, by the id they name. */
  orphans: Record<string, number>;
  /** The last message that is restored: a result that answers no call so far is none. */
  last: { role: string; stop: string; injected: boolean; summary: boolean } | null;
}

export function emptyContext(): ContextCount {
  return { kept: 0, synthetic: 0, pending: [], calls: {}, orphans: {}, last: null };
}

export function countMessage(count: ContextCount, message: MessageFacts, summary = false): void {
  if (message.role === "tool" && !countResult(count, message.answers)) return;
  count.last = { role: message.role, stop: message.stop, injected: message.injected, summary };
  if (message.role === "tool") return;
  count.synthetic += count.pending.length;
  count.pending = [...message.calls];
  count.kept += 1;
  for (const id of message.calls) {
    const key = `$${id}`;
    count.calls[key] = true;
    count.kept += count.orphans[key] ?? 0;
    delete count.orphans[key];
  }
}

/** False when it answers no call so far. */
function countResult(count: ContextCount, answers: string): boolean {
  const key = `$${answers}`;
  if (count.pending.includes(answers)) count.pending = count.pending.filter((id) => id !== answers);
  const isKnown = count.calls[key] === true;
  if (isKnown) count.kept += 1;
  else count.orphans[key] = (count.orphans[key] ?? 0) + 1;
  return isKnown;
}

export function countSummary(count: ContextCount): void {
  const said = { calls: [], answers: "", stop: "", usage: null, parts: 1, said: "", prompt: "" };
  countMessage(count, { ...said, role: "user", injected: true }, true);
}

/** Synthetic results as of now. */
export function syntheticCount(count: ContextCount): number {
  return count.synthetic + count.pending.length;
}

/** Messages that would be restored as of now. */
export function contextLength(count: ContextCount): number {
  return count.kept + syntheticCount(count);
}
