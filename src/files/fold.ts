import { hash } from "node:crypto";
import { lstatSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { CannotOpen, fileWork, type OpenFailure, openRegular } from "./open.ts";

/** What a fold reads from: an open file, or bytes in a test. Never longer than `size`. */
export interface ByteSource {
  size: number;
  read(offset: number, length: number): Buffer;
  /** Reads into memory that the caller has already; returns how many bytes there were. */
  readInto?(target: Buffer, offset: number): number;
}

/**
 * How a format is read: a pure fold over its bytes. `state` is plain JSON data, so it can be cached on disk and
 * computed in a worker. An append of k bytes costs O(k): `advance` starts where the last one ended.
 */
export interface FileFold<S> {
  /** Unique among all sources; with `version` it names a cached state. */
  name: string;
  /** Raise it when the state's shape or meaning changes: cached states of other versions are dropped. */
  version: number;
  initial(): S;
  /**
   * Takes in every whole record from `from` on, changing `state` in place, and returns the offset behind the last
   * whole one. Bytes behind it (a write in progress) are read again next time and never kept: the writer may
   * cut them and write others of the same length. Yields about once per 256 KiB.
   */
  advance(state: S, bytes: ByteSource, from: number): Generator<void, number>;
}

/** A file as far as it has been read. Plain data. */
export interface Folded<S> {
  path: string;
  dev: number;
  ino: number;
  size: number;
  mtimeMs: number;
  birthtimeMs: number;
  /** End of the last whole record. */
  offset: number;
  /** Hash of the last bytes before `offset`: an in-place rewrite, or a new file with a used inode, is noticed by it. */
  guard: string;
  state: S;
}

export type Advanced<S> =
  | { ok: true; folded: Folded<S>; changed: boolean }
  | { ok: false; kind: OpenFailure; message: string };

/** Records often end alike (`"dur_ms":1000}`): the piece is long enough to hold what tells them apart. */
const GUARD_BYTES = 1024;

/**
 * Brings `before` up to date with the file: O(new bytes) when it only grew, from the start when it was replaced,
 * shrank below what was read, or was rewritten in place.
 */
export function* advanceFile<S>(
  fold: FileFold<S>,
  path: string,
  before: Folded<S> | null,
): Generator<void, Advanced<S>> {
  try {
    using file = openRegular(path);
    const { dev, ino, mtimeMs, birthtimeMs } = file.stat;
    const same = before !== null && before.dev === dev && before.ino === ino && file.size >= before.offset;
    if (same && before.size === file.size && before.mtimeMs === mtimeMs) {
      return { ok: true, folded: before, changed: false };
    }
    const intact = same && guardAt(file, before.offset) === before.guard;
    const state = intact ? before.state : fold.initial();
    const offset = yield* fold.advance(state, file, intact ? before.offset : 0);
    const guard = guardAt(file, offset);
    return {
      ok: true,
      changed: true,
      folded: { path, dev, ino, size: file.size, mtimeMs, birthtimeMs, offset, guard, state },
    };
  } catch (error) {
    if (error instanceof CannotOpen) return { ok: false, kind: error.kind, message: error.message };
    throw error;
  }
}

function guardAt(bytes: ByteSource, offset: number): string {
  const length = Math.min(GUARD_BYTES, offset);
  return length === 0 ? "" : hash("sha1", bytes.read(offset - length, length));
}

/** Whether a file is as it was when it was folded: one system call, and nothing is opened. */
export function isUnchanged(before: Folded<unknown>): boolean {
  fileWork.stats += 1;
  const stats = lstatSync(before.path, { throwIfNoEntry: false });
  return (
    stats?.isFile() === true &&
    stats.dev === before.dev &&
    stats.ino === before.ino &&
    stats.size === before.size &&
    stats.mtimeMs === before.mtimeMs
  );
}

/** Runs a fold to its end at once: for tests, workers and one-shot commands. */
export function runNow<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Runs a fold in slices of at most `sliceMs`, so that a key pressed meanwhile is answered. */
export async function runSliced<T>(work: Generator<void, T>, sliceMs = 8): Promise<T> {
  let until = performance.now() + sliceMs;
  let step = work.next();
  while (!step.done) {
    if (performance.now() >= until) {
      await setImmediate();
      until = performance.now() + sliceMs;
    }
    step = work.next();
  }
  return step.value;
}

/** Bytes in memory as a source: what tests and prefixes read from. */
export function bytesOf(buffer: Buffer): ByteSource {
  return {
    size: buffer.length,
    read: (offset, length) => buffer.subarray(offset, Math.min(buffer.length, offset + length)),
  };
}
