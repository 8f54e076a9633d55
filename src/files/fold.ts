import { hash } from "node:crypto";
import { lstatSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { CannotOpen, fileWork, type OpenFailure, type OpenFile, openRegular } from "./open.ts";

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
  /** Offset of the last whole record, for a fold whose records may be long: all of it is guarded then, up to a cap. */
  lastRecordAt?(state: S): number;
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
  /** Hash of the last record or at least the last bytes before `offset`: an in-place rewrite, or a new file with a used inode, is noticed by it. */
  guard: string;
  state: S;
}

export type Advanced<S> =
  | { ok: true; folded: Folded<S>; changed: boolean }
  | { ok: false; kind: OpenFailure; message: string };

/** Records often end alike (`"dur_ms":1000}`): the piece is long enough to hold what tells them apart. */
const GUARD_BYTES = 1024;
/** Of a longer last record its beginning is guarded, where a header says what it is, and its end. */
const MOST_GUARD_BYTES = 64 * 1024;

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
    const intact = same && guardOf(fold, before.state, file, before.offset) === before.guard;
    const state = intact ? before.state : fold.initial();
    const bytes = remembering(file);
    const offset = yield* fold.advance(state, bytes, intact ? before.offset : 0);
    const guard = guardOf(fold, state, bytes, offset);
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

/** Answers from what was read last where it is in that: the end of a file is looked at more than once. */
function remembering(file: OpenFile): ByteSource {
  let last: { at: number; bytes: Buffer } = { at: 0, bytes: Buffer.alloc(0) };
  return {
    size: file.size,
    read(offset, length) {
      const from = offset - last.at;
      if (from < 0 || from + length > last.bytes.length) last = { at: offset, bytes: file.read(offset, length) };
      return last.bytes.subarray(offset - last.at, offset - last.at + length);
    },
    readInto: file.readInto,
  };
}

function guardOf<S>(fold: FileFold<S>, state: S, bytes: ByteSource, offset: number): string {
  if (offset === 0) return "";
  const tail = Math.max(0, offset - GUARD_BYTES);
  const from = Math.min(tail, fold.lastRecordAt?.(state) ?? tail);
  if (offset - from <= MOST_GUARD_BYTES) return hash("sha1", bytes.read(from, offset - from));
  return hash("sha1", bytes.read(from, MOST_GUARD_BYTES)) + hash("sha1", bytes.read(tail, offset - tail));
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
