/** A session's id is a UUID (agents.md §5.1). */
export const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;

/** What may name a message: anything else could not be an own key of a plain object without surprises. */
const MESSAGE_ID = /^(?!__proto__$)[A-Za-z0-9_.:-]{1,128}$/u;

export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text);
}

/** Unique all over, so that the same id in two sessions means a copy. */
export function isUnique(id: string): boolean {
  return SESSION_ID.test(id);
}

/** `session-<time>-<first 8 of the id>.json[l]`: what Gemini's clean-up goes by (agents.md §8). */
export const CHAT_FILE = /^session-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2})-([0-9a-z]{8})\.jsonl?$/iu;
