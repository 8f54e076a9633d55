import { type ClaudeFile, callsOf, kindOf, ROW } from "./file.ts";
import { type Branch, branchTo, parentOf } from "./tree.ts";

export type Cut =
  | {
      ok: true;
      /** Row the copy ends with. */
      leaf: number;
      branch: Branch;
      /** Does the copy end with a finished turn? */
      over: boolean;
    }
  | { ok: false; reason: string };

/** Where a copy may end so that it is healthy: after a whole turn, before a prompt (agents.md §8). `row` null: all of it. */
export function cutBefore(file: ClaudeFile, row: number | null): Cut {
  if (file.low > 0) return { ok: false, reason: "the file is still being read: try again in a moment" };
  if (row === null)
    return file.leaf < 0 ? { ok: false, reason: "there is nothing in it yet" } : healthy(file, file.leaf);
  const kind = kindOf(file, row);
  if ((kind & ROW.sidechain) !== 0) return { ok: false, reason: "it belongs to a sub-agent" };
  if ((kind & ROW.prompt) === 0) return { ok: false, reason: whyNot(kind) };
  const leaf = parentOf(file, row);
  if (leaf < 0) return { ok: false, reason: "nothing lies before it: start a new session instead" };
  return healthy(file, leaf, row);
}

function whyNot(kind: number): string {
  if ((kind & ROW.result) !== 0) return "the call before it would be left without its result";
  if ((kind & ROW.assistant) !== 0) return "the prompt before it would be left without its answer";
  return "a fork ends before a prompt: choose one";
}

function healthy(file: ClaudeFile, leaf: number, before = file.parents.length): Cut {
  const branch = branchTo(file, leaf, before);
  let calls = 0;
  let results = 0;
  let said = 0;
  let over = false;
  for (let row = 0; row < before; row += 1) {
    if (branch[row] !== 1) continue;
    const kind = kindOf(file, row);
    if ((kind & ROW.prompt) !== 0) {
      calls = 0;
      results = 0;
    }
    if ((kind & ROW.assistant) !== 0) calls += callsOf(kind);
    results += answersOf(file, row, kind);
    if ((kind & (ROW.prompt | ROW.assistant)) !== 0) said += 1;
    if ((kind & (ROW.user | ROW.assistant)) !== 0) over = endsTurn(file, row, kind);
  }
  if (said === 0) return { ok: false, reason: "nothing was said before it: start a new session instead" };
  if (calls > results) return { ok: false, reason: "a call would be left without its result" };
  return { ok: true, leaf, branch, over };
}

function endsTurn(file: ClaudeFile, row: number, kind: number): boolean {
  return (kind & ROW.assistant) !== 0 && callsOf(kind) <= answersOf(file, row, kind);
}

/** Results on a row: of tools that ran here, or that the provider ran. */
function answersOf(file: ClaudeFile, row: number, kind: number): number {
  return (kind & ROW.result) !== 0 ? callsOf(kind) : (file.answered[row] ?? 0);
}

/** May a fork end just before this row? For pages, which ask for every row they show. */
export function isForkable(file: ClaudeFile, row: number): boolean {
  const kind = kindOf(file, row);
  if ((kind & ROW.prompt) === 0 || (kind & ROW.sidechain) !== 0 || file.low > 0) return false;
  // Between the prompt and the one before it, every call has its result: the walk up ends there.
  let calls = 0;
  let results = 0;
  for (let at = parentOf(file, row), steps = 0; at >= 0; at = parentOf(file, at), steps += 1) {
    const one = kindOf(file, at);
    if ((one & ROW.assistant) !== 0) calls += callsOf(one);
    results += answersOf(file, at, one);
    if ((one & ROW.prompt) !== 0) return calls <= results || cutBefore(file, row).ok;
    if (steps > file.parents.length) return false;
  }
  return cutBefore(file, row).ok;
}
