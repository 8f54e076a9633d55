import { callsOf, kindOf, type PiFile, ROW } from "./file.ts";

export function parentOf(file: PiFile, row: number): number {
  const parent = file.parents[row] ?? -1;
  if (parent >= 0 || file.loose.length === 0) return parent;
  const loose = file.loose.find(([child]) => child === row);
  return loose !== undefined && Object.hasOwn(file.rows, loose[1]) ? (file.rows[loose[1]] ?? -1) : -1;
}

/** The rows from the root to this one, in order. A circle ends where it closes. */
export function pathTo(file: PiFile, leaf: number): number[] {
  const path: number[] = [];
  const seen = new Set<number>();
  for (let row = leaf; row >= 0 && !seen.has(row); row = parentOf(file, row)) {
    seen.add(row);
    path.push(row);
  }
  return path.reverse();
}

const known = new WeakMap<PiFile, { rows: number; path: number[] }>();

/** The branch that goes on: it ends with the file's last entry (agents.md §3.2). */
export function activePath(file: PiFile): number[] {
  const held = known.get(file);
  if (held !== undefined && held.rows === file.ids.length) return held.path;
  const path = pathTo(file, file.ids.length - 1);
  known.set(file, { rows: file.ids.length, path });
  return path;
}

interface Counts {
  human: number;
  assistant: number;
  toolCalls: number;
  compactions: number;
  summaries: number;
}

function countRows(file: PiFile, rows: Iterable<number>): Counts {
  const counts: Counts = { human: 0, assistant: 0, toolCalls: 0, compactions: 0, summaries: 0 };
  for (const row of rows) {
    const kind = kindOf(file, row);
    if ((kind & ROW.user) !== 0) counts.human += 1;
    if ((kind & ROW.says) !== 0) counts.assistant += 1;
    if ((kind & ROW.compaction) !== 0) counts.compactions += 1;
    if ((kind & ROW.summary) !== 0) counts.summaries += 1;
    counts.toolCalls += callsOf(kind);
  }
  return counts;
}

/** What is on the active branch, and what was left behind on others. */
export function branchCounts(file: PiFile): { active: Counts; abandoned: Counts } {
  const path = activePath(file);
  const on = new Set(path);
  const left = file.ids.map((_, row) => row).filter((row) => !on.has(row));
  return { active: countRows(file, path), abandoned: countRows(file, left) };
}

export interface LeftBranch {
  leaf: number;
  /** The row of the active branch it leaves, -1 when it begins at a root of its own. */
  leaves: number;
}

const MOST_BRANCHES = 200;

/** Branches besides the active one on which something was said, newest first. */
export function leftBranches(file: PiFile): LeftBranch[] {
  const on = new Set(activePath(file));
  const hasChild = new Set<number>();
  for (let row = 0; row < file.ids.length; row += 1) hasChild.add(parentOf(file, row));
  const found: LeftBranch[] = [];
  for (let leaf = file.ids.length - 1; leaf >= 0 && found.length < MOST_BRANCHES; leaf -= 1) {
    if (hasChild.has(leaf) || on.has(leaf)) continue;
    const own = pathTo(file, leaf).filter((row) => !on.has(row));
    if (!own.some((row) => (kindOf(file, row) & (ROW.user | ROW.assistant)) !== 0)) continue;
    found.push({ leaf, leaves: own[0] === undefined ? -1 : parentOf(file, own[0]) });
  }
  return found;
}

/**
 * What the model sees: the active branch, from the last compaction on its summary, the entries it kept and what came
 * after; entries that a `context_edit` took out are gone.
 */
export function contextRows(file: PiFile): number[] {
  const path = activePath(file);
  const on = new Set(path);
  const last = file.compactions.findLast((one) => on.has(one.row));
  let rows = path;
  if (last !== undefined) {
    const at = path.indexOf(last.row);
    const keptRow = last.kept === null || !Object.hasOwn(file.rows, last.kept) ? -1 : (file.rows[last.kept] ?? -1);
    const from = path.indexOf(keptRow);
    rows = [last.row, ...(from < 0 || from > at ? [] : path.slice(from, at)), ...path.slice(at + 1)];
  }
  const omitted = new Map<string, boolean>();
  for (const edit of file.edits) if (on.has(edit.row)) omitted.set(edit.target, edit.omits);
  return rows.filter((row) => SEEN & kindOf(file, row) && omitted.get(file.ids[row] ?? "") !== true);
}

const SEEN = ROW.user | ROW.assistant | ROW.result | ROW.bash | ROW.compaction | ROW.summary | ROW.injected;

/** Tokens the last reply of the active branch was made with; null when none was since the last compaction. */
export function contextUsed(file: PiFile): { used: number; provider: number; model: number } | null {
  const byRow = new Map(file.requests.map((request) => [request.row, request]));
  for (const row of activePath(file).toReversed()) {
    const kind = kindOf(file, row);
    if ((kind & ROW.compaction) !== 0) return null;
    const request = (kind & ROW.assistant) === 0 ? undefined : byRow.get(row);
    if (request === undefined) continue;
    const { input, cacheRead, cacheWrite, output, provider, model } = request;
    const used = input + cacheRead + cacheWrite + output;
    if (used > 0) return { used, provider, model };
  }
  return null;
}
