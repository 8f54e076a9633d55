/**
 * Times as Go writes them (codebot.md §2, §2.1): RFC 3339, up to nine digits of a second with trailing zeros trimmed,
 * local offset or `Z`. An unset time is not left out but written as year 1.
 * They are kept as text, because a JS Date would lose the last six digits.
 */
export type GoTime = string;

/** What Go prints for a time that was never set. */
export const UNSET_TIME: GoTime = "0001-01-01T00:00:00Z";

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/u;

export interface Instant {
  /** ms since 1970, rounded down. */
  ms: number;
  /** The rest below a millisecond, 0 to 999999. */
  nanos: number;
}

/** The moment a text names; null when it is no RFC 3339 time, or Go's unset one. */
export function instantOf(text: unknown): Instant | null {
  if (typeof text !== "string") return null;
  const found = SHAPE.exec(text);
  if (!found || found[1] === "0001") return null;
  const digits = (found[7] ?? "").padEnd(9, "0");
  const ms = Date.parse(`${text.slice(0, 19)}.${digits.slice(0, 3)}${found[8]}`);
  return Number.isNaN(ms) ? null : { ms, nanos: Number(digits.slice(3)) };
}

/** Is it a time at all, set or unset? Go refuses a line whose timestamp is not. */
export function isGoTime(text: unknown): text is GoTime {
  if (typeof text !== "string") return false;
  const found = SHAPE.exec(text);
  return found !== null && (found[1] === "0001" || instantOf(text) !== null);
}

/** The text of a time that is set, else null. */
export function setTime(value: unknown): GoTime | null {
  return typeof value === "string" && instantOf(value) !== null ? value : null;
}

/** ISO 8601, UTC, milliseconds, for snapshots; null when unset. */
export function isoOf(text: unknown): string | null {
  const instant = instantOf(text);
  return instant === null ? null : new Date(instant.ms).toISOString();
}

export function compareInstants(a: Instant, b: Instant): number {
  return a.ms - b.ms || a.nanos - b.nanos;
}

/** A moment as Go prints it in this machine's zone. */
export function formatGoTime(ms: number, nanos = 0): GoTime {
  const date = new Date(ms);
  const offset = -date.getTimezoneOffset();
  const local = new Date(ms + offset * 60_000).toISOString();
  const fraction = `${local.slice(20, 23)}${String(nanos).padStart(6, "0")}`.replace(/0+$/u, "");
  const zone =
    offset === 0
      ? "Z"
      : `${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return `${local.slice(0, 19)}${fraction === "" ? "" : `.${fraction}`}${zone}`;
}

/** Now, as finely as this machine's clock tells. */
export function goNow(): GoTime {
  const now = performance.timeOrigin + performance.now();
  const ms = Math.floor(now);
  return formatGoTime(ms, Math.min(999_999, Math.floor((now - ms) * 1_000_000)));
}

/** The local date of a moment, which begins a session file's name. */
export function localDate(ms: number): string {
  const date = new Date(ms);
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
