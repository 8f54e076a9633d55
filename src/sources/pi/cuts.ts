import { callsOf, kindOf, type PiFile, ROW } from "./file.ts";
import { isDead, openCalls } from "./tail.ts";
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

/** Of every row: prompts on the way to it, and calls on that way without results. */
interface Balance {
  prompts: number[];
  open: (readonly string[])[];
  /** How many of the file's calls and results are in it. */
  calls: number;
  results: number;
}

const known = new WeakMap<PiFile, Balance>();
const NONE: readonly string[] = [];

/** May a fork end just before this row? For pages, which ask for every row they show: counted once, then looked up. */
export function isForkable(file: PiFile, row: number): boolean {
  if ((kindOf(file, row) & ROW.user) === 0) return false;
  const parent = parentOf(file, row);
  if (parent < 0) return false;
  // A parent that was written behind its child is rare enough to be walked to.
  if (file.loose.length > 0) return cutBefore(file, row).ok;
  const { prompts, open } = balanceOf(file);
  return (prompts[parent] ?? 0) > 0 && open[parent]?.length === 0;
}

function balanceOf(file: PiFile): Balance {
  const balance = known.get(file) ?? { prompts: [], open: [], calls: 0, results: 0 };
  known.set(file, balance);
  for (let row = balance.prompts.length; row < file.ids.length; row += 1) {
    const parent = file.parents[row] ?? -1;
    const asks = (kindOf(file, row) & ROW.user) !== 0 ? 1 : 0;
    balance.prompts.push((balance.prompts[parent] ?? 0) + asks);
    balance.open.push(openAt(file, row, balance.open[parent] ?? NONE, balance));
  }
  return balance;
}

/** What is open behind a row, given what was before it; most rows change nothing. */
function openAt(file: PiFile, row: number, before: readonly string[], balance: Balance): readonly string[] {
  let open = before;
  for (; file.results[balance.results]?.row === row; balance.results += 1) {
    const answered = file.results[balance.results]?.id;
    open = open.filter((id) => id !== answered);
  }
  for (; file.calls[balance.calls]?.row === row; balance.calls += 1) {
    const id = file.calls[balance.calls]?.id ?? "";
    if (!isDead(file, row)) open = [...open, id];
  }
  return open;
}
