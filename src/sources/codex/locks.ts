import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import type { Evidence } from "../../probe/evidence.ts";
import { flockOn } from "../../probe/locks.ts";
import { openTwice } from "../../probe/open-twice.ts";
import type { Process } from "../../probe/processes.ts";
import { THREAD_ID } from "./rollout-name.ts";

export const LOCK_DIRECTORY = "thread-writer-locks";

/** The file a running codex holds a flock on while a thread is open in it (agents.md §2.5). Only looked at, never opened. */
export function lockPath(root: string, thread: string): string {
  return join(root, LOCK_DIRECTORY, `${thread}.lock`);
}

/** The thread a lock file is for, null when it is none. */
export function lockedThread(name: string): string | null {
  const thread = name.endsWith(".lock") ? name.slice(0, -5) : "";
  return THREAD_ID.test(thread) ? thread : null;
}

/** The inode of a lock file, null when there is none. */
export function lockInode(path: string): number | null {
  try {
    const stat = lstatSync(path);
    return stat.isFile() ? stat.ino : null;
  } catch {
    return null;
  }
}

export interface Holder {
  held: "yes" | "no" | "unknown";
  pid: number | null;
  process: Process | null;
  /** In words. */
  why: string;
}

/** Who holds a thread's lock: a table of processes that says so, else the kernel's list. A lock file alone says nothing. */
export function holderOf(path: string, inode: number | null, evidence: Evidence): Holder {
  const named = evidence.processes?.all.find((one) => one.locksHeld.some((lock) => isSamePath(path, lock)));
  if (named !== undefined) return held(named.pid, named);
  if (inode === null) return { held: "no", pid: null, process: null, why: "no process has a lock on it" };
  if (evidence.locks === null) {
    return { held: "unknown", pid: null, process: null, why: "locks cannot be looked at" };
  }
  const lock = flockOn(evidence.locks, inode);
  if (lock === null) return { held: "no", pid: null, process: null, why: `nobody holds ${basename(path)}` };
  return held(lock.pid, evidence.processes?.byPid.get(lock.pid) ?? null);
}

function held(pid: number, process: Process | null): Holder {
  const server =
    process?.argv.includes("app-server") === true ? " (an app server holds the locks of all its threads)" : "";
  return { held: "yes", pid, process, why: `process ${pid} holds its lock${server}` };
}

/** A table given by a file may name locks relative to where it lies. */
function isSamePath(path: string, named: string): boolean {
  return path === named || (!named.startsWith("/") && path.endsWith(`/${named}`));
}

/** Is this a codex, native or by its npm launcher? */
export function isCodex(process: Process): boolean {
  if (process.comm === "codex") return true;
  const [program, script] = process.argv;
  if (program !== undefined && basename(program) === "codex") return true;
  return script !== undefined && /(?:^|\/)codex(?:\.[cm]?js)?$/u.test(script);
}

/**
 * Where a thread is open twice: by who holds its lock, and by who has it on the command line and holds no lock of
 * another thread. Empty when it is not, or nobody can tell.
 */
export function openedTwice(
  thread: string,
  holder: Holder,
  lockInodes: ReadonlySet<number>,
  evidence: Evidence,
): string[] {
  if (evidence.processes === null) return [];
  const isElsewhere = ({ pid, locksHeld }: Process): boolean =>
    locksHeld.length > 0 || evidence.locks?.some((lock) => lock.pid === pid && lockInodes.has(lock.inode)) === true;
  const named = evidence.processes.all.filter(
    (one) => one.pid !== holder.pid && isCodex(one) && threadOnCommandLine(one) === thread && !isElsewhere(one),
  );
  return openTwice(holder.process === null ? named : [holder.process, ...named], evidence.processes);
}

/** The thread on a command line: `codex resume <id>`. */
export function threadOnCommandLine(process: Process): string | null {
  const at = process.argv.indexOf("resume");
  const id = at < 0 ? undefined : process.argv[at + 1];
  return id !== undefined && THREAD_ID.test(id) ? id : null;
}
