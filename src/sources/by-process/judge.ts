import type { Certainty, Status, StatusName } from "../../session/status.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { isoTime } from "../jsonl/record.ts";
import type { Live } from "./seats.ts";
import type { Tail } from "./tail.ts";

/** Everything a session of a tool without registry and locks is judged by. Pure data. */
export interface Case {
  tail: Tail;
  live: Live | null;
  /** Could processes be looked at? */
  processesKnown: boolean;
  archived: boolean;
  /** Has the person looked at it since it last changed? */
  seen: boolean;
}

/** The agents' own words (agents.md §0). */
type Native = "working" | "waiting-user" | "idle" | "error" | "interrupted" | "unknown";

export type Judgement = Status & {
  native: Native;
  /** What failed, or what is waited for. */
  detail: string | null;
};

interface Verdict {
  status: StatusName;
  native: Native;
  certainty: Certainty;
  activity: string | null;
  detail: string | null;
  first: string[];
}

/** One status from two layers, best first: the process table, the conversation's end (agents.md §0). */
export function judge(one: Case): Judgement {
  const found = one.live === null ? judgeDead(one) : judgeLive(one, one.live);
  const status = one.archived && found.status === "idle" ? "archived" : found.status;
  const why = [...found.first, processWhy(one), `${one.tail.evidence}${at(one.tail.time)}`];
  if (status === "archived") why.unshift("archived");
  const { native, certainty, activity, detail } = found;
  return { status, native, certainty, activity, detail, why };
}

function verdict(status: StatusName, native: Native, more: Partial<Verdict> = {}): Verdict {
  return { status, native, certainty: "recorded", activity: null, detail: null, first: [], ...more };
}

function processWhy(one: Case): string {
  if (one.live !== null) return one.live.evidence;
  return one.processesKnown ? "no process is known to run it" : "processes cannot be looked at";
}

/** What ended in an error or was stopped says so, whether its process lives or not. */
function ended(tail: Tail, certainty: Certainty): Verdict | null {
  const detail = tail.text === null ? null : cutCodePoints(cleanLine(tail.text), 500);
  if (tail.state === "error") return verdict("failed", "error", { certainty, activity: detail, detail });
  if (tail.state !== "interrupted") return null;
  return verdict("interrupted", "interrupted", { certainty, activity: detail ?? "interrupted" });
}

/** No process: an open turn was cut off. When nothing can be seen it may be anybody's. */
function judgeDead(one: Case): Verdict {
  const { tail } = one;
  if (tail.state === "open") {
    const activity = callActivity(tail);
    if (!one.processesKnown) return verdict("unknown", "unknown", { certainty: "guess", activity });
    return verdict("interrupted", "interrupted", { certainty: "guess", activity });
  }
  return ended(tail, "recorded") ?? verdict("idle", "idle");
}

function judgeLive(one: Case, live: Live): Verdict {
  const { tail } = one;
  const certainty: Certainty = live.guess ? "guess" : "recorded";
  const question = tail.calls.find((call) => call.question !== null)?.question ?? null;
  if (tail.state === "open" && question !== null) {
    const first = ["a question to you has no answer"];
    return verdict("needs-input", "waiting-user", { certainty, activity: question, detail: "question", first });
  }
  if (tail.state === "open") {
    // None of these tools shows from outside whether a call runs or waits for a permission.
    return verdict("working", "working", { certainty: "guess", activity: callActivity(tail) });
  }
  const over = ended(tail, certainty);
  if (over !== null) return over;
  const first = [one.seen ? "you have looked at the result" : "nobody has looked at the result"];
  const status = one.seen || tail.state === "new" ? "idle" : "done";
  return verdict(status, "waiting-user", { certainty, first });
}

function callActivity(tail: Tail): string | null {
  return tail.calls.at(-1)?.summary ?? null;
}

/** Absolute, so that the words do not change while nothing happens. */
function at(time: number | null): string {
  const iso = isoTime(time);
  return iso === null ? "" : ` (${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC)`;
}
