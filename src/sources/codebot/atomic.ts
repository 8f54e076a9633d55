import { randomInt } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CannotOpen, openRegular } from "../../files/open.ts";

/**
 * Replaces a file as a whole: temporary name in the same directory (`.task-*.tmp` for tasks and rosters), then rename
 * (codebot.md §10). The directory is made when missing. Synchronous, so that nothing comes between a decision and its write.
 */
export function writeAtomically(path: string, text: string, options: { mode?: number; temporary?: string } = {}): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const temporary = options.temporary ?? join(directory, `.task-${randomInt(2 ** 32)}.tmp`);
  const exclusive = options.temporary === undefined ? constants.O_EXCL : constants.O_TRUNC;
  const fd = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | exclusive,
    options.mode ?? 0o644,
  );
  try {
    try {
      fchmodSync(fd, options.mode ?? 0o644);
      writeFileSync(fd, text);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
}

/** Larger than any plan, task or roster that a program writes, bytes. */
const MOST_SMALL = 16 * 1024 * 1024;

/**
 * A small file's bytes, null when it is not there. Throws `CannotOpen` for what is no regular, readable file, and for
 * one that is too large before anything is allocated for it.
 */
export function readSmallFile(path: string): Buffer | null {
  try {
    using file = openRegular(path);
    if (file.size > MOST_SMALL) {
      throw new CannotOpen("unreadable", path, `too large to be read: ${file.size} bytes, at most ${MOST_SMALL} are`);
    }
    return file.read(0, file.size);
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return null;
    if (error instanceof CannotOpen || !(error instanceof Error && "code" in error)) throw error;
    throw new CannotOpen("unreadable", path, `cannot be read (${String(error.code)})`);
  }
}

/** Its text, null when it is not there. */
export function readSmallText(path: string): string | null {
  return readSmallFile(path)?.toString("utf8") ?? null;
}

/**
 * Appends whole lines, making directory and file when missing. A last line that a crash left without its LF is ended
 * first, so that it does not swallow the next one.
 */
export function appendLines(path: string, lines: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, 0o644);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new CannotOpen("not-regular", path, "not a regular file: left alone");
    writeFileSync(fd, endsLine(fd, stat.size) ? lines : `\n${lines}`);
  } finally {
    closeSync(fd);
  }
}

function endsLine(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}

/** Removes a file; false when it was not there. */
export function removeIfThere(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
