import type { Status, StatusName } from "../../session/status.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import type { MessageFacts } from "./facts.ts";
import type { FlatState } from "./flat-log.ts";
import type { SessionState } from "./fold.ts";
import { instantOf } from "./go-time.ts";
import { effectiveGoal } from "./payloads.ts";

/** How long an unfinished turn counts as work when nothing is known of a process, ms. */
const QUIET_MS = 2 * 60_000;
/** The same while a codebot runs in the session's directory: a tool may take its time. */
const QUIET_WITH_PROCESS_MS = 30 * 60_000;

/** The tool's words of codebot.md §14; `unknown` for a version we cannot read. */
export type Native = "empty" | "interrupted" | "aborted" | "error" | "length" | "safety" | "idle" | "unknown";

export interface StatusFacts {
  state: SessionState;
  /** Of a codebot that may have this session open: it runs in the same directory and this is its newest session. */
  process: { pid: number } | null;
  /** ms since 1970. */
  now: number;
}

export interface Judged extends Status {
  /** When the guess runs out, ms since 1970; null when nothing here depends on time. */
  until: number | null;
}

const MEANS: Record<Native, StatusName> = {
  empty: "idle",
  interrupted: "interrupted",
  // The person stopped it; it waits for nothing but the person's wish to go on.
  aborted: "paused",
  error: "failed",
  safety: "failed",
  // The answer was cut short: something is left, and nobody is on it.
  length: "open",
  idle: "idle",
  unknown: "unknown",
};

/**
 * The status of a session (codebot.md §14). codebot records none and leaves no lock or pid, so that work can only be
 * guessed: an unfinished turn that was written to a moment ago. Pure.
 */
export function judge(facts: StatusFacts): Judged {
  const { state, process, now } = facts;
  const { native, why } = nativeOf(state);
  const reasons = process === null ? [] : [`a codebot runs in this directory (pid ${process.pid})`];
  const recorded = lastRecord(state);
  const goal = effectiveGoal(state.chain.goal);
  const goesOn = native === "interrupted" || (native === "idle" && goal.status === "active");
  const quiet = process === null || native === "idle" ? QUIET_MS : QUIET_WITH_PROCESS_MS;
  if (goesOn && recorded !== null && now - recorded < quiet && recorded - now < QUIET_MS) {
    return {
      status: "working",
      native,
      certainty: "guess",
      why: [
        `last record ${ago(now - recorded)}, ${native === "idle" ? "and its goal is active" : why}`,
        ...reasons,
        `taken as work for ${quiet / 60_000} min of silence`,
      ],
      activity: activityOf(state),
      until: recorded + quiet,
    };
  }
  const stopped = native === "idle" ? goalStop(state) : null;
  return {
    status: stopped?.status ?? MEANS[native],
    native,
    certainty: native === "unknown" ? "guess" : "recorded",
    why: [...(stopped === null ? [] : [stopped.why]), why, ...reasons],
    activity: stopped?.activity ?? activityOf(state),
    until: null,
  };
}

/** The tool's word for how a session stands, and the evidence. */
export function nativeOf(state: SessionState): { native: Native; why: string } {
  if (state.shape === "unknown") {
    return { native: "unknown", why: `session version ${state.header?.version ?? "?"} cannot be read` };
  }
  if (state.messages === 0) return { native: "empty", why: "no message yet" };
  const open = openCalls(state);
  if (open > 0) return { native: "interrupted", why: `${open} ${open === 1 ? "call has" : "calls have"} no result` };
  const last = lastMessage(state);
  if (last?.role === "tool") return { native: "interrupted", why: "a result waits to be answered" };
  if (last?.role === "user") return { native: "interrupted", why: "the last message is not answered" };
  if (state.damage.some(({ kind }) => kind === "torn_tail")) {
    return { native: "interrupted", why: "the last line is unfinished" };
  }
  if (last === null) return { native: "idle", why: "nothing is in its context" };
  switch (last.stop) {
    case "aborted":
      return { native: "aborted", why: "the person stopped the last answer" };
    case "error":
      return { native: "error", why: "the last answer ended in an error" };
    case "length":
      return { native: "length", why: "the last answer was cut at the output limit" };
    case "safety":
      return { native: "safety", why: "the last answer was withheld by the provider" };
    default:
      return { native: "idle", why: "the last answer is complete" };
  }
}

function openCalls(state: SessionState): number {
  if (state.shape === "tree") return state.chain.context.pending.length;
  return lastRestored(state.flat)?.calls.length ?? 0;
}

/** The last message of the context; null when there is none, or only a summary that nobody has to answer. */
function lastMessage(state: SessionState): { role: string; stop: string } | null {
  if (state.shape === "flat") return lastRestored(state.flat);
  const { last } = state.chain.context;
  return last === null || last.summary ? null : last;
}

/** The last message of a version 5 log that the repair leaves in: a result that answers no call is dropped (codebot.md §6). */
function lastRestored({ history }: FlatState): MessageFacts | null {
  const last = history.at(-1)?.message ?? null;
  if (last?.role !== "tool") return last;
  const calls = new Set(history.flatMap(({ message }) => message.calls));
  return history.findLast(({ message }) => message.role !== "tool" || calls.has(message.answers))?.message ?? null;
}

/**
 * When something was written last, ms since 1970: the time of the last line. Not the header's, which of a fresh copy is
 * the time of its making.
 */
function lastRecord({ entries }: SessionState): number | null {
  for (let at = entries.length - 1; at > 0; at--) {
    const instant = instantOf(entries[at]?.time);
    if (instant !== null) return instant.ms;
  }
  return null;
}

/** A goal whose loop has stopped says more than the answer before it (codebot.md §8). */
function goalStop(state: SessionState): { status: StatusName; why: string; activity: string | null } | null {
  const goal = effectiveGoal(state.chain.goal);
  const reason = cleanLine(goal.blockedReason || goal.reason);
  const activity = reason === "" ? null : cutCodePoints(reason, 160);
  const said = reason === "" ? "" : `: ${cutCodePoints(reason, 120)}`;
  switch (goal.status) {
    case "blocked":
      return { status: "needs-input", why: `its goal is blocked${said}`, activity };
    case "paused":
      return { status: "paused", why: "its goal was paused by the person", activity };
    case "budget_limited":
      return {
        status: "paused",
        why: `its goal reached its budget: ${goal.tokensUsed} of ${goal.tokenBudget} tokens`,
        activity,
      };
    case "usage_limited":
      return { status: "paused", why: `its goal was stopped by the provider's quota${said}`, activity };
    default:
      return null;
  }
}

function activityOf(state: SessionState): string | null {
  const said =
    state.shape === "flat"
      ? (state.flat.history.findLast(({ message }) => message.said !== "")?.message.said ?? "")
      : (state.chain.said?.text ?? "");
  const line = cleanLine(said);
  return line === "" ? null : cutCodePoints(line, 160);
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}
