import type { Scenario, TimedBeat } from "../scenario.ts";

/** Plays the sessions of one tool into real files of its format. Another tool is another file and a line in `index.ts`. */
export interface Player {
  source: string;
  /** Begins a session below the demo's directory. Nothing has to be written before the first `flush`. */
  begin(session: Scenario, stage: Stage): PlayedSession;
  /** The directory to hand to the source as its root. */
  root(dir: string): string;
}

/** What the sessions of a demo share. */
export interface Stage {
  /** The demo's own directory, absolute. */
  dir: string;
  /** Programs the demo pretends are running; a session that runs enters itself. */
  processes: PretendedProcess[];
}

/** A row of the process table that stands in for the real one (`FORKTAIL_PROCESSES`). */
export interface PretendedProcess {
  pid: number;
  startTicks: string;
  comm: string;
  argv: string[];
  cwd: string;
  locksHeld: string[];
}

export interface PlayedSession {
  /** Takes in a beat; `time` is the clock on the wall. */
  play(timed: TimedBeat, time: Date): void;
  /** Writes what was taken in, each record whole. `backdate` sets the times of the files too. */
  flush(backdate: Date | null): Promise<void>;
}
