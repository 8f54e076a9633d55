import { type ByteSource, type Folded, runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { type FoldedLines, noFoldedLines } from "./folded-lines.ts";
import { linesForward } from "./line-windows.ts";

/** From this size on a file's head and end are shown before all of it has been read. */
export const BIG_FILE = 64 * 1024 * 1024;
/** How much of the end is read at first. */
export const FIRST_TAIL = 4 * 1024 * 1024;
const HEAD = 256 * 1024;

/** What a state has to have so that parts of a file can be folded into it. */
export interface PartialState extends FoldedLines {
  /** Where the end that was read begins; 0 when nothing was left out. */
  low: number;
}

/**
 * A state that knows a file's head (titles, folder) and its last `tail` bytes, so that the end of a file of any size
 * can be shown at once. Lines cannot be numbered across what was not read.
 */
export async function foldEnds<S extends PartialState>(
  path: string,
  tail: number,
  state: S,
  advance: (state: S, bytes: ByteSource, from: number) => Generator<void, number>,
): Promise<Folded<S>> {
  using file = openRegular(path);
  const { dev, ino, mtimeMs, birthtimeMs } = file.stat;
  const from = startOfLine(file, Math.max(0, file.size - tail));
  if (from > 0) {
    const head: ByteSource = { size: Math.min(HEAD, from), read: (offset, length) => file.read(offset, length) };
    await runSliced(advance(state, head, 0));
    Object.assign(state, noFoldedLines());
  }
  const offset = await runSliced(advance(state, file, from));
  state.low = from;
  return { path, dev, ino, size: file.size, mtimeMs, birthtimeMs, offset, guard: "", state };
}

/** The first place at or behind `offset` where a line begins. */
function startOfLine(file: ByteSource, offset: number): number {
  if (offset === 0) return 0;
  const first = linesForward(file, offset - 1, file.size).next();
  return first.done ? 0 : first.value.end;
}
