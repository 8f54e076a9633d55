import type { HeldLock } from "./locks.ts";
import type { ProcessTable } from "./processes.ts";
import type { TmuxPanes } from "./tmux.ts";

/**
 * What is known of the machine at one moment, taken once a tick and shared by all sources.
 * A part that could not be had is null, with the reason in `failures`: statuses then say `unknown`, never `failed`.
 */
export interface Evidence {
  /** ms since 1970. */
  now: number;
  tmux: TmuxPanes | null;
  processes: ProcessTable | null;
  locks: HeldLock[] | null;
  failures: { probe: ProbeName; message: string }[];
}

/** What a source needs to see, so that nothing is probed that nobody asks for. */
export type ProbeName = "tmux" | "processes" | "locks";

export function noEvidence(now: number): Evidence {
  return { now, tmux: null, processes: null, locks: null, failures: [] };
}
