import { basename } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Root } from "../source.ts";
import type { CodexEvent, CodexFile, CodexMeta } from "./file.ts";
import { metaWithoutHeader } from "./meta.ts";
import { parseRolloutName, type RolloutName, THREAD_ID } from "./rollout-name.ts";

/** One rollout file that was read. */
export interface Rollout {
  path: string;
  root: Root;
  name: RolloutName;
  archived: boolean;
  folded: Folded<CodexFile>;
}

/** All rollouts by thread; what one is copied from can be looked up. */
export interface RolloutLookup {
  /** The files of a thread, oldest first; the last one is current (agents.md §2.3). Twins are left out. */
  of(thread: string): readonly Rollout[];
  /** The thread we ourselves copied this one from. */
  madeFrom(thread: string): string | null;
  /** The threads that say they were made from this one, which may be gone: its forks and sub-agents, and theirs. */
  pointingAt(thread: string): readonly string[];
}

export function eventsOf(rollout: Rollout): readonly CodexEvent[] {
  return rollout.folded.state.events;
}

/** What is asked of every file all the time: its state is large, and packed while nobody reads it. */
interface Head {
  meta: CodexMeta | null;
  startedAt: number | null;
  bytes: number;
}

const heads = new WeakMap<Folded<CodexFile>, Head>();

function headOf(folded: Folded<CodexFile>): Head {
  const known = heads.get(folded);
  if (known !== undefined) return known;
  const { startedAt, bytes } = folded.state;
  const head = { meta: folded.state.meta ?? metaByName(folded), startedAt, bytes };
  heads.set(folded, head);
  return head;
}

/** Of a file whose first line is damaged the name tells the thread; null: nothing of it was read, or not from its start. */
function metaByName({ path, state }: Folded<CodexFile>): CodexMeta | null {
  const thread = parseRolloutName(basename(path))?.thread ?? "";
  return state.low === 0 && THREAD_ID.test(thread) ? metaWithoutHeader(thread, state) : null;
}

export function metaOf(rollout: Rollout): CodexMeta | null {
  return headOf(rollout.folded).meta;
}

/** The header of a file that no rollout is made of yet. */
export function headerOf(folded: Folded<CodexFile>): CodexMeta | null {
  return headOf(folded).meta;
}

/** The thread a file belongs to: what its own header says, not its name. */
export function threadOf(folded: Folded<CodexFile>): string | null {
  const id = headOf(folded).meta?.id ?? null;
  return id !== null && THREAD_ID.test(id) ? id : null;
}

/**
 * The files of one thread that count, oldest first, and the twins that do not: plain before compressed, then the
 * longer, as an archived copy may be older or newer than the one it was made from (agents.md §2.1).
 */
export function chooseRollouts(all: readonly Rollout[]): {
  chosen: Rollout[];
  twins: { twin: Rollout; of: Rollout }[];
} {
  const byStem = new Map<string, Rollout[]>();
  for (const one of all) byStem.set(one.name.stem, [...(byStem.get(one.name.stem) ?? []), one]);
  const chosen: Rollout[] = [];
  const twins: { twin: Rollout; of: Rollout }[] = [];
  for (const copies of byStem.values()) {
    const [best, ...others] = copies.sort(
      (a, b) =>
        Number(samePlace(a, b) && a.name.compressed) - Number(samePlace(a, b) && b.name.compressed) ||
        headOf(b.folded).bytes - headOf(a.folded).bytes ||
        Number(a.name.compressed) - Number(b.name.compressed) ||
        Number(a.archived) - Number(b.archived) ||
        (a.path < b.path ? -1 : 1),
    );
    if (best === undefined) continue;
    chosen.push(best);
    for (const twin of others) twins.push({ twin, of: best });
  }
  chosen.sort(
    (a, b) =>
      compare(startOf(a), startOf(b)) || compare(a.name.rollout ?? "", b.name.rollout ?? "") || compare(a.path, b.path),
  );
  return { chosen, twins };
}

function samePlace(a: Rollout, b: Rollout): boolean {
  return a.archived === b.archived && a.root.path === b.root.path;
}

/** When a file was begun: the name's local time sorts within one machine, the header's is exact. */
export function startOf(one: Rollout): string {
  const time = metaOf(one)?.time ?? headOf(one.folded).startedAt;
  return time === null ? one.name.time : new Date(time).toISOString();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The file that a `history_base` means: the newest of that thread that is older than the fork (agents.md §2.3). */
export function baseOf(rollout: Rollout, lookup: RolloutLookup): { file: Rollout; endOrdinal: number } | null {
  const base = metaOf(rollout)?.base ?? null;
  if (base === null) return null;
  const file = lookup.of(base.thread).findLast((one) => one !== rollout && startOf(one) < startOf(rollout));
  return file === undefined ? null : { file, endOrdinal: base.endOrdinal };
}
