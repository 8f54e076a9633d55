import { closeSync, constants, openSync, renameSync, statSync, unlinkSync, writeSync } from "node:fs";

const REPLACING = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
const APPENDING = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * Replaces a file as questmaster does (questmaster.md §9): whole text to `<path>.tmp`, then rename. The caller holds the
 * file's lock, which is what makes the fixed name safe. No fsync: a hook must not make its agent wait for a disk.
 */
export function replaceUnderLock(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, REPLACING, 0o644);
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
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= most) renameSync(path, `${path}.1`);
  const fd = openSync(path, APPENDING, 0o644);
  try {
    writeAll(fd, Buffer.from(line));
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}
