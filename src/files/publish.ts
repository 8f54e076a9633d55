import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The destination was there already. It was not touched. */
export class AlreadyExists extends Error {
  override name = "AlreadyExists";
  readonly path: string;
  constructor(path: string) {
    super(`${path} is there already; it was not touched`);
    this.path = path;
  }
}

export interface PublishOptions {
  mode?: number;
  /** Looks at the finished file under its temporary name; a throw takes everything back. */
  verify?: (temporary: string) => Promise<void> | void;
}

/**
 * Makes a new file that is complete before anybody can see it under its name: temporary name in the same directory,
 * fsync, verify, then link(2), which unlike rename never overwrites. After a failure nothing is left;
 * after kill -9 at most a dot-file that no tool takes for a session.
 */
export async function publishNew(
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: PublishOptions = {},
): Promise<void> {
  const mode = options.mode ?? 0o644;
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  const file = await open(temporary, "wx", mode);
  try {
    try {
      for await (const chunk of chunks) await writeAll(file, chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await options.verify?.(temporary);
    await linkNew(temporary, path);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
  await syncDirectory(dirname(path));
}

async function linkNew(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EEXIST") throw new AlreadyExists(path);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "EMLINK") throw error;
    // A file system without hard links: still exclusive, though not all at once.
    await copyFile(temporary, path, constants.COPYFILE_EXCL).catch((failure: unknown) => {
      if (failure instanceof Error && "code" in failure && failure.code === "EEXIST") throw new AlreadyExists(path);
      throw failure;
    });
  }
}

/**
 * Replaces a file of our own as a whole: temporary name, fsync, rename. Readers see the old or the new, never a mixture.
 * `durable: false` spares the fsync, for what a crash of the machine may take.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array | string | AsyncIterable<Uint8Array>,
  options: { mode?: number; temporary?: string; durable?: boolean } = {},
): Promise<void> {
  const temporary =
    options.temporary ?? join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  const file = await open(temporary, "w", options.mode ?? 0o644);
  try {
    try {
      if (typeof bytes === "string") await writeAll(file, Buffer.from(bytes));
      else if (bytes instanceof Uint8Array) await writeAll(file, bytes);
      else for await (const chunk of bytes) await writeAll(file, chunk);
      if (options.durable !== false) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done);
    done += bytesWritten;
  }
}

async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch {
    // Some file systems refuse to sync a directory; the file itself is safe.
  }
}

/** The bytes [from, to) of an open file, in pieces, for `publishNew`. Throws when the file is shorter. */
export async function* rangeOf(file: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array> {
  let at = from;
  while (at < to) {
    const piece = Buffer.allocUnsafe(Math.min(1024 * 1024, to - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error("the file became shorter while it was copied");
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}
