import type { Status, StatusName } from "../../session/status.ts";
import { isoTime } from "../jsonl/record.ts";
import type { Guess } from "./guess.ts";
import type { Holder } from "./locks.ts";
import type { Tail } from "./tail.ts";

/** Everything a thread is judged by. Pure data. */
export interface Case {
  tail: Tail;
  holder: Holder;
  /** A codex that may run it, for versions that had no locks. */
  guess: Guess | null;
  archived: boolean;
  seen: boolean;
}

export type Native = "working" | "waiting-user" | "idle" | "error" | "interrupted" | "unknown";

type Verdict = Omit<Status, "why" | "native"> & { native: Native; detail: string | null; first: string[] };

/** One status from its layers: lock, process, the file's end (agents.md §2.5). Approvals are never written: only a hint. */
export function judge(one: Case): Status & { native: Native; detail: string | null } {
  const { tail, holder } = one;
  const why = [holder.why];
  if (one.guess !== null) why.push(one.guess.evidence);
  why.push(`${tail.evidence}${since(tail.time)}`);
  const { first, ...verdict } = decide(one);
  const status = one.archived && (verdict.status === "idle" || verdict.status === "done") ? "archived" : verdict.status;
  return { ...verdict, status, why: [...first, ...why] };
}

function decide(one: Case): Verdict {
  const { tail, holder } = one;
  const live = holder.held === "yes" || one.guess !== null;
  const certainty = holder.held === "yes" ? "recorded" : "guess";
  if (tail.state === "error") {
    return verdict("failed", "error", { activity: tail.text, detail: tail.text });
  }
  if (tail.state === "open") {
    if (holder.held === "yes" || one.guess?.mayHaveWritten === true) return running(tail, certainty);
    if (holder.held === "unknown")
      return verdict("unknown", "unknown", { certainty: "guess", activity: callActivity(tail) });
    return verdict("interrupted", "interrupted", { certainty: "guess", activity: callActivity(tail) });
  }
  if (live) {
    const first = [one.seen ? "you have looked at the result" : "nobody has looked at the result"];
    const activity = tail.state === "aborted" ? "interrupted by you" : null;
    const status = one.seen || tail.state === "new" ? "idle" : "done";
    return verdict(status, "waiting-user", { certainty, activity, first });
  }
  if (tail.state === "aborted") return verdict("interrupted", "interrupted", { activity: "interrupted by you" });
  return verdict("idle", "idle");
}

function running(tail: Tail, certainty: "recorded" | "guess"): Verdict {
  const asks = tail.calls.find((call) => call.asks !== null)?.asks ?? null;
  if (asks !== null) {
    return verdict("needs-input", "waiting-user", {
      certainty,
      activity: asks,
      detail: "question",
      first: ["a question to you has no answer"],
    });
  }
  const escalated = tail.calls.find((call) => call.escalated);
  if (escalated !== undefined && tail.approval === "on-request") {
    return verdict("working", "working", {
      certainty,
      activity: `${escalated.summary} (may wait for your approval)`,
      detail: "maybe approval",
      first: ["the open call asks to leave the sandbox, which may need your approval; codex does not record that"],
    });
  }
  return verdict("working", "working", { certainty, activity: callActivity(tail) });
}

function verdict(status: StatusName, native: Native, more: Partial<Verdict> = {}): Verdict {
  return { status, native, certainty: "recorded", activity: null, detail: null, first: [], ...more };
}

function callActivity(tail: Tail): string | null {
  return tail.calls.at(-1)?.summary ?? null;
}

/** Absolute, so that the words do not change while nothing happens. */
function since(time: number | null): string {
  const iso = isoTime(time);
  return iso === null ? "" : ` (${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC)`;
}
