import { countStatuses, type StatusCounts } from "./counts.ts";
import type { SessionKey } from "./key.ts";
import type { Snapshot } from "./snapshot.ts";
import { isSnoozed, parseSnooze } from "./snooze.ts";
import type { StatusName } from "./status.ts";

/** Who wants the person. */
export interface Attention {
  /** Questions before failures, those that wait longest first; then finished work not looked at yet, newest first. */
  inbox: Snapshot[];
  /** Would be in the inbox, but quiet for now. */
  snoozed: Snapshot[];
  /** By status, snoozed sessions left out. */
  counts: StatusCounts;
  /** When the next snooze is over, ms since 1970, null when none is. */
  wakesAt: number | null;
}

export interface AttentionFacts {
  /** The memory fact `snoozed`. */
  snoozed(key: SessionKey): string | null;
  /** ms since 1970. */
  now: number;
}

/** The statuses that want the person, most urgent first. */
const WANTING: readonly StatusName[] = ["needs-input", "failed", "done"];

/** Over the sessions that lists show. Sub-agents and internal sessions count in their parents. */
export function attention(sessions: Iterable<Snapshot>, facts: AttentionFacts): Attention {
  const inbox: Snapshot[] = [];
  const snoozed: Snapshot[] = [];
  const counted: Snapshot[] = [];
  let wakesAt: number | null = null;
  for (const snapshot of sessions) {
    if (snapshot.hidden) continue;
    const wants = WANTING.includes(snapshot.status);
    const fact = wants ? facts.snoozed(snapshot.key) : null;
    if (wants && isSnoozed(snapshot, fact, facts.now)) {
      snoozed.push(snapshot);
      wakesAt = Math.min(wakesAt ?? Number.POSITIVE_INFINITY, parseSnooze(fact)?.until ?? Number.POSITIVE_INFINITY);
      continue;
    }
    counted.push(snapshot);
    if (wants) inbox.push(snapshot);
  }
  return { inbox: inbox.sort(byUrgency), snoozed: snoozed.sort(byUrgency), counts: countStatuses(counted), wakesAt };
}

/** The next one after `current` in the inbox, round to the first; null when nobody wants the person. */
export function nextWanting(inbox: readonly Snapshot[], current: SessionKey | null): Snapshot | null {
  const at = inbox.findIndex((one) => one.key === current);
  return inbox[(at + 1) % Math.max(1, inbox.length)] ?? null;
}

function byUrgency(a: Snapshot, b: Snapshot): number {
  const rank = WANTING.indexOf(a.status) - WANTING.indexOf(b.status);
  if (rank !== 0) return rank;
  return byTime(a, b, a.status === "done" ? -1 : 1) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** Oldest first, or with direction -1 newest first; without a time last either way. */
function byTime(a: Snapshot, b: Snapshot, direction: 1 | -1): number {
  if (a.updatedAt === b.updatedAt) return 0;
  if (a.updatedAt === null) return 1;
  if (b.updatedAt === null) return -1;
  return a.updatedAt < b.updatedAt ? -direction : direction;
}
