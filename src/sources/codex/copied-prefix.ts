import { uuid7Time } from "../agents/uuid7.ts";
import type { CodexEvent } from "./file.ts";
import { eventsOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";

/** How many of a file's events were copied from a parent, and which file they are the first events of. */
export interface CopiedPrefix {
  events: number;
  /** The parent's thread, null when nothing was copied. */
  thread: string | null;
  /** The parent's file, null when it is gone. */
  file: Rollout | null;
}

const NOTHING: CopiedPrefix = { events: 0, thread: null, file: null };

/**
 * Where a file's own rows begin (agents.md §2.3): the ordinal it names; else the longest run that the parent's rows
 * begin with, compared by what they say and never by their times; else, the parent gone, the first turn that is not
 * older than the file.
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
  const events = eventsOf(rollout);
  if (meta === null || meta.base !== null) return NOTHING;
  const { copiedMeta } = rollout.folded.state;
  const foreign = events.findLast((event) => event.thread !== undefined)?.thread ?? null;
  const parent = meta.forkedFrom ?? copiedMeta ?? foreign ?? meta.parentThread ?? lookup.madeFrom(meta.id);
  if (parent === null || parent === meta.id) return NOTHING;
  if (meta.ownFrom !== null) {
    const { ownFrom } = meta;
    const first = events.findIndex((event) => event.ord >= ownFrom);
    return { events: first < 0 ? events.length : first, thread: parent, file: null };
  }
  const best = longestRun(events, parent, rollout, lookup);
  if (best !== null) return { ...best, thread: parent };
  if (foreign !== null) {
    return { events: events.findLastIndex((event) => event.thread !== undefined) + 1, thread: parent, file: null };
  }
  return copiedMeta === null ? NOTHING : { events: firstOwnTurn(events, meta), thread: parent, file: null };
}

function longestRun(
  events: readonly CodexEvent[],
  parent: string,
  rollout: Rollout,
  lookup: RolloutLookup,
): { events: number; file: Rollout } | null {
  let best: { events: number; file: Rollout } | null = null;
  for (const file of lookup.of(parent)) {
    if (file === rollout) continue;
    const theirs = eventsOf(file);
    let same = 0;
    while (same < events.length && same < theirs.length && saysTheSame(events[same], theirs[same])) same += 1;
    if (best === null || same > best.events) best = { events: same, file };
  }
  return best;
}

/** Everything but the place: rows of a copy are stamped anew. */
function saysTheSame(a: CodexEvent | undefined, b: CodexEvent | undefined): boolean {
  return a !== undefined && b !== undefined && a.k === b.k && spoken(a) === spoken(b);
}

function spoken(event: CodexEvent): string {
  const { at: _at, ord: _ord, time: _time, thread: _thread, ...said } = event;
  return JSON.stringify(said);
}

function firstOwnTurn(events: readonly CodexEvent[], meta: { id: string; time: number | null }): number {
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
