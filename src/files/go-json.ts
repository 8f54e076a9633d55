/**
 * JSON as Go's encoding/json prints it: `<` `>` `&` and the two separators escaped inside strings, so that what we
 * write equals, byte for byte, what the tools write. Valid JSON in, the same value out.
 */
export function goJson(value: unknown, indent?: number): string {
  return escapeLikeGo(JSON.stringify(value, null, indent));
}

const ESCAPED: Record<string, string> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** Those five characters can only stand inside strings, so the whole text may be replaced at once. */
export function escapeLikeGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/gu, (mark) => ESCAPED[mark] ?? mark);
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/u;

/** Whether a text is an RFC 3339 time, as far as its form goes; Go's unset time is one. */
export function isRfc3339(text: string): boolean {
  return RFC3339.test(text);
}

/** An RFC 3339 time as ISO 8601, UTC, milliseconds; null when it is not one, or is Go's unset time (year 1). */
export function isoTime(text: unknown): string | null {
  if (typeof text !== "string") return null;
  const found = RFC3339.exec(text);
  if (!found || found[1] === "0001") return null;
  const millis = (found[7] ?? "").slice(0, 3).padEnd(3, "0");
  const ms = Date.parse(`${text.slice(0, 19)}.${millis}${found[8]}`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
