import { membersOf, prefixMembers, type RawJson } from "../../../files/raw-json.ts";

/** A hook's JSON: whatever an agent sends. Read key by key, because their schemas move. */
export type Payload = Record<string, unknown>;

/**
 * The payload of a hook. What cannot be parsed still gives an event: an input that was cut at its limit gives the
 * members that came through whole, anything else none.
 */
export function parsePayload(text: string): Payload {
  return valuesOf(wholeOrPrefix(text));
}

function wholeOrPrefix(text: string): Map<string, RawJson> {
  try {
    return membersOf(text);
  } catch {
    return prefixMembers(text);
  }
}

function valuesOf(members: ReadonlyMap<string, RawJson>): Payload {
  const payload: Payload = {};
  for (const [key, raw] of members) {
    if (key !== "__proto__") payload[key] = JSON.parse(raw);
  }
  return payload;
}

/** The text under the first of these keys that has one; empty when none has. Not trimmed. */
export function textOf(value: unknown, ...keys: string[]): string {
  if (!isObject(value)) return "";
  for (const key of keys) {
    const text = value[key];
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return "";
}

export function isObject(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of the first question in `{questions: [{question}]}`; empty when it is not that shape. */
export function firstQuestion(input: unknown): string {
  if (!isObject(input) || !Array.isArray(input.questions)) return "";
  return textOf(input.questions[0], "question");
}
