import { type ClaudeFile, callsOf, kindOf, ROW } from "./file.ts";

/** 1 for every row that is on the branch. */
export type Branch = Uint8Array;

const known = new WeakMap<ClaudeFile, { rows: number; leaf: number; branch: Branch }>();

/** The branch that goes on now: from the last row of the main chain to its root (agents.md §1.3). */
export function activeBranch(file: ClaudeFile): Branch {
  const rows = file.parents.length;
  const held = known.get(file);
  if (held !== undefined && held.rows === rows && held.leaf === file.leaf) return held.branch;
  const branch = branchTo(file, file.leaf);
  known.set(file, { rows, leaf: file.leaf, branch });
  return branch;
}

/**
 * The branch that ends with `leaf`. Answers of calls made at once, and further blocks of a message, hang beside
 * the chain on rows of it: they belong to it. `before`: rows from this one on are left out.
 */
export function branchTo(file: ClaudeFile, leaf: number, before = file.parents.length): Branch {
  const branch = new Uint8Array(file.parents.length);
  for (let row = leaf; row >= 0 && branch[row] === 0; row = parentOf(file, row)) branch[row] = 1;
  for (let row = 0; row < before; row += 1) {
    if (branch[row] === 1) continue;
    const parent = file.parents[row] ?? -1;
    if (parent < 0 || branch[parent] !== 1) continue;
    const message = file.messages[row] ?? -1;
    const goesOn = message >= 0 && message === file.messages[parent];
    if (goesOn || (kindOf(file, row) & ROW.result) !== 0) branch[row] = 1;
  }
  return branch;
}

export function parentOf(file: ClaudeFile, row: number): number {
  const parent = file.parents[row] ?? -1;
  if (parent >= 0 || file.loose.length === 0) return parent;
  const loose = file.loose.find(([child]) => child === row);
  if (loose === undefined || !Object.hasOwn(file.rows, loose[1])) return -1;
  return file.rows[loose[1]] ?? -1;
}

export interface BranchCounts {
  human: number;
  assistant: number;
  toolCalls: number;
  compactions: number;
}

/** Prompts, distinct replies and calls of the rows that `counts` says yes to. */
function countRows(file: ClaudeFile, counts: (row: number) => boolean): BranchCounts {
  const replies = new Set<number>();
  let human = 0;
  let toolCalls = 0;
  let compactions = 0;
  for (let row = 0; row < file.parents.length; row += 1) {
    if (!counts(row)) continue;
    const kind = kindOf(file, row);
    if ((kind & ROW.prompt) !== 0) human += 1;
    if ((kind & ROW.boundary) !== 0) compactions += 1;
    if ((kind & ROW.assistant) !== 0 && (kind & ROW.synthetic) === 0) {
      replies.add(file.messages[row] ?? -1);
      toolCalls += callsOf(kind);
    }
  }
  return { human, assistant: replies.size, toolCalls, compactions };
}

/** What is on the active branch, and what was left behind on others. */
export function branchCounts(file: ClaudeFile): { active: BranchCounts; abandoned: BranchCounts } {
  const branch = activeBranch(file);
  const main = (row: number): boolean => (kindOf(file, row) & ROW.sidechain) === 0;
  return {
    active: countRows(file, (row) => branch[row] === 1),
    abandoned: countRows(file, (row) => branch[row] === 0 && main(row)),
  };
}

/** A branch that was left: its last row, and the row where it leaves the active one. */
export interface LeftBranch {
  leaf: number;
  leaves: number;
}

/** Branches besides the active one that hold a prompt or a reply of their own, newest first. */
export function leftBranches(file: ClaudeFile): LeftBranch[] {
  const active = activeBranch(file);
  const hasChild = new Uint8Array(file.parents.length);
  for (let row = 0; row < file.parents.length; row += 1) {
    const parent = parentOf(file, row);
    if (parent >= 0) hasChild[parent] = 1;
  }
  const found: LeftBranch[] = [];
  for (let leaf = file.parents.length - 1; leaf >= 0; leaf -= 1) {
    if (hasChild[leaf] === 1 || active[leaf] === 1 || (kindOf(file, leaf) & ROW.sidechain) !== 0) continue;
    let says = false;
    let row = leaf;
    for (let steps = 0; row >= 0 && active[row] === 0 && steps <= file.parents.length; steps += 1) {
      if ((kindOf(file, row) & (ROW.prompt | ROW.assistant)) !== 0) says = true;
      row = parentOf(file, row);
    }
    if (says) found.push({ leaf, leaves: row });
    if (found.length === 200) break;
  }
  return found;
}

/**
 * What the model sees, in its order: all of the branch, or from the last compaction on: boundary, summary, the
 * segment that was kept, and what came after (agents.md §1.3).
 */
export function contextRows(file: ClaudeFile): number[] {
  const path: number[] = [];
  const active = activeBranch(file);
  for (let row = 0; row < active.length; row += 1) if (active[row] === 1) path.push(row);
  const boundary = file.boundaries.findLast((one) => active[one.row] === 1);
  if (boundary === undefined) return path;
  const from = path.indexOf(boundary.row);
  const after = path.slice(from);
  const kept = keptRows(file, boundary.head, boundary.tail, active);
  const summary = after.findIndex((row) => (kindOf(file, row) & ROW.summary) !== 0);
  after.splice(summary < 0 ? 1 : summary + 1, 0, ...kept);
  return after;
}

function keptRows(file: ClaudeFile, head: string | null, tail: string | null, active: Branch): number[] {
  if (head === null || tail === null) return [];
  if (!Object.hasOwn(file.rows, head) || !Object.hasOwn(file.rows, tail)) return [];
  const first = file.rows[head] ?? -1;
  const rows: number[] = [];
  for (let row = file.rows[tail] ?? -1; row >= first && row >= 0; row = parentOf(file, row)) {
    if (active[row] === 1) rows.push(row);
    if (row === first || rows.length > file.parents.length) break;
  }
  return rows.reverse();
}

/** Tokens the last request of the active branch put in front of its model; after a compaction, the program's estimate. */
export function contextUsed(file: ClaudeFile): { used: number; model: string | null } | null {
  const active = activeBranch(file);
  let used: number | null = null;
  for (let row = active.length - 1; row >= 0; row -= 1) {
    if (active[row] !== 1) continue;
    const kind = kindOf(file, row);
    if ((kind & ROW.boundary) !== 0 && used === null) {
      used = file.boundaries.find((one) => one.row === row)?.post ?? null;
      if (used === null) return null;
    }
    const request = file.requests[file.messages[row] ?? -1];
    if ((kind & ROW.assistant) === 0 || request?.counted !== true) continue;
    const { input, cacheRead, write5m, write1h, output, model } = request;
    return { used: used ?? input + cacheRead + write5m + write1h + output, model };
  }
  return used === null ? null : { used, model: null };
}
