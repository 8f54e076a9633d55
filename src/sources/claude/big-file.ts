import { type ByteSource, type Folded, runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { linesForward } from "../jsonl/line-windows.ts";
import { type ClaudeFile, newClaudeFile } from "./file.ts";
import { advanceClaude } from "./fold.ts";

/** From this size on a file's head and end are shown before all of it has been read. */
export const BIG_FILE = 64 * 1024 * 1024;
const HEAD = 256 * 1024;
/** How much of the end is read at first. */
export const FIRST_TAIL = 4 * 1024 * 1024;

/** A state that knows the head (titles, folder) and the last `tail` bytes of a file; `low` says where the end begins. */
export async function foldEnds(path: string, tail: number): Promise<Folded<ClaudeFile>> {
  using file = openRegular(path);
  const { dev, ino, mtimeMs, birthtimeMs } = file.stat;
  const state = newClaudeFile();
  const from = startOfLine(file, Math.max(0, file.size - tail));
  if (from > 0) {
    const head: ByteSource = { size: Math.min(HEAD, from), read: (offset, length) => file.read(offset, length) };
    await runSliced(advanceClaude(state, head, 0));
    state.bad = { lines: [], count: 0 };
    // Lines cannot be numbered across what was not read.
    state.ordinals = { lines: 0, marks: [] };
  }
  const offset = await runSliced(advanceClaude(state, file, from));
  state.low = from;
  return { path, dev, ino, size: file.size, mtimeMs, birthtimeMs, offset, guard: "", state };
}

/** The first place at or behind `offset` where a line begins. */
function startOfLine(file: ByteSource, offset: number): number {
  if (offset === 0) return 0;
  const first = linesForward(file, offset - 1, file.size).next();
  return first.done ? 0 : first.value.end;
}
