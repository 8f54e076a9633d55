import type { CodexEvent } from "./file.ts";
import { eventsOf, type Rollout } from "./rollouts.ts";

/** What is asked of a file's events line by line, found in one walk that goes on where it ended. */
interface EventIndex {
  events: number;
  /** Where settings stand. */
  contexts: number[];
  hasRecords: boolean;
}

const indexes = new WeakMap<readonly CodexEvent[], EventIndex>();

function indexOf(file: Rollout): EventIndex {
  const events = eventsOf(file);
  const index = indexes.get(events) ?? { events: 0, contexts: [], hasRecords: false };
  indexes.set(events, index);
  for (; index.events < events.length; index.events += 1) {
    const kind = events[index.events]?.k;
    if (kind === "context") index.contexts.push(index.events);
    if (kind === "record") index.hasRecords = true;
  }
  return index;
}

/** Do its responses have records of their own? Then the running total tells nothing more (agents.md §2.4). */
export function hasRecords(file: Rollout): boolean {
  return indexOf(file).hasRecords;
}

/** The model in force at an event, and whether it changed there. */
export function modelAt(file: Rollout, event: number): { model: string | null; changed: boolean } {
  const { contexts } = indexOf(file);
  const at = lastUpTo(0, contexts.length, (i) => (contexts[i] ?? 0) <= event);
  const now = modelOf(file, contexts[at]);
  if (now === undefined) return { model: null, changed: false };
  return { model: now, changed: contexts[at] === event && modelOf(file, contexts[at - 1]) !== now };
}

/** undefined: there are no settings. */
function modelOf(file: Rollout, event: number | undefined): string | null | undefined {
  const context = event === undefined ? undefined : eventsOf(file)[event];
  return context?.k === "context" ? context.model : undefined;
}

/** The last index in [from, to) that `holds` for, where it holds for all before it too; `from - 1` when for none. */
export function lastUpTo(from: number, to: number, holds: (i: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
