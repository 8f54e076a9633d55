import { answeredCall, callsOf, type Message, type ToolCall } from "./message.ts";

/** What a synthetic result says. Only in memory: it is never written to a session. */
export const UNKNOWN_OUTCOME = "Execution was interrupted; no result was recorded and its outcome is unknown.";

export interface Repaired<T> {
  message: Message;
  /** Where the message came from; null for a synthetic result. */
  of: T | null;
}

/**
 * The sequence codebot restores (codebot.md §6): a call that the directly following run of tool messages leaves
 * unanswered gets a synthetic result right after its assistant message; afterwards tool messages that answer no
 * call at all are dropped. A late result therefore stays beside its synthetic one.
 */
export function repairSequence<T>(items: readonly { message: Message; of: T }[]): Repaired<T>[] {
  const repaired: Repaired<T>[] = [];
  const known = new Set<string>();
  for (const [at, item] of items.entries()) {
    repaired.push(item);
    const calls = callsOf(item.message);
    if (calls.length === 0) continue;
    const answered = new Set<string>();
    for (let next = at + 1; next < items.length; next++) {
      const message = items[next]?.message;
      if (message?.role !== "tool") break;
      answered.add(answeredCall(message));
    }
    for (const call of calls) {
      known.add(call.id);
      if (!answered.has(call.id)) repaired.push({ message: syntheticResult(call, item.message), of: null });
    }
  }
  return repaired.filter(({ message }) => message.role !== "tool" || known.has(answeredCall(message)));
}

/** `repairSequence` for messages alone. */
export function repairMessages(messages: readonly Message[]): Message[] {
  return repairSequence(messages.map((message) => ({ message, of: message }))).map(({ message }) => message);
}

function syntheticResult(call: ToolCall, asked: Message): Message {
  const message: Message = {
    role: "tool",
    content: [{ type: "text", text: UNKNOWN_OUTCOME }],
    metadata: {
      interrupted: true,
      is_error: true,
      result_unknown: true,
      tool_call_id: call.id,
      tool_name: call.name,
    },
  };
  if (asked.timestamp !== undefined) message.timestamp = asked.timestamp;
  return message;
}

/** Was it made by `repairSequence` (or by codebot's own repair)? */
export function isSynthetic(message: Message): boolean {
  return message.metadata?.interrupted === true && message.metadata.result_unknown === true;
}
