import type { Folded } from "../../files/fold.ts";
import { uuid7Time } from "../agents/uuid7.ts";
import { type CodexEvent, type CodexFile, type CodexMeta, placeAsId } from "./file.ts";
import { eventsOf, headerOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";

/** How many of a file's events were copied from a parent, and which file they are the first events of. */
export interface CopiedPrefix {
  events: number;
  /** The parent's thread, null when nothing was copied. */
  thread: string | null;
  /** The file that has the first of them too: the parent's, or where that is gone its own parent's; null when all are gone. */
  file: Rollout | null;
  /** How many `file` has, at most `events`; 0 without one. The rest stand only in copies. */
  found: number;
}

const NOTHING: CopiedPrefix = { events: 0, thread: null, file: null, found: 0 };
const MOST_ANCESTORS = 64;

/**
 * Where a file's own rows begin (agents.md §2.3): the ordinal it names; else the longest run that the parent's rows
 * begin with, compared by what they say and never by their times; else, the parent gone, the last row that names
 * another thread, or the first turn that is not older than the file.
 */
export function copiedPrefix(rollout: Rollout, lookup: RolloutLookup): CopiedPrefix {
  const known = answers.get(lookup) ?? new Map<Rollout, CopiedPrefix>();
  answers.set(lookup, known);
  const answer = known.get(rollout) ?? findPrefix(rollout, lookup);
  known.set(rollout, answer);
  return answer;
}

/** A lookup is one moment: what was found for it stays true. */
const answers = new WeakMap<RolloutLookup, Map<Rollout, CopiedPrefix>>();

function findPrefix(rollout: Rollout, lookup: RolloutLookup): CopiedPrefix {
  const meta = metaOf(rollout);
  if (meta === null) return NOTHING;
  const events = eventsOf(rollout);
  const [parent, ...others] = ancestorsOf(rollout, meta, lookup);
  if (parent === undefined) return NOTHING;
  if (meta.base === null && meta.ownFrom !== null) {
    const { ownFrom } = meta;
    const first = events.findIndex((event) => event.ord >= ownFrom);
    return { events: first < 0 ? events.length : first, thread: parent, file: null, found: 0 };
  }
  const run = longestRun(events, parent, rollout, lookup);
  if (run !== null) {
    // A base alone copies nothing: only the same rows say that this is a copy of a file that has one.
    return meta.base !== null && run.found === 0 ? NOTHING : { ...run, events: run.found, thread: parent };
  }
  const last = events.findLastIndex(({ thread }) => thread !== undefined && thread !== meta.id);
  if (last < 0 && rollout.folded.state.copiedMetas.length === 0) return NOTHING;
  const copied = last < 0 ? firstOwnTurn(events, meta) : turnEnd(events, last);
  for (const other of others) {
    const older = longestRun(events.slice(0, copied), other, rollout, lookup);
    if (older !== null && older.found > 0) return { ...older, events: copied, thread: parent };
  }
  return { events: copied, thread: parent, file: null, found: 0 };
}

/** The threads a file's first rows may be copied from, the nearest first: as it says, and by our own memory. */
function ancestorsOf(rollout: Rollout, meta: CodexMeta, lookup: RolloutLookup): string[] {
  const parent = meta.base === null ? meta.parentThread : null;
  const all = new Set(copiedThreads(rollout.folded));
  for (const thread of [parent, lookup.madeFrom(meta.id)]) if (thread !== null && thread !== meta.id) all.add(thread);
  return [...all];
}

/**
 * The threads a file says its first rows are copied from, the nearest first. The header of one with a base names the
 * origin of the base, also in a copy: there only the rows tell, the oldest of which stand first. `from`: of the events from
 * this one on.
 */
export function copiedThreads(folded: Folded<CodexFile>, from = 0): string[] {
  const meta = headerOf(folded);
  if (meta === null) return [];
  const { copiedMetas, events } = folded.state;
  const found = new Set<string>(meta.base === null && meta.forkedFrom !== null ? [meta.forkedFrom] : []);
  if (meta.base === null) for (const thread of copiedMetas) found.add(thread);
  for (let i = events.length - 1; i >= from && found.size < MOST_ANCESTORS; i -= 1) {
    const thread = events[i]?.thread;
    if (thread !== undefined) found.add(thread);
  }
  found.delete(meta.id);
  return [...found];
}

function longestRun(
  events: readonly CodexEvent[],
  parent: string,
  rollout: Rollout,
  lookup: RolloutLookup,
): { found: number; file: Rollout } | null {
  let best: { found: number; file: Rollout } | null = null;
  for (const file of lookup.of(parent)) {
    if (file === rollout) continue;
    const theirs = eventsOf(file);
    let same = 0;
    while (same < events.length && same < theirs.length && saysTheSame(events[same], theirs[same])) same += 1;
    if (best === null || same > best.found) best = { found: same, file };
  }
  return best;
}

/** Everything but the place, also where that stands in for a missing id: rows of a copy are stamped anew. */
function saysTheSame(a: CodexEvent | undefined, b: CodexEvent | undefined): boolean {
  return a !== undefined && b !== undefined && a.k === b.k && spoken(a) === spoken(b);
}

function spoken(event: CodexEvent): string {
  const { at, ord: _ord, time: _time, thread: _thread, ...said } = event;
  if (said.k === "record" && said.id === placeAsId(at)) said.id = "";
  return JSON.stringify(said);
}

/** Behind the turn of an event: a copy ends with a turn, whose last rows name no thread. */
function turnEnd(events: readonly CodexEvent[], at: number): number {
  const next = events.findIndex((event, i) => i > at && (event.k === "task" || event.k === "prompt"));
  return next < 0 ? events.length : next;
}

function firstOwnTurn(events: readonly CodexEvent[], meta: CodexMeta): number {
  const born = meta.time ?? uuid7Time(meta.id);
  if (born === null) return 0;
  const first = events.findIndex((event) => {
    const turn = event.k === "task" || event.k === "context" ? event.turn : null;
    const time = turn === null ? null : uuid7Time(turn);
    return time !== null && time >= born;
  });
  const anyTurn = events.some((event) => (event.k === "task" || event.k === "context") && event.turn !== null);
  return first >= 0 ? first : anyTurn ? events.length : 0;
}
