/** A session's id is a UUID (agents.md §5.1). */
export const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;

/** What may name a message: anything else could not be an own key of a plain object without surprises. */
const MESSAGE_ID = /^(?!__proto__$)[A-Za-z0-9_.:-]{1,128}$/u;

export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text);
}

/**
 * Equal for the copies of a message. A UUID is unique all over; another id (`1`, a hash of what every start says) is
 * with its time. null: nothing tells whether it is a copy.
 */
export function messageKey({ id, time }: { id: string; time: number }): string | null {
  if (SESSION_ID.test(id)) return id;
  return time === 0 ? null : `${id}|${time}`;
}

/** `session-<time>-<first 8 of the id>.json[l]`: what Gemini's clean-up goes by (agents.md §8). */
export const CHAT_FILE = /^session-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2})-([0-9a-z]{8})\.jsonl?$/iu;
