import type { ForkPlan } from "../source.ts";
import { type StateOfFile, statusOf } from "./fold.ts";

/** What the tool's own fork request says to a cut before record `n` (statefile.md §12): the rule, not our offer. */
export function allowedByTool(state: StateOfFile, n: number, kindOf: (n: number) => string): string | null {
  if (n < 3) return "n must keep start and config";
  if (n === state.records + 1) {
    const status = statusOf(state);
    return status === "closed" ? null : `the tip is ${status}, not closed`;
  }
  const cut = state.cuts.find((point) => point.n === n);
  if (!cut) return n > state.records ? `there is no record ${n}` : `record ${n} is a ${kindOf(n)}, not a message`;
  if (cut.waiting > 0) return `${cut.waiting} calls before record ${n} wait for their results`;
  return null;
}

const STATUS_WORDS = {
  closed: "idle",
  failed: "failed",
  open: "open",
  interrupted: "interrupted",
} as const;

/** Whether we offer a cut before record `n` (null: all whole records), and what will happen. */
export function planCut(state: StateOfFile, id: string, n: number | null, kindOf: (n: number) => string): ForkPlan {
  if (!state.numbered)
    return { allowed: false, reason: "its records are not numbered in order: a cut could end at the wrong one" };
  const at = n ?? state.records + 1;
  const refused = allowedByTool(state, at, kindOf);
  if (refused !== null) return { allowed: false, reason: refused };
  const status = n === null || at === state.records + 1 ? statusOf(state) : cutStatus(state, at);
  const kept = at - 1;
  const left = state.records - kept;
  const says = [
    `A new session is made from records 1 to ${kept} of ${id}${left > 0 ? `; ${left} later ones stay behind` : ""}.`,
    `${id} itself is not touched.`,
  ];
  if (state.tailBytes > 0) says.push(`${state.tailBytes} unreadable bytes at its end are not copied.`);
  const ask =
    status === "open"
      ? "The copy would be open: the server runs it by itself at its next start, which costs money and executes tools."
      : null;
  return { allowed: true, says, ask, status: STATUS_WORDS[status] };
}

function cutStatus(state: StateOfFile, n: number): keyof typeof STATUS_WORDS {
  return state.cuts.find((point) => point.n === n)?.status ?? "closed";
}
