import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Folded } from "./fold.ts";

/** A fold's result without its state: what says whether the file is still the same. */
export type FoldedStamp = Omit<Folded<unknown>, "state">;

/** From this size on packed states are compressed: below, the way there and back costs more than the bytes. */
const COMPRESS_FROM = 4096;
const ZSTD_MAGIC = 0xfd2fb528;

/**
 * A file as far as it was read, its state packed (JSON, compressed) while nobody uses it: thousands of states in memory
 * cost a fifth of what they are as objects. Whoever reads `state` gets the same object for as long as anybody holds it.
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
  #packed: Uint8Array | null = null;
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

  /** `packed` is what `pack` of a state of this kind gave. */
  static packed<S>(stamp: FoldedStamp, packed: Uint8Array): KeptFolded<S> {
    const kept = new KeptFolded<S>(stamp);
    kept.#packed = packed;
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
    if (this.#packed === null) throw new Error(`${this.path}: its state was let go without being packed`);
    const state = unpackState<S>(this.#packed);
    this.#hold(state);
    return state;
  }

  /** The state in few bytes, for the index and for other threads. */
  pack(): Uint8Array {
    this.#packed ??= packState(this.state);
    return this.#packed;
  }

  /** From now on the state is packed unless somebody uses it. */
  rest(): void {
    if (this.#awake === null) return;
    this.pack();
    this.#hold(this.#awake.state);
    this.#awake = null;
  }

  #hold(state: S): void {
    this.#loose = typeof state === "object" && state !== null ? new WeakRef(state) : null;
  }
}

/**
 * A fold's state is plain JSON data, so this loses nothing. The bytes have memory of their own, exactly as much as they
 * are: Node's buffers are often views of far larger ones, which would be kept, and copied to other threads, with them.
 */
export function packState(state: unknown): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(state));
  if (json.length < COMPRESS_FROM) return new Uint8Array(json);
  return new Uint8Array(zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }));
}

/** Throws when the bytes are not what `packState` makes. */
export function unpackState<S>(packed: Uint8Array): S {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const compressed = bytes.length >= 4 && bytes.readUInt32LE(0) === ZSTD_MAGIC;
  const json = compressed ? zstdDecompressSync(bytes) : bytes;
  // Only our own bytes come here: from memory, or from an index whose checksum and version were right.
  return JSON.parse(json.toString("utf8")) as S;
}
