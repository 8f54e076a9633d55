import type { Status } from "../../session/status.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { type Shape, type StateOfFile, shapeOf, statusOf } from "./fold.ts";

/** How long silence can still be work, ms (statefile.md §9): one run call ≤ 10 min, a provider's silence ≤ 5 min. */
const QUIET_MS: Partial<Record<Shape, number>> = {
  "calls-waiting": 10 * 60_000,
  "blocks-streaming": 5 * 60_000,
  "needs-step": 5 * 60_000,
};

/** How far clocks of two machines differ without anybody's fault, ms. */
const SKEW_MS = 60_000;

/** ms since a time; never, for one that lies in the future: it says nothing of what happened lately. */
export function sinceWritten(at: number, now: number): number {
  return at > now + SKEW_MS ? Number.POSITIVE_INFINITY : now - at;
}

export interface Judged extends Status {
  /** When the guess runs out, ms since 1970; null when nothing here depends on time. */
  until: number | null;
}

/** The status of one session. Pure: `now` and `mtimeMs` are ms since 1970; `activity` comes from the caller, who reads bodies. */
export function judge(state: StateOfFile, mtimeMs: number, now: number, activity: string | null): Judged {
  const native = statusOf(state);
  const shape = shapeOf(state);
  const said = state.updated === null ? Number.POSITIVE_INFINITY : sinceWritten(Date.parse(state.updated), now);
  const quiet = Math.min(sinceWritten(mtimeMs, now), said);
  const bound = QUIET_MS[shape];
  const tail = tailWords(state);
  const base = { native, activity: activity === null ? null : cleanLine(activity), until: null };
  if (bound !== undefined && quiet <= bound) {
    return {
      ...base,
      status: "working",
      certainty: "guess",
      why: [
        `written ${ago(quiet)}, ${SHAPE_WORDS[shape]}: taken as work for ${bound / 60_000} min of silence`,
        ...tail,
      ],
      // At its very end the guess still holds: it is looked at again behind it.
      until: Math.max(now - quiet + bound, now + 1),
    };
  }
  const status = native === "closed" ? "idle" : native;
  return { ...base, status, certainty: "recorded", why: [whyOf(state, shape, quiet), ...tail] };
}

const SHAPE_WORDS: Record<Shape, string> = {
  empty: "no record yet",
  error: "the last record is an error",
  "calls-waiting": "calls wait for their results",
  "blocks-streaming": "a reply is not closed by its step",
  "needs-step": "a message or result is unaddressed",
  idle: "the last step addressed everything and made no calls",
};

function whyOf(state: StateOfFile, shape: Shape, quiet: number): string {
  if (shape === "calls-waiting") {
    const many = state.waiting.length;
    const silence = Number.isFinite(quiet) ? "nothing was written for 10 min" : "all its times lie in the future";
    return `${many} ${many === 1 ? "call waits" : "calls wait"} for a result, and ${silence}`;
  }
  if (shape === "idle" && state.steps.length === 0) return "no message yet";
  return SHAPE_WORDS[shape];
}

function tailWords(state: StateOfFile): string[] {
  if (state.tail === "clean") return [];
  if (state.tail.startsWith("torn")) return [`${state.tailBytes} bytes of an unfinished record follow`];
  return [`damaged after record ${state.records}: this is the status of what stands before`];
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}
