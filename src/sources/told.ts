import { isDeepStrictEqual } from "node:util";
import type { SessionKey } from "../session/key.ts";
import type { Problem } from "../session/problem.ts";
import type { Snapshot } from "../session/snapshot.ts";

/** Gathers a delta's snapshots: what became another one, what is gone. */
export class SnapshotChanges {
  readonly changed: Snapshot[] = [];
  readonly removed: SessionKey[] = [];

  /** A session that was `before` is `now`; null: there is none. Returns the one to keep: the old one when they are equal. */
  note(before: Snapshot | null, now: Snapshot): Snapshot;
  note(before: Snapshot | null, now: Snapshot | null): Snapshot | null;
  note(before: Snapshot | null, now: Snapshot | null): Snapshot | null {
    if (before !== null && before.key !== now?.key) this.removed.push(before.key);
    if (now === null) return null;
    if (before !== null && isDeepStrictEqual(before, now)) return before;
    this.changed.push(now);
    return now;
  }
}

/** The problems of a source as they were told the last time. */
export class ToldProblems {
  #told: Problem[] = [];

  /** What a delta says: all problems, or null when they are as they were. */
  news(now: Problem[]): Problem[] | null {
    if (isDeepStrictEqual(now, this.#told)) return null;
    this.#told = now;
    return now;
  }

  /** As they were told, for a scan's last delta. */
  get all(): Problem[] {
    return this.#told;
  }
}
