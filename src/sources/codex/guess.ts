import type { Process } from "../../probe/processes.ts";
import type { Described } from "./describe.ts";
import { threadOnCommandLine } from "./locks.ts";
import { metaOf, type Rollout } from "./rollouts.ts";

interface Parts {
  current: Rollout;
  described: Described;
}

type Threads = ReadonlyMap<string, Parts>;

/** A codex that is believed to run a thread, where no lock says it. */
export interface Guess {
  process: Process;
  /** In words. */
  evidence: string;
  /** Did it run when the thread was last written? A turn that was left open before is none of its. */
  mayHaveWritten: boolean;
}

/**
 * Who may run what where no lock says it (agents.md §2.5): a thread on a command line, else the newest older thread in
 * the process's folder that was written since it started. Where locks are written, a thread without one is not open.
 */
export function guessOwners(
  codexes: readonly Process[],
  threads: Threads,
  lockedRoots: ReadonlySet<string>,
): Map<string, Guess> {
  const found = new Map<string, Guess>();
  for (const process of codexes) {
    const named = threadOnCommandLine(process);
    const parts = named === null ? undefined : threads.get(named);
    if (named !== null && parts !== undefined) found.set(named, namedBy(process, parts));
    else {
      const thread = newestIn(process, threads, lockedRoots);
      if (thread === null) continue;
      const evidence = `process ${process.pid} is a codex in its folder, and this is the newest thread there`;
      found.set(thread, { process, evidence, mayHaveWritten: true });
    }
  }
  return found;
}

function namedBy(process: Process, parts: Parts): Guess {
  const mayHaveWritten = ranAt(process, writtenAt(parts));
  const since = mayHaveWritten ? "" : ", and started after it was last written";
  return { process, evidence: `process ${process.pid} has it on its command line${since}`, mayHaveWritten };
}

function newestIn(process: Process, threads: Threads, lockedRoots: ReadonlySet<string>): string | null {
  let newest: { thread: string; at: number } | null = null;
  for (const [thread, parts] of threads) {
    const { current, described } = parts;
    if (process.cwd === null || described.cwd !== process.cwd || described.kind !== "user") continue;
    if (metaOf(current)?.paginated === true || lockedRoots.has(current.root.path)) continue;
    const at = writtenAt(parts);
    if (ranAt(process, at) && (newest === null || at > newest.at)) newest = { thread, at };
  }
  return newest?.thread ?? null;
}

/** ms since 1970. */
function writtenAt({ current, described }: Parts): number {
  return described.updatedAt ?? current.folded.mtimeMs;
}

/** Had it started by then? Where its start is not known it may have. */
function ranAt({ startedAt }: Process, time: number): boolean {
  return startedAt == null || startedAt <= time;
}
