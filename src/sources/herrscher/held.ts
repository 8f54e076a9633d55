import { join } from "node:path";
import { type HeldLock, heldLocks } from "../../probe/locks.ts";
import { askWorld, judgeDaemon } from "./daemon.ts";
import { lockState, readLockFile } from "./lock-file.ts";
import { socketPaths } from "./sockets.ts";
import { readStateFile, type StateContent } from "./state-file.ts";

/** A daemon holds the root: it keeps the whole state in memory, and its next save would overwrite ours (herrscher.md §10). */
export class DaemonHoldsRoot extends Error {
  override name = "DaemonHoldsRoot";
  readonly root: string;
  readonly pid: number | null;
  constructor(root: string, pid: number | null, why: readonly string[]) {
    super(
      `a herrscher daemon holds ${root} (${why.join("; ")}): nothing was written. Use its command socket, or stop it`,
    );
    this.root = root;
    this.pid = pid;
  }
}

export interface WriteOptions {
  /** Where the sockets are (`TMPDIR`); the process's own by default. */
  env?: NodeJS.ProcessEnv;
  /** The held locks of the machine, null where they cannot be had; `/proc/locks` by default. */
  locks?: () => Promise<HeldLock[] | null>;
  /** The state file, when it is not `state.json` in the root. */
  statePath?: string;
}

/** Throws {@link DaemonHoldsRoot} unless it is certain that no daemon runs on the root. */
export async function refuseIfHeld(root: string, options: WriteOptions = {}): Promise<void> {
  const statePath = options.statePath ?? join(root, "state.json");
  const locks = await (options.locks ?? machineLocks)();
  const file = readLockFile(statePath);
  const lock = lockState(file, locks, null);
  if (lock.held === true) throw new DaemonHoldsRoot(root, lock.pid, ["its lock is held"]);
  const content = contentIfReadable(statePath);
  if (content === null && file === null) return; // No daemon has ever been here.
  const paths = socketPaths(options.env ?? process.env, content?.instanceID ?? "");
  const answer = await askWorld(paths?.command ?? null, () => contentIfReadable(statePath)?.rows ?? []);
  const daemon = judgeDaemon(lock, file !== null, answer);
  if (daemon.state !== "down") throw new DaemonHoldsRoot(root, daemon.pid, daemon.why);
}

function contentIfReadable(statePath: string): StateContent | null {
  try {
    return readStateFile(statePath);
  } catch {
    return null;
  }
}

async function machineLocks(): Promise<HeldLock[] | null> {
  return heldLocks().catch(() => null);
}
