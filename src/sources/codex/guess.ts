import type { Process } from "../../probe/processes.ts";
import type { Described } from "./describe.ts";
import { threadOnCommandLine } from "./locks.ts";
import { metaOf, type Rollout } from "./rollouts.ts";

type Threads = ReadonlyMap<string, { current: Rollout; described: Described }>;

/**
 * Who may run what where no lock says it (agents.md §2.5): a thread on a command line, else the newest older thread in
 * the process's folder. Where locks are written, a thread without one is not open.
 */
export function guessOwners(
  codexes: readonly Process[],
  threads: Threads,
  lockedRoots: ReadonlySet<string>,
): Map<string, Process> {
  const found = new Map<string, Process>();
  for (const process of codexes) {
    const named = threadOnCommandLine(process);
    const thread = named !== null && threads.has(named) ? named : newestIn(process.cwd, threads, lockedRoots);
    if (thread !== null) found.set(thread, process);
  }
  return found;
}

function newestIn(cwd: string | null, threads: Threads, lockedRoots: ReadonlySet<string>): string | null {
  let newest: { thread: string; at: number } | null = null;
  for (const [thread, { current, described }] of threads) {
    if (cwd === null || described.cwd !== cwd || described.kind !== "user") continue;
    if (metaOf(current)?.paginated === true || lockedRoots.has(current.root.path)) continue;
    const at = described.updatedAt ?? current.folded.mtimeMs;
    if (newest === null || at > newest.at) newest = { thread, at };
  }
  return newest?.thread ?? null;
}
