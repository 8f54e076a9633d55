import { callsOf, kindOf, type PiFile, ROW } from "./file.ts";
import { openCalls } from "./tail.ts";
import { activePath, parentOf, pathTo } from "./tree.ts";

export type Cut =
  | {
      ok: true;
      /** Rows of the copy, root first. */
      path: number[];
      /** Does it end with a finished turn? */
      over: boolean;
    }
  | { ok: false; reason: string };

/** Where a copy may end: before a prompt, after whole turns (agents.md §8). `row` null: the whole active branch. */
export function cutBefore(file: PiFile, row: number | null): Cut {
  if (row === null) return healthy(file, activePath(file));
  const kind = kindOf(file, row);
  if ((kind & ROW.user) === 0) return { ok: false, reason: whyNot(kind) };
  return healthy(file, pathTo(file, parentOf(file, row)));
}

function whyNot(kind: number): string {
  if ((kind & ROW.result) !== 0) return "the call before it would be left without its result";
  if ((kind & ROW.assistant) !== 0) return "the prompt before it would be left without its answer";
  return "a fork ends before a prompt: choose one";
}

function healthy(file: PiFile, path: number[]): Cut {
  const prompt = path.some((row) => (kindOf(file, row) & ROW.user) !== 0);
  if (!prompt) return { ok: false, reason: "nothing was said before it: start a new session instead" };
  if (openCalls(file, path).length > 0) return { ok: false, reason: "a call would be left without its result" };
  const last = path.findLast((row) => (kindOf(file, row) & (ROW.user | ROW.assistant | ROW.bash)) !== 0) ?? -1;
  const kind = kindOf(file, last);
  return { ok: true, path, over: (kind & ROW.user) === 0 && callsOf(kind) === 0 };
}

const known = new WeakMap<PiFile, { rows: number; can: Map<number, boolean> }>();

/** May a fork end just before this row? For pages, which ask for every row they show. */
export function isForkable(file: PiFile, row: number): boolean {
  if ((kindOf(file, row) & ROW.user) === 0) return false;
  let held = known.get(file);
  if (held === undefined || held.rows !== file.ids.length) {
    held = { rows: file.ids.length, can: new Map() };
    known.set(file, held);
  }
  const before = held.can.get(row);
  if (before !== undefined) return before;
  const can = cutBefore(file, row).ok;
  held.can.set(row, can);
  return can;
}
