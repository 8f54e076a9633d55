import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openRegular } from "../../files/open.ts";
import { flockOn, type HeldLock } from "../../probe/locks.ts";
import type { ProcessTable } from "../../probe/processes.ts";

/** What the daemon's lock file says (herrscher.md §7). It stays after the daemon's end, with the old pid. */
export interface LockFile {
  path: string;
  inode: number;
  /** What it holds, null when that is not a number. */
  pid: number | null;
}

/** `.` + base name of the state file + `.lock`, beside it. */
export function lockFilePath(statePath: string): string {
  return join(dirname(statePath), `.${basename(statePath)}.lock`);
}

/** The lock file, null when there is none that is a regular file. Never opened for writing, never locked. */
export function readLockFile(statePath: string): LockFile | null {
  const path = lockFilePath(statePath);
  try {
    using file = openRegular(path);
    const text = file.read(0, Math.min(32, file.size)).toString("latin1").trim();
    const pid = /^[1-9][0-9]{0,9}$/u.test(text) ? Number(text) : null;
    return { path, inode: file.stat.ino, pid };
  } catch {
    return null;
  }
}

/** What changes when a lock file appears or is replaced, without opening it. */
export function lockFileInode(statePath: string): number | null {
  return lstatSync(lockFilePath(statePath), { throwIfNoEntry: false })?.ino ?? null;
}

export interface LockState {
  /** null: there is a lock file, but the system does not show who holds it. */
  held: boolean | null;
  /** Of the holder when held, else what the file says. */
  pid: number | null;
  /** null: not known. */
  pidAlive: boolean | null;
}

/** Is the lock held? Looked up by the file's inode in the kernel's table; a table given by a file may name its path. */
export function lockState(
  lock: LockFile | null,
  locks: readonly HeldLock[] | null,
  processes: ProcessTable | null,
): LockState {
  if (lock === null) return { held: false, pid: null, pidAlive: null };
  const named = processes?.all.find((one) => one.locksHeld.includes(lock.path)) ?? null;
  if (named !== null) return { held: true, pid: named.pid, pidAlive: true };
  const pidAlive = lock.pid === null ? null : isAlive(lock.pid);
  if (locks === null) return { held: null, pid: lock.pid, pidAlive };
  const holder = flockOn(locks, lock.inode);
  if (holder === null) return { held: false, pid: lock.pid, pidAlive };
  return { held: true, pid: holder.pid > 0 ? holder.pid : lock.pid, pidAlive: true };
}

/** Signal 0 tells without disturbing; not being allowed to send it means alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
