import { randomInt } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
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

/** A small file's bytes, null when it is not there. Throws `CannotOpen` for what is no regular, readable file. */
export function readSmallFile(path: string): Buffer | null {
  try {
    using file = openRegular(path);
    return readFileSync(file.fd);
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return null;
    throw error;
  }
}

/** Its text, null when it is not there. */
export function readSmallText(path: string): string | null {
  return readSmallFile(path)?.toString("utf8") ?? null;
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
