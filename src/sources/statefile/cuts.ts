import { basename, dirname } from "node:path";
import type { ForkPlan } from "../source.ts";
import { type CutPoint, type StateOfFile, statusOf } from "./fold.ts";

/** What the tool's own fork request says to a cut before record `n` (statefile.md §12): the rule, not our offer. */
export function allowedByTool(state: StateOfFile, n: number, kindOf: (n: number) => string): string | null {
  if (n < 3) return "n must keep start and config";
  if (n === state.records + 1) {
    const status = statusOf(state);
    return status === "closed" ? null : `the tip is ${status}, not closed`;
  }
  const cut = cutAt(state, n);
  if (!cut) return n > state.records ? `there is no record ${n}` : `record ${n} is a ${kindOf(n)}, not a message`;
  if (cut.waiting > 0) return `${cut.waiting} calls before record ${n} wait for their results`;
  return null;
}

/** Why a cut before record `n` leaves no session that goes on, whatever the tool's request says; null when it does. */
function withoutBeginning(state: StateOfFile, n: number): string | null {
  if (!state.numbered) return "its records are not numbered in order: a cut could end at the wrong one";
  if (state.configAt === null || state.configAt >= n)
    return "there would be no config record in it: of no use to the tool";
  return null;
}

/** May a cut end before this message, or behind the last record? Each entry of a transcript is asked. */
export function isForkable(state: StateOfFile, n: number): boolean {
  return withoutBeginning(state, n) === null && allowedByTool(state, n, () => "") === null;
}

/** Why nothing is made of the file where it lies: a worker's log copy is lossy and stale (statefile.md §1). */
export function readOnly(path: string): string | null {
  return basename(dirname(path)) === "logs"
    ? "it is a worker's log copy, lossy and stale: go to the session on its server instead"
    : null;
}

/** What the tool will find in a copy that ends before record `n`, null when it can read all of it (statefile.md §6). */
export function faultWithin(state: StateOfFile, n: number): string | null {
  const wrong = state.firstWrong;
  if (wrong === null || n <= wrong) return null;
  const refused = `record ${wrong} has a field of the wrong type: the tool refuses the copy as it refuses this file`;
  return hasHealthyCut(state) ? `${refused}; a copy that ends before that record is healthy` : refused;
}

/** Is there a cut to offer that ends before the first fault? The tool can read its copy. */
export function hasHealthyCut(state: StateOfFile): boolean {
  const last = state.firstWrong ?? state.records + 1;
  if (last === state.records + 1 && isForkable(state, last)) return true;
  return state.cuts.some(({ n }) => n <= last && isForkable(state, n));
}

/** Is there any cut to offer? A glance for a list; what is in the way of the single cut its plan says. */
export function hasCuts(state: StateOfFile, path: string): boolean {
  return readOnly(path) === null && withoutBeginning(state, state.records + 1) === null && state.records >= 2;
}

const STATUS_WORDS = {
  closed: "idle",
  failed: "failed",
  open: "open",
  interrupted: "interrupted",
} as const;

/** What a cut before record `n` (null: all whole records) makes, or why it cannot be made. */
export function planCut(state: StateOfFile, id: string, n: number | null, kindOf: (n: number) => string): ForkPlan {
  const at = n ?? state.records + 1;
  const refused = allowedByTool(state, at, kindOf) ?? withoutBeginning(state, at);
  if (refused !== null) return { allowed: false, reason: refused };
  const status = at === state.records + 1 ? statusOf(state) : (cutAt(state, at)?.status ?? "closed");
  const kept = at - 1;
  const left = state.records - kept;
  const says = [
    `A new session is made from records 1 to ${kept} of ${id}${left > 0 ? `; ${left} later ones stay behind` : ""}.`,
    `${id} itself is not touched.`,
  ];
  const fault = faultWithin(state, at);
  if (fault !== null) says.push(`${fault}.`);
  if (state.tailBytes > 0) says.push(`${state.tailBytes} unreadable bytes at its end are not copied.`);
  const ask =
    status === "open"
      ? "The copy would be open: the server runs it by itself at its next start, which costs money and executes tools."
      : null;
  return { allowed: true, says, ask, status: STATUS_WORDS[status] };
}

/** The cut before record `n`; they lie in file order. */
function cutAt({ cuts }: StateOfFile, n: number): CutPoint | undefined {
  let from = 0;
  let to = cuts.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((cuts[middle]?.n ?? 0) < n) from = middle + 1;
    else to = middle;
  }
  return cuts[from]?.n === n ? cuts[from] : undefined;
}
