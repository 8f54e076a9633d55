import type { ByteSource } from "../../files/fold.ts";

const LF = 0x0a;
const BLOCK = 64 * 1024;

/** A whole line without its LF. */
export interface Line {
  offset: number;
  /** Offset behind its LF. */
  end: number;
  bytes: Buffer;
}

/**
 * The lines of [low, high) from the last to the first. `high` lies behind an LF. Reads backwards in blocks,
 * so the end of a file of any size costs what is shown of it.
 */
export function* linesBackward(bytes: ByteSource, low: number, high: number): Generator<Line> {
  let held: Buffer = Buffer.alloc(0);
  let heldFrom = high;
  let block = BLOCK;
  let end = high;
  while (end > low) {
    // The line that ends at `end` begins behind the LF before its own.
    const inHeld = end - 1 - heldFrom;
    const lf = inHeld > 0 ? held.lastIndexOf(LF, inHeld - 1) : -1;
    if (lf < 0 && heldFrom > low) {
      const from = Math.max(low, heldFrom - block);
      const more = bytes.read(from, heldFrom - from);
      if (more.length < heldFrom - from) return;
      held = Buffer.concat([more, held.subarray(0, end - heldFrom)]);
      heldFrom = from;
      block *= 2;
      continue;
    }
    const from = lf < 0 ? heldFrom : heldFrom + lf + 1;
    yield { offset: from, end, bytes: held.subarray(from - heldFrom, end - 1 - heldFrom) };
    end = from;
    block = BLOCK;
  }
}

/** The whole lines of [from, to), first to last; `from` is where a line begins. A line without LF is not whole. */
export function* linesForward(bytes: ByteSource, from: number, to: number): Generator<Line> {
  let held: Buffer = Buffer.alloc(0);
  let heldFrom = from;
  let at = from;
  let block = BLOCK;
  let searched = 0;
  for (;;) {
    const lf = held.indexOf(LF, searched);
    if (lf >= 0) {
      const end = heldFrom + lf + 1;
      yield { offset: at, end, bytes: held.subarray(at - heldFrom, lf) };
      at = end;
      searched = lf + 1;
      block = BLOCK;
      continue;
    }
    const next = heldFrom + held.length;
    if (next >= to) return;
    const more = bytes.read(next, Math.min(block, to - next));
    if (more.length === 0) return;
    const rest = held.subarray(at - heldFrom);
    searched = rest.length;
    held = rest.length === 0 ? more : Buffer.concat([rest, more]);
    heldFrom = at;
    block *= 2;
  }
}

/** The line that begins at `offset`, null when there is no whole one. */
export function lineAt(bytes: ByteSource, offset: number, to: number): Line | null {
  const first = linesForward(bytes, offset, to).next();
  return first.done ? null : first.value;
}
