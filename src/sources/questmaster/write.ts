import { closeSync, constants, fstatSync, lstatSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { CannotOpen } from "../../files/open.ts";

/**
 * Replaces a file as questmaster does (questmaster.md §9): whole text to `<path>.tmp`, then rename. The caller holds the
 * file's lock, which is what makes the fixed name safe. No fsync: a hook must not make its agent wait for a disk.
 */
export function replaceUnderLock(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  const fd = openToWrite(temporary, constants.O_TRUNC);
  try {
    writeAll(fd, Buffer.from(text));
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
}

/** Appends one line; before that, a log of `most` bytes or more is moved to `<path>.1`, replacing the one before (questmaster.md §7). */
export function appendRotating(path: string, line: string, most: number): void {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= most) renameSync(path, `${path}.1`);
  const fd = openToWrite(path, constants.O_APPEND);
  try {
    writeAll(fd, Buffer.from(line));
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a regular file, making it when there is none: never through a link, and non-blocking, because a FIFO of that
 * name would keep us, and the lock with us, for ever (design §7.1).
 */
function openToWrite(path: string, how: number): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | how;
  const fd = openSync(path, flags, 0o644);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new CannotOpen("not-regular", path, `${path} is not a regular file: left alone`);
}

function writeAll(fd: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}
