import { crc32 } from "node:zlib";
import type { Snapshot } from "./snapshot.ts";
import { isStatusName, type StatusName } from "./status.ts";

/** How long a session stays quiet, and what it was quietened about. */
export interface Snooze {
  /** ms since 1970. */
  until: number;
  /** Its status when the snooze began; null: not noted, so only time wakes it. */
  status: StatusName | null;
  /** A mark of what it asked then. */
  asked: string | null;
}

/**
 * The memory fact `snoozed` for a session as it is now: the ISO time until which it is quiet, its status and a mark of what
 * it asks, so that another status or another question wakes it early. `until` in ms since 1970.
 */
export function snoozeFact(snapshot: Snapshot, until: number): string {
  return `${new Date(until).toISOString()} ${snapshot.status} ${askedMark(snapshot)}`;
}

/** The fact taken apart, null when it is none. A time alone is a fact too. */
export function parseSnooze(fact: string | null): Snooze | null {
  if (fact === null) return null;
  const [time = "", status = "", asked] = fact.split(" ");
  const until = Date.parse(time);
  if (Number.isNaN(until)) return null;
  return { until, status: isStatusName(status) ? status : null, asked: asked ?? null };
}

/** Whether the session is quiet at `now` (ms since 1970). A look that found out nothing (`unknown`) does not wake it. */
export function isSnoozed(snapshot: Snapshot, fact: string | null, now: number): boolean {
  const snooze = parseSnooze(fact);
  if (snooze === null || snooze.until <= now) return false;
  if (snooze.status === null || snapshot.status === "unknown") return true;
  if (snooze.status !== snapshot.status) return false;
  return snooze.asked === null || snooze.asked === askedMark(snapshot);
}

/** What is asked and how much was said before it: the same question after another answer is another one. */
function askedMark(snapshot: Snapshot): string {
  return crc32(`${snapshot.messages}\n${snapshot.activity ?? ""}`).toString(16);
}
