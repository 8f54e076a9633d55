import { isDeepStrictEqual } from "node:util";
import type { Snapshot } from "../../session/snapshot.ts";
import type { Status } from "../../session/status.ts";

/** What a clock, a process or a pane decides of a session. */
export interface Verdict extends Status {
  livePane: string | null;
  openTwice: readonly string[];
}

/** Does a session's snapshot say the same already, as far as a clock, a process or a pane decides it? */
export function sameVerdict(snapshot: Snapshot, now: Verdict): boolean {
  return (
    snapshot.status === now.status &&
    snapshot.native === now.native &&
    snapshot.certainty === now.certainty &&
    snapshot.activity === now.activity &&
    snapshot.livePane === now.livePane &&
    isDeepStrictEqual(snapshot.extra.openTwice, now.openTwice) &&
    isDeepStrictEqual(snapshot.why, now.why)
  );
}
