import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";

/** Counts of work done, so that tests can assert what reading costs (never by time). */
export const fileWork = { opens: 0, bytesRead: 0, stats: 0 };

export type OpenFailure = "gone" | "not-regular" | "unreadable";

export class CannotOpen extends Error {
  override name = "CannotOpen";
  readonly kind: OpenFailure;
  readonly path: string;

  constructor(kind: OpenFailure, path: string, message: string) {
    super(message);
    this.kind = kind;
    this.path = path;
  }
}

/** A regular file opened for reading. Everything is read from the one descriptor that was checked. */
export interface OpenFile extends Disposable {
  fd: number;
  path: string;
  stat: Stats;
  /** File size at the time of opening, bytes. A fold never looks beyond it. */
  size: number;
  /** At most `length` bytes from `offset`; shorter only where the file is. */
  read(offset: number, length: number): Buffer;
  /** Fills `target` from `offset` on; returns how many bytes there were. */
  readInto(target: Buffer, offset: number): number;
}

/**
 * Opens as design §7.1 says: never through a symlink, never anything but a regular file, and
 * non-blocking, because a FIFO with a session's name would hang a plain open for ever.
 */
export function openRegular(path: string): OpenFile {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw openFailure(path, error);
  }
  fileWork.opens += 1;
  const stat = fstatSync(fd);
  if (!stat.isFile()) {
    closeSync(fd);
    throw new CannotOpen("not-regular", path, "not a regular file: left alone");
  }
  return {
    fd,
    path,
    stat,
    size: stat.size,
    read: (offset, length) => readAt(fd, offset, length),
    readInto: (target, offset) => fill(fd, target, offset),
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function openFailure(path: string, error: unknown): CannotOpen {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "ENOTDIR") return new CannotOpen("gone", path, "no such file");
  if (code === "ELOOP" || code === "ENXIO" || code === "EMLINK") {
    return new CannotOpen("not-regular", path, "a link or a special file: left alone");
  }
  if (code === "EACCES" || code === "EPERM") {
    return new CannotOpen("unreadable", path, "no permission to read it: change its mode or its owner");
  }
  return new CannotOpen("unreadable", path, `cannot be opened (${code || String(error)})`);
}

function readAt(fd: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  const got = fill(fd, buffer, offset);
  return got === length ? buffer : buffer.subarray(0, got);
}

/** Reads exactly what is there; a short read in the middle of a file is retried. */
function fill(fd: number, buffer: Buffer, offset: number): number {
  let got = 0;
  while (got < buffer.length) {
    const n = readSync(fd, buffer, got, buffer.length - got, offset + got);
    if (n === 0) break;
    got += n;
  }
  fileWork.bytesRead += got;
  return got;
}
