import type { Daemon } from "./daemon.ts";
import type { LiveSession } from "./events.ts";
import { type Invocation, invocation } from "./invocation.ts";
import type { FeedState } from "./live.ts";
import type { Session } from "./session.ts";
import type { StateRow } from "./state-file.ts";
import { noSums, type TranscriptSums } from "./transcript-fold.ts";

/** What fell away from a transcript while we watched it: herrscher's own totals went down with it (herrscher.md §3). */
export interface FellAway {
  entries: number;
  /** US dollars and tokens at least: what was added by the same rewrite is not known. */
  cost: number;
  tokens: number;
}

/** What is known of the files of one name. */
export interface NameFiles {
  /** null where there is none, or none that can be read. */
  transcript: {
    path: string;
    ino: number;
    size: number;
    sums: TranscriptSums;
    dropped: { line: number; bytes: number }[];
    torn: { bytes: number; line: number } | null;
  } | null;
  participants: string[];
  fellAway: FellAway | null;
}

export const NO_FILES: NameFiles = { transcript: null, participants: [], fellAway: null };

/** Everything known of one row, for its snapshot, its documents and its actions. */
export interface RowFacts {
  row: StateRow;
  session: Session;
  invocation: Invocation;
  files: NameFiles;
  sums: TranscriptSums;
  /** Names of its cohort, itself included; one name when it is solo. */
  cohort: string[];
  cohortRoot: string;
  depth: number;
  children: string[];
  parentExists: boolean | null;
  drawnUnder: string | null;
  cohortSpent: { cost: number; tokens: number };
  /** Turns of the cohort that told nothing of their usage. */
  cohortSilent: number;
  /** null: the socket is being asked. */
  daemon: Daemon | null;
  /** Directory of the daemon, where the system shows it. */
  daemonCwd: string | null;
  live: LiveSession | null;
  feed: FeedState | null;
}

export function blankFacts(row: StateRow): RowFacts {
  return {
    row,
    session: row.session,
    invocation: invocation(row.session),
    files: NO_FILES,
    sums: noSums(),
    cohort: [row.session.name],
    cohortRoot: row.session.name,
    depth: 0,
    children: [],
    parentExists: null,
    drawnUnder: null,
    cohortSpent: { cost: 0, tokens: 0 },
    cohortSilent: 0,
    daemon: null,
    daemonCwd: null,
    live: null,
    feed: null,
  };
}

/** The directory of the bridge as the row says it, "" when it says none. */
export function shownDirectory(session: Session): string {
  return session.dir || session.worktree;
}
