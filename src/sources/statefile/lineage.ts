import { hashText, type StateOfFile, type StepState } from "./fold.ts";

/** What ancestry is told from, for one file. */
export interface Relative {
  key: string;
  state: StateOfFile;
  /** Of the file, ms since 1970; 0 when the file system keeps none. */
  birthtimeMs: number;
}

export interface Ancestry {
  /** The session this one was copied from, null for an original. */
  parent: string | null;
  /** Its steps that no other session owns: only these may be summed. */
  own: StepState[];
}

/** A file made when its first record was written is an original; a copy is born later. */
const BORN_TOGETHER_MS = 60_000;

/**
 * Who was copied from whom within one family (equal first records), by longest common prefix (statefile.md §12): the format
 * has no parent pointer. `made` are the copies we made ourselves, new key → old key, and is believed first. The answer does
 * not depend on the order of `family`.
 */
export function ancestry(family: readonly Relative[], made: ReadonlyMap<string, string>): Map<string, Ancestry> {
  const ranked = [...family].sort((a, b) => copies(a.key, made) - copies(b.key, made) || elderFirst(a, b));
  const result = new Map<string, Ancestry>();
  const owned = new Set<string>();
  // Taken out once: every pair of a family is compared.
  const known = new Map(ranked.map((one) => [one, prefixes(one.state)]));
  for (const one of ranked) {
    const elders = ranked.slice(0, ranked.indexOf(one));
    const parent = elders.find((elder) => elder.key === made.get(one.key)) ?? closest(one, elders, known);
    const own = one.state.steps.filter((step) => !owned.has(stepKey(step)));
    for (const step of own) owned.add(stepKey(step));
    result.set(one.key, { parent: parent?.key ?? null, own });
  }
  return result;
}

/** What names a step in all copies of it (statefile.md §10). */
export function stepKey(step: StepState): string {
  return `statefile:${step.id}:${step.request}:${step.time ?? step.n}`;
}

/** How many copies of ours lie between a session and its original: a copy is younger than what it was made from. */
function copies(key: string, made: ReadonlyMap<string, string>): number {
  let count = 0;
  for (let from = made.get(key); from !== undefined && count <= made.size; from = made.get(from)) count += 1;
  return count;
}

function elderFirst(a: Relative, b: Relative): number {
  return (
    bornLate(a) - bornLate(b) ||
    birth(a) - birth(b) ||
    a.state.records - b.state.records ||
    (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
  );
}

function bornLate(one: Relative): number {
  const created = one.state.created === null ? 0 : Date.parse(one.state.created);
  return Math.abs(one.birthtimeMs - created) <= BORN_TOGETHER_MS ? 0 : 1;
}

/** Files of one restored tree are born together: differences below a minute say nothing. */
function birth(one: Relative): number {
  return Math.floor(one.birthtimeMs / BORN_TOGETHER_MS);
}

/** The elder with the longest common prefix; the eldest of those. */
function closest(one: Relative, elders: readonly Relative[], known: ReadonlyMap<Relative, Prefixes>): Relative | null {
  const mine = known.get(one) ?? new Map();
  let best: Relative | null = null;
  let most = 0;
  for (const elder of elders) {
    const length = commonPrefix(mine, known.get(elder) ?? new Map());
    if (length > most) {
      best = elder;
      most = length;
    }
  }
  return best;
}

/** How many leading records two files share, as far as steps, messages and ends tell; at least 1 within a family. */
function commonPrefix(a: Prefixes, b: Prefixes): number {
  let most = 1;
  for (const [n, prefix] of a) {
    if (n > most && b.get(n) === prefix) most = n;
  }
  return most;
}

/** Hashes of all headers up to and including a record, by its ordinal. */
type Prefixes = ReadonlyMap<number, string>;

function prefixes(state: StateOfFile): Prefixes {
  const found = new Map<number, string>();
  for (const cut of state.cuts) found.set(cut.n - 1, cut.prefix);
  for (const step of state.steps) found.set(step.n, step.prefix);
  found.set(state.records, hashText(state.hash));
  return found;
}
