import type { CostBasis } from "../../session/snapshot.ts";

/** What is not known: shown as a dash, never as 0 (design §4). */
const UNKNOWN = "–";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span of time in one short word: "now" below a minute, then 3m 2h 4d 3w 5mo 2y, rounded down. Milliseconds. */
export function age(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return UNKNOWN;
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  const days = Math.floor(ms / DAY);
  if (days < 7) return `${days}d`;
  if (days < 35) return `${Math.floor(days / 7)}w`;
  if (days < 365) return `${Math.floor(days / 30.4375)}mo`;
  return `${Math.floor(days / 365.25) || 1}y`;
}

/** Age of an ISO time at `now` (ms since 1970). A time ahead of the clock is "now". */
export function ageOf(time: string | null, now: number): string {
  const then = time === null ? Number.NaN : Date.parse(time);
  return Number.isNaN(then) ? UNKNOWN : age(now - then);
}

/** How long something took: 0.4s, 12s, 3m 4s, 2h 5m. Milliseconds. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms) || ms < 0) return UNKNOWN;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** A count, short: 950, 1.2k, 34k, 1.3M, 2.1G. Halves round up, and 999,600 is 1M, not 1000k. */
export function tokens(count: number | null): string {
  if (count === null || !Number.isFinite(count)) return UNKNOWN;
  return scaled(count, ["", "k", "M", "G", "T"], "");
}

/** A size in decimal units: 950 B, 1.2 kB, 34 kB, 1.2 MB. */
export function bytes(count: number | null): string {
  if (count === null || !Number.isFinite(count)) return UNKNOWN;
  return scaled(count, ["B", "kB", "MB", "GB", "TB"], " ");
}

function scaled(count: number, units: readonly string[], gap: string): string {
  const sign = count < 0 ? "-" : "";
  let value = Math.abs(count);
  let unit = 0;
  let shown = String(Math.round(value));
  while (Number(shown) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
    shown = value < 9.95 ? value.toFixed(1).replace(/\.0$/u, "") : String(Math.round(value));
  }
  return `${sign}${shown}${gap}${units[unit] ?? ""}`;
}

/**
 * US dollars: $0.004, $0.42, $1.20, $1,235. `partial` (some requests have no price) shows ≥, `estimated` from a price
 * table ~. An amount too small to show is <$0.001, never $0.
 */
export function money(cost: number | null, basis: CostBasis | null = null, ascii = false): string {
  if (cost === null || !Number.isFinite(cost)) return UNKNOWN;
  const mark = basis === "partial" ? (ascii ? ">=" : "≥") : basis === "estimated" ? "~" : "";
  return `${mark}${dollars(cost)}`;
}

function dollars(cost: number): string {
  if (cost < 0) return `-${dollars(-cost)}`;
  if (cost === 0) return "$0.00";
  if (cost < 0.0005) return "<$0.001";
  if (cost < 0.0095) return `$${cost.toFixed(3)}`;
  if (cost < 999.995) return `$${cost.toFixed(2)}`;
  return `$${grouped(Math.round(cost))}`;
}

/** 12,345 in every locale, so that screens and tests agree. */
export function grouped(count: number): string {
  const [whole = "", fraction] = String(count).split(".");
  const shown = whole.replace(/\B(?=(?:\d{3})+$)/gu, ",");
  return fraction === undefined ? shown : `${shown}.${fraction}`;
}

/** "1 line", "12 lines". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
