/** What Go writes for a time that was never set (questmaster.md §6). */
export const UNSET_TIME = "0001-01-01T00:00:00Z";

const RFC3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/u;

/**
 * Nanoseconds since 1970 of an RFC 3339 time; null when it is none, or unset (year 1).
 * Fractions have 0–9 digits, so times are compared as numbers, never as text.
 */
export function unixNanos(text: string): bigint | null {
  const found = RFC3339.exec(text);
  if (!found || found[1]?.startsWith("0001-01-01")) return null;
  const seconds = Date.parse(`${found[1]}${found[3]}`);
  if (Number.isNaN(seconds)) return null;
  return BigInt(seconds) * 1_000_000n + BigInt((found[2] ?? "").slice(0, 9).padEnd(9, "0"));
}

/** Milliseconds since 1970, or null like `unixNanos`. */
export function unixMillis(text: string): number | null {
  const nanos = unixNanos(text);
  return nanos === null ? null : Number(nanos / 1_000_000n);
}

/** Nanoseconds as the RFC 3339 text Go writes: UTC, trailing zeros of the fraction cut. */
export function nanoTime(nanos: bigint): string {
  const millis = Number(nanos / 1_000_000_000n) * 1000;
  const fraction = (nanos % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/u, "");
  return `${new Date(millis).toISOString().slice(0, 19)}${fraction === "" ? "" : `.${fraction}`}Z`;
}

/** The time in the form of manifests: whole seconds, UTC. */
export function nowUTC(now: number = Date.now()): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}
