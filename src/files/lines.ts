import type { ByteSource } from "./fold.ts";

const CHUNK = 256 * 1024;
const LF = 0x0a;

/** Longest line that is looked at; a longer one is passed over and counted, whatever it claims to be. */
const MOST_LINE_BYTES = 256 * 1024 * 1024;

export interface LineWalk {
  /** A whole line without its LF, and the offset of its first byte. The buffer is only valid during the call. */
  line(bytes: Buffer, offset: number): void;
  /** A line above the cap. */
  oversize?(offset: number, length: number): void;
  /** The bytes after the last LF: a write in progress, or a torn tail. Never consumed: they are read again. */
  tail?(bytes: Buffer, offset: number): void;
}

/**
 * Walks whole lines from `from`, split on byte 0x0A only (U+2028 is legal inside a JSON string), and returns the
 * offset behind the last LF. Reads each byte once unless a line is longer than a chunk. Yields once a chunk.
 */
export function* walkLines(
  bytes: ByteSource,
  from: number,
  walk: LineWalk,
  mostLine = MOST_LINE_BYTES,
): Generator<void, number> {
  const chunks = new Chunks(bytes);
  try {
    return yield* walkChunks(chunks, from, walk, mostLine);
  } finally {
    chunks.close();
  }
}

/** Memory to read into, which is used again: gigabytes read in pieces of their own leave the process many times as large. */
let spare: Buffer | null = null;

class Chunks {
  readonly #bytes: ByteSource;
  #own: Buffer | null = null;

  constructor(bytes: ByteSource) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#bytes.size;
  }

  /** At most `length` bytes, valid until the next call. */
  read(offset: number, length: number): Buffer {
    const { readInto } = this.#bytes;
    if (readInto === undefined || length > CHUNK) return this.#bytes.read(offset, length);
    if (this.#own === null) {
      this.#own = spare ?? Buffer.allocUnsafeSlow(CHUNK);
      spare = null;
    }
    const target = this.#own.subarray(0, length);
    return target.subarray(0, readInto(target, offset));
  }

  close(): void {
    spare ??= this.#own;
    this.#own = null;
  }
}

function* walkChunks(bytes: Chunks, from: number, walk: LineWalk, mostLine: number): Generator<void, number> {
  let at = from;
  let held: Buffer = Buffer.alloc(0);
  let skippingFrom = -1;
  let next = from;
  // The cap holds wherever the chunks end, so that a file says the same however it was read.
  const hand = (line: Buffer, offset: number): void => {
    if (line.length > mostLine) walk.oversize?.(offset, line.length);
    else walk.line(line, offset);
  };
  while (next < bytes.size) {
    const chunk = bytes.read(next, Math.min(Math.max(CHUNK, held.length), bytes.size - next));
    if (chunk.length === 0) break;
    next += chunk.length;
    let start = 0;
    let end = chunk.indexOf(LF);
    if (end >= 0 && skippingFrom >= 0) {
      walk.oversize?.(skippingFrom, next - chunk.length + end - skippingFrom);
      skippingFrom = -1;
      start = end + 1;
      at = next - chunk.length + start;
      end = chunk.indexOf(LF, start);
    } else if (end >= 0 && held.length > 0) {
      hand(Buffer.concat([held, chunk.subarray(0, end)]), at);
      held = Buffer.alloc(0);
      start = end + 1;
      at = next - chunk.length + start;
      end = chunk.indexOf(LF, start);
    }
    while (end >= 0) {
      hand(chunk.subarray(start, end), at);
      at += end - start + 1;
      start = end + 1;
      end = chunk.indexOf(LF, start);
    }
    if (skippingFrom < 0 && start < chunk.length) {
      const rest = chunk.subarray(start);
      held = held.length > 0 ? Buffer.concat([held, rest]) : Buffer.from(rest);
      if (held.length > mostLine) {
        skippingFrom = at;
        held = Buffer.alloc(0);
      }
    }
    yield;
  }
  if (skippingFrom < 0 && held.length > 0) walk.tail?.(held, at);
  return at;
}
