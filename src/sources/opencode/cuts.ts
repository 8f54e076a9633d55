import type { MessageRow } from "./rows.ts";
import type { SessionFacts } from "./session-facts.ts";

export type Cut =
  | {
      ok: true;
      /** How many messages go along. */
      count: number;
      over: boolean;
    }
  | { ok: false; reason: string };

/** Where a copy may end: before a prompt, after whole turns. `before` null: all that is visible. */
export function cutBefore(facts: SessionFacts, before: string | null): Cut {
  const at = before === null ? facts.visible : facts.messages.findIndex((message) => message.id === before);
  if (at < 0) return { ok: false, reason: `there is no entry ${before} to fork before` };
  if (before !== null) {
    const message = facts.messages[at];
    if (message?.role === "assistant") {
      return { ok: false, reason: "the prompt before it would be left without its answer" };
    }
    if (message?.role !== "user") return { ok: false, reason: "a fork ends before a prompt: choose one" };
    if (at > facts.visible) return { ok: false, reason: "it was reverted: OpenCode itself can bring it back" };
  }
  const kept = facts.messages.slice(0, at);
  if (!kept.some((message) => message.role === "user")) {
    return { ok: false, reason: "nothing was said before it: start a new session instead" };
  }
  const last = kept.findLast((one) => one.role === "user" || one.role === "assistant");
  if (before === null && facts.tail.state === "open" && facts.tail.calls.length > 0) {
    return { ok: false, reason: "a call would be left without its result" };
  }
  // What was cut off further back the session itself has gone on from.
  if (isUnfinished(last)) {
    const which = before === null ? "its last reply" : "the reply before it";
    return { ok: false, reason: `${which} never finished: fork before an earlier prompt` };
  }
  return { ok: true, count: at, over: last?.role !== "user" && last?.finish !== "tool-calls" };
}

function isUnfinished(message: MessageRow | undefined): boolean {
  return message?.role === "assistant" && message.completedAt === null && message.error === null;
}

/** May a fork end just before this message? For pages, which ask for every one they show. */
export function isForkable(facts: SessionFacts, at: number): boolean {
  const message = facts.messages[at];
  if (message?.role !== "user" || at > facts.visible || at === 0) return false;
  return cutBefore(facts, message.id).ok;
}
