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

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/u;

/** The ranges Go checks. It lets an offset be 24 hours and 60 minutes, as some people write it. */
const IN_RANGE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-4]):(?:[0-5]\d|60))$/u;

/** Whether Go reads a text as an RFC 3339 time: its unset time is one, the 30th of February is none. */
export function isRfc3339(text: string): boolean {
  if (!IN_RANGE.test(text)) return false;
  // Every record has a time: the day is looked at without making texts of it.
  const day = (text.charCodeAt(8) - ZERO) * 10 + text.charCodeAt(9) - ZERO;
  return day <= 28 || day <= daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7)));
}

const ZERO = 0x30;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
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
