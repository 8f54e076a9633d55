/** Checked reading of parsed JSON: what is absent or of another type reads as Go's zero value (codebot.md §2.1). */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a text field, `""` when there is none. */
export function textOf(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === "string" ? value : "";
}

/** A whole number, 0 when there is none. Never infinite, never beyond what a double counts exactly. */
export function intOf(object: JsonObject, key: string): number {
  const value = object[key];
  if (typeof value !== "number" || !Number.isFinite(value)) return 0;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.trunc(value)));
}

/** A count: `intOf`, never negative. */
export function countOf(object: JsonObject, key: string): number {
  return Math.max(0, intOf(object, key));
}

export function floatOf(object: JsonObject, key: string): number {
  const value = object[key];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function flagOf(object: JsonObject, key: string): boolean {
  return object[key] === true;
}

/** The object that a text spells, or null when it spells none. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Fields as Go's `omitempty` leaves them: without empty texts, zeros, false and absent values. */
export function withoutEmpty(object: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    if (value !== "" && value !== 0 && value !== false && value !== undefined && value !== null) kept[key] = value;
  }
  return kept;
}
