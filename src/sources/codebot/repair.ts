import { answeredCall, callsOf, type Message } from "./message.ts";

/** What a synthetic result says. Only in memory: it is never written to a session. */
const UNKNOWN_OUTCOME = "Execution was interrupted; no result was recorded and its outcome is unknown.";

/** What the repair needs to see of a message. */
export interface Turn {
  role: string;
  /** Ids of the calls it asks for. */
  calls: readonly string[];
  /** The call it answers, `""` for none. */
  answers: string;
}

/** One place of the repaired sequence: an item, or a made-up result for `call`, asked for by `item`. */
export interface Repaired<T> {
  item: T;
  /** null: the item itself. */
  call: string | null;
}

/**
 * The sequence codebot restores (codebot.md §6): a call that the directly following run of tool messages leaves
 * unanswered gets a synthetic result right after its assistant message; afterwards tool messages that answer no
 * call at all are dropped. A late result therefore stays beside its synthetic one.
 */
export function repairSequence<T>(items: readonly T[], turnOf: (item: T) => Turn): Repaired<T>[] {
  const turns = items.map(turnOf);
  const known = new Set(turns.flatMap((turn) => turn.calls));
  const repaired: Repaired<T>[] = [];
  for (const [at, item] of items.entries()) {
    const turn = turns[at];
    if (turn === undefined || (turn.role === "tool" && !known.has(turn.answers))) continue;
    repaired.push({ item, call: null });
    if (turn.calls.length === 0) continue;
    const answered = new Set<string>();
    for (let next = at + 1; turns[next]?.role === "tool"; next++) answered.add(turns[next]?.answers ?? "");
    for (const call of turn.calls) if (!answered.has(call)) repaired.push({ item, call });
  }
  return repaired;
}

/** `repairSequence` for messages, the synthetic results made. */
export function repairMessages(messages: readonly Message[]): Message[] {
  const repaired = repairSequence(messages, (message) => ({
    role: message.role,
    calls: callsOf(message).map((call) => call.id),
    answers: message.role === "tool" ? answeredCall(message) : "",
  }));
  return repaired.map(({ item, call }) => (call === null ? item : syntheticResult(call, item)));
}

/** The made-up result of a call that `asked` asked for. */
export function syntheticResult(call: string, asked: Message): Message {
  const message: Message = {
    role: "tool",
    content: [{ type: "text", text: UNKNOWN_OUTCOME }],
    metadata: {
      interrupted: true,
      is_error: true,
      result_unknown: true,
      tool_call_id: call,
      tool_name: callsOf(asked).find((one) => one.id === call)?.name ?? "",
    },
  };
  if (asked.timestamp !== undefined) message.timestamp = asked.timestamp;
  return message;
}

/** Was it made by the repair, ours or codebot's own? */
export function isSynthetic(message: Message): boolean {
  return message.metadata?.interrupted === true && message.metadata.result_unknown === true;
}
