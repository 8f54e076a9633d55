import type { Folded } from "./fold.ts";

/** A fold's result without its state: what says whether the file is still the same. */
export type FoldedStamp = Omit<Folded<unknown>, "state">;

/** Where a state's JSON lies while nobody uses it: in memory as bytes, or in the index on disk. */
export interface StoredState {
  text(): string;
}

/**
 * A file as far as it was read, whose state is only an object while somebody uses it. Thousands of states as objects are
 * hundreds of megabytes; at rest they are where `stored` says. Whoever reads `state` gets the same object for as long as
 * anybody holds it.
 */
export class KeptFolded<S> implements Folded<S> {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  readonly offset: number;
  readonly guard: string;
  #stored: StoredState | null = null;
  #awake: { state: S } | null = null;
  #loose: WeakRef<S & object> | null = null;

  private constructor(stamp: FoldedStamp) {
    const { path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard } = stamp;
    this.path = path;
    this.dev = dev;
    this.ino = ino;
    this.size = size;
    this.mtimeMs = mtimeMs;
    this.birthtimeMs = birthtimeMs;
    this.offset = offset;
    this.guard = guard;
  }

  /** Holds its state as an object until `rest`. */
  static awake<S>(folded: Folded<S>): KeptFolded<S> {
    const kept = new KeptFolded<S>(folded);
    kept.#awake = { state: folded.state };
    return kept;
  }

  /** `stored` is the JSON of a state of this kind. */
  static stored<S>(stamp: FoldedStamp, stored: StoredState): KeptFolded<S> {
    const kept = new KeptFolded<S>(stamp);
    kept.#stored = stored;
    return kept;
  }

  get stamp(): FoldedStamp {
    const { path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard } = this;
    return { path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard };
  }

  get state(): S {
    if (this.#awake !== null) return this.#awake.state;
    const held = this.#loose?.deref();
    if (held !== undefined) return held;
    // Only JSON of our own comes here, of a state of this fold and version.
    const state = JSON.parse(this.text()) as S;
    this.#hold(state);
    return state;
  }

  /** The state as JSON. Of one that is awake, as it is now. */
  text(): string {
    if (this.#awake !== null) return JSON.stringify(this.#awake.state);
    if (this.#stored === null) throw new Error(`${this.path}: its state lies nowhere`);
    return this.#stored.text();
  }

  /** Nothing changes it in place. */
  get isResting(): boolean {
    return this.#awake === null;
  }

  /** From now on the state is read from there whenever somebody wants it. */
  rest(stored: StoredState): void {
    this.#stored = stored;
    if (this.#awake === null) return;
    this.#hold(this.#awake.state);
    this.#awake = null;
  }

  #hold(state: S): void {
    this.#loose = typeof state === "object" && state !== null ? new WeakRef(state) : null;
  }
}

/** JSON in memory, one byte a character where that is possible. */
export function storedInMemory(bytes: Uint8Array): StoredState {
  return { text: () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8") };
}

/**
 * A state as JSON, in memory of its own: Node's buffers are often views of far larger ones, which would be kept, and copied
 * to other threads, with them. That it could be resized takes it out of the heap of C, which after a thread is gone keeps
 * what was scattered in it (measured at 2,000 sessions: some 40 MB).
 */
export function stateBytes(text: string): Uint8Array<ArrayBuffer> {
  const length = Buffer.byteLength(text);
  const bytes = new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }));
  encoder.encodeInto(text, bytes);
  return bytes;
}

const encoder = new TextEncoder();
