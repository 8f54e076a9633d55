import type { ByteSource } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import type { Damage } from "../../session/snapshot.ts";
import { countLine, type LineOrdinals, noLines } from "./line-ordinals.ts";
import { isBlankLine } from "./record.ts";

const MOST_BAD_LINES = 20;

/** What a fold's state knows of the lines it was made of, whatever they say. Plain data. */
export interface FoldedLines {
  ordinals: LineOrdinals;
  /** Lines that are no record: the first of them by number, and how many there are. */
  bad: { lines: number[]; count: number };
  /** Bytes behind the last LF. */
  torn: number;
}

export function noFoldedLines(): FoldedLines {
  return { ordinals: noLines(), bad: { lines: [], count: 0 }, torn: 0 };
}

/**
 * Walks the lines from `from` on and keeps account of them: their places, those too long to look at or refused by
 * `take`, the unfinished end. `take` says whether a line was a record; a blank one that is not is no damage.
 */
export function* foldLines(
  state: FoldedLines,
  bytes: ByteSource,
  from: number,
  take: (line: Buffer, offset: number) => boolean,
): Generator<void, number> {
  state.torn = 0;
  return yield* walkLines(bytes, from, {
    line: (line, offset) => {
      if (!take(line, offset) && !isBlankLine(line)) noteBad(state);
      countLine(state.ordinals, offset);
    },
    oversize: (offset) => {
      noteBad(state);
      countLine(state.ordinals, offset);
    },
    tail: (tail) => {
      state.torn = isBlankLine(tail) ? 0 : tail.length;
    },
  });
}

function noteBad({ bad, ordinals }: FoldedLines): void {
  bad.count += 1;
  if (bad.lines.length < MOST_BAD_LINES) bad.lines.push(ordinals.lines + 1);
}

/** What is wrong with a file's lines (design §4, `damage`). */
export function lineDamage({ bad, torn }: FoldedLines): Damage[] {
  const damage: Damage[] = bad.lines.map((line) => ({ kind: "bad-line", bytes: null, line }));
  const more = bad.count - bad.lines.length;
  if (more > 0) damage.push({ kind: `bad-lines: ${more} more`, bytes: null, line: null });
  if (torn > 0) damage.push({ kind: "torn-tail", bytes: torn, line: null });
  return damage;
}
