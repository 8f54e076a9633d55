import type { Status, StatusName } from "../../session/status.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import type { Tail } from "../by-process/tail.ts";
import { isoTime } from "../jsonl/record.ts";
import type { Live } from "./liveness.ts";
import type { Registered } from "./registry.ts";

/** Everything a session is judged by. Pure data. */
export interface Case {
  tail: Tail;
  live: Live | null;
  /** Registry files that name it although their process is not there, or is another one. */
  stale: readonly Registered[];
  /** Could processes be looked at? */
  processesKnown: boolean;
  archived: boolean;
  /** Has the person looked at it since it last changed? */
  seen: boolean;
}

/** The agent's own words (design §4); `detail` is what it waits for or what failed. */
export type Native = "working" | "waiting-approval" | "waiting-user" | "idle" | "error" | "interrupted" | "unknown";

/** One status from its layers, best first: registry with a living process, process table, the file's end (agents.md §1.6). */
export function judge(one: Case): Status & { native: Native; detail: string | null } {
  const why = [...layerWhy(one), tailWhy(one.tail)];
  const verdict = one.live === null ? judgeDead(one) : judgeLive(one, one.live);
  const status = one.archived && verdict.status === "idle" ? "archived" : verdict.status;
  if (status === "archived") why.unshift("archived in the desktop app");
  return { ...verdict, status, why: [...verdict.first, ...why] };
}

interface Verdict {
  status: StatusName;
  native: Native;
  certainty: "recorded" | "guess";
  activity: string | null;
  detail: string | null;
  first: string[];
}

function verdict(status: StatusName, native: Native, more: Partial<Verdict> = {}): Verdict {
  return { status, native, certainty: "recorded", activity: null, detail: null, first: [], ...more };
}

function layerWhy(one: Case): string[] {
  const why: string[] = [];
  const registered = one.live?.registered ?? null;
  if (registered !== null) {
    const waits = registered.waitingFor === null ? "" : ` for ${clean(registered.waitingFor)}`;
    const word = registered.status === null ? "no status" : clean(registered.status) + waits;
    why.push(`registry: ${word}${since(registered.statusAt)}`);
  }
  if (one.live !== null) why.push(one.live.evidence);
  for (const stale of one.stale) {
    const word = stale.status === null ? "running" : clean(stale.status);
    why.push(
      one.processesKnown
        ? `the registry still says ${word}, but process ${stale.pid} is gone or another one`
        : `the registry says ${word}, but processes cannot be looked at`,
    );
  }
  if (one.live === null && one.stale.length === 0) {
    why.push(one.processesKnown ? "no process is known to run it" : "processes cannot be looked at");
  }
  return why;
}

function tailWhy(tail: Tail): string {
  return `${tail.evidence}${since(tail.time)}`;
}

/** No process: an open turn was cut off; else the file's end holds. */
function judgeDead(one: Case): Verdict {
  const { tail } = one;
  // An open turn may be anybody's when nothing can be seen; what is finished is finished.
  if (!one.processesKnown && (one.stale.length > 0 || tail.state === "open")) {
    return verdict("unknown", "unknown", { certainty: "guess", activity: callActivity(tail) });
  }
  switch (tail.state) {
    case "error":
      return verdict("failed", "error", { activity: tail.text, detail: tail.text });
    case "interrupted":
      return verdict("interrupted", "interrupted", { activity: "interrupted by you" });
    case "open":
      return verdict("interrupted", "interrupted", { certainty: "guess", activity: callActivity(tail) });
    default:
      return verdict("idle", "idle");
  }
}

function judgeLive(one: Case, live: Live): Verdict {
  const { tail } = one;
  const certainty = live.guess ? "guess" : "recorded";
  const word = live.registered?.status ?? null;
  const question = tail.calls.find((call) => call.question !== null)?.question ?? null;
  const waitingFor = live.registered?.waitingFor ?? null;
  if (word === "waiting" && waitingFor !== null && /permission/iu.test(waitingFor)) {
    const detail = clean(waitingFor);
    return verdict("needs-input", "waiting-approval", { activity: approval(tail, detail), detail });
  }
  if (question !== null) {
    return verdict("needs-input", "waiting-user", {
      certainty,
      activity: question,
      detail: "question",
      first: ["a question to you has no answer"],
    });
  }
  switch (word) {
    case "busy":
      return verdict("working", "working", { activity: callActivity(tail) });
    case "shell":
      return verdict("working", "working", { activity: "a background shell is running", detail: "background shell" });
    case "waiting": {
      const detail = waitingFor === null ? null : clean(waitingFor);
      return verdict("needs-input", "waiting-user", { activity: detail ?? "it waits for you", detail });
    }
    case "idle":
      return turnOver(one, certainty);
    case null:
      if (tail.state !== "open") return turnOver(one, certainty);
      return verdict("working", "working", { certainty: "guess", activity: callActivity(tail) });
    default:
      return verdict("unknown", "unknown", { certainty: "guess" });
  }
}

/** The process is alive and waits for the next prompt. */
function turnOver(one: Case, certainty: "recorded" | "guess"): Verdict {
  if (one.tail.state === "error") {
    return verdict("failed", one.live?.registered?.status === "idle" ? "waiting-user" : "error", {
      certainty,
      activity: one.tail.text,
      detail: one.tail.text,
    });
  }
  const activity = one.tail.state === "interrupted" ? "interrupted by you" : null;
  const first = [one.seen ? "you have looked at the result" : "nobody has looked at the result"];
  const status = one.seen || one.tail.state === "new" ? "idle" : "done";
  return verdict(status, "waiting-user", { certainty, activity, first });
}

function callActivity(tail: Tail): string | null {
  return tail.calls.at(-1)?.summary ?? null;
}

function approval(tail: Tail, waitingFor: string): string {
  const call = callActivity(tail);
  return call === null ? waitingFor : `${waitingFor}: ${call}`;
}

function clean(text: string): string {
  return cutCodePoints(cleanLine(text), 200);
}

/** Absolute, so that the words do not change while nothing happens. */
function since(time: number | null): string {
  const iso = isoTime(time);
  return iso === null ? "" : ` (${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC)`;
}
