import { now } from "./clock.ts";
import type { Evidence, ProbeName } from "./evidence.ts";
import { heldLocks } from "./locks.ts";
import { processesFromFile, processesFromProc } from "./processes.ts";
import { listPanes } from "./tmux.ts";

/**
 * One look at the machine: only at what is asked for, each part at most once. Never throws; failures are in it. `before` saves
 * reading what cannot have changed since.
 */
export async function takeEvidence(
  needs: Iterable<ProbeName>,
  env: NodeJS.ProcessEnv,
  before: Evidence | null = null,
): Promise<Evidence> {
  const wanted = new Set(needs);
  const failures: Evidence["failures"] = [];
  const attempt = async <T>(probe: ProbeName, look: () => Promise<T>): Promise<T | null> => {
    if (!wanted.has(probe)) return null;
    try {
      return await look();
    } catch (error) {
      failures.push({ probe, message: error instanceof Error ? error.message : String(error) });
      return null;
    }
  };
  const given = env.FORKTAIL_PROCESSES;
  const [tmux, processes, locks] = await Promise.all([
    attempt("tmux", () => listPanes(2000, env)),
    attempt("processes", async () =>
      given ? processesFromFile(given) : processesFromProc("/proc", before?.processes),
    ),
    attempt("locks", () => heldLocks()),
  ]);
  return { now: now(env), tmux, processes, locks, failures };
}
