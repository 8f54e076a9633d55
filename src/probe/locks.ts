import { readFile } from "node:fs/promises";

/** One lock the kernel knows of: who holds it, on which inode. */
export interface HeldLock {
  kind: "FLOCK" | "POSIX" | "OTHER";
  pid: number;
  device: string;
  inode: number;
}

/** All held locks from /proc/locks. Looking never takes a lock, so no starting program is refused because of us. */
export async function heldLocks(path = "/proc/locks"): Promise<HeldLock[]> {
  return parseLocks(await readFile(path, "utf8"));
}

/** proc(5): `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; waiters are marked `->` and hold nothing. */
export function parseLocks(text: string): HeldLock[] {
  const locks: HeldLock[] = [];
  for (const line of text.split("\n")) {
    const found = /^\d+:\s+(\S+)\s+\S+\s+\S+\s+(-?\d+)\s+([0-9a-f]+:[0-9a-f]+):(\d+)\s/iu.exec(line);
    if (!found) continue;
    const [, kind, pid, device, inode] = found;
    locks.push({
      kind: kind === "FLOCK" || kind === "POSIX" ? kind : "OTHER",
      pid: Number(pid),
      device: device ?? "",
      inode: Number(inode),
    });
  }
  return locks;
}

/** The flock on an inode, null when nobody holds one. */
export function flockOn(locks: readonly HeldLock[], inode: number): HeldLock | null {
  return locks.find((lock) => lock.kind === "FLOCK" && lock.inode === inode) ?? null;
}
