import type { ByteSource } from "../../files/fold.ts";

const LF = 0x0a;
const EVERY = 256;

/** Where every 256th line begins: enough to number any line by reading at most 255 others. Plain data, for a fold's state. */
export interface LineOrdinals {
  /** Whole lines so far. */
  lines: number;
  marks: number[];
}

export function noLines(): LineOrdinals {
  return { lines: 0, marks: [] };
}

/** Takes in the next line, which begins at `offset`. */
export function countLine(index: LineOrdinals, offset: number): void {
  if (index.lines % EVERY === 0) index.marks.push(offset);
  index.lines += 1;
}

/** The line that was last numbered of an open file: pages ask line after line. */
const lastAsked = new WeakMap<ByteSource, { offset: number; ordinal: number }>();

/**
 * 1-based number of the line that begins at `offset`, null where the index does not reach. Counts from the nearest
 * known line: a mark, or the one asked for before, so that a page costs its own bytes, in either direction.
 */
export function ordinalOf(index: LineOrdinals, bytes: ByteSource, offset: number): number | null {
  let low = 0;
  let high = index.marks.length - 1;
  if (high < 0 || offset < (index.marks[0] ?? 0)) return null;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((index.marks[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const mark = { offset: index.marks[low] ?? 0, ordinal: low * EVERY + 1 };
  const last = lastAsked.get(bytes) ?? mark;
  const near = Math.abs(offset - last.offset) < offset - mark.offset ? last : mark;
  const between = linesBetween(bytes, Math.min(near.offset, offset), Math.max(near.offset, offset));
  if (between === null) return null;
  const ordinal = near.offset <= offset ? near.ordinal + between : near.ordinal - between;
  lastAsked.set(bytes, { offset, ordinal });
  return ordinal;
}

/** LFs in [from, to), null when the file is shorter. */
function linesBetween(bytes: ByteSource, from: number, to: number): number | null {
  let count = 0;
  for (let at = from; at < to; ) {
    const chunk = bytes.read(at, Math.min(256 * 1024, to - at));
    if (chunk.length === 0) return null;
    for (let lf = chunk.indexOf(LF); lf >= 0; lf = chunk.indexOf(LF, lf + 1)) count += 1;
    at += chunk.length;
  }
  return count;
}
