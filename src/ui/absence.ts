import { type DigestLine, digest } from "../session/digest.ts";
import type { SessionKey } from "../session/key.ts";
import type { Snapshot } from "../session/snapshot.ts";

/** Looking away for less is no absence, ms. */
const AWAY_MS = 60_000;

type Sessions = ReadonlyMap<SessionKey, Snapshot>;

/** When the person looks away from the screen, and what happens meanwhile. Times are ms since 1970. */
export class Absence {
  /** What happened the last time. */
  changes: DigestLine[] = [];
  /** The sessions as they were when the person looked away. */
  #left: Sessions | null = null;
  #out = 0;
  #back = 0;

  begin(sessions: Sessions, at: number): void {
    // A glance at the screen does not begin a new absence: what the last one brought stays to be read.
    if (!this.#left || at - this.#back >= AWAY_MS) this.#left = sessions;
    this.#out = at;
  }

  /** Returns how many sessions changed, 0 after too short an absence to speak of. */
  end(sessions: Sessions, at: number): number {
    this.#back = at;
    if (!this.#left) return 0;
    this.changes = digest(this.#left, sessions);
    return at - this.#out < AWAY_MS ? 0 : this.changes.length;
  }
}
