import { copiedPrefix } from "./copied-prefix.ts";
import type { CodexEvent } from "./file.ts";
import { baseOf, eventsOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";

/** Events [from, to) of a file. */
export interface Segment {
  file: Rollout;
  from: number;
  to: number;
}

const MOST_BASES = 64;

/** The conversation of a file: what it is based on, then its own rows; a sub-agent's begins with its own (agents.md §2.3). */
export function pathOf(rollout: Rollout, lookup: RolloutLookup, depth = 0): Segment[] {
  const own = { file: rollout, from: 0, to: eventsOf(rollout).length };
  if (metaOf(rollout)?.kind !== "user") {
    // Without a copied run the sub-agent has all rows for itself.
    return [{ ...own, from: copiedPrefix(rollout, lookup).events }];
  }
  const base = depth < MOST_BASES ? baseOf(rollout, lookup) : null;
  return base === null ? [own] : [...cutAt(pathOf(base.file, lookup, depth + 1), base.endOrdinal), own];
}

/** The part of a path before an ordinal. Ordinals may repeat: the first row that reaches it ends the part. */
export function cutAt(path: readonly Segment[], endOrdinal: number): Segment[] {
  const kept: Segment[] = [];
  for (const part of path) {
    const events = eventsOf(part.file);
    let to = part.from;
    while (to < part.to && (events[to]?.ord ?? 0) < endOrdinal) to += 1;
    kept.push({ ...part, to });
    if (to < part.to) return kept;
  }
  return kept;
}

export interface PathEvent {
  file: Rollout;
  event: CodexEvent;
  index: number;
  /** Taken back by `thread_rolled_back`. */
  dropped: boolean;
}

/** A path as events; a rollback drops that many last prompts and all that follows them (agents.md §2.2). */
export function eventsOnPath(path: readonly Segment[]): PathEvent[] {
  const all: PathEvent[] = [];
  const prompts: number[] = [];
  for (const { file, from, to } of path) {
    const events = eventsOf(file);
    for (let index = from; index < to; index += 1) {
      const event = events[index];
      if (event === undefined) continue;
      if (event.k === "prompt" && isShown(file, index)) prompts.push(all.length);
      all.push({ file, event, index, dropped: false });
      if (event.k === "rollback") dropLast(all, prompts, event.prompts);
    }
  }
  return all;
}

function dropLast(all: PathEvent[], prompts: number[], count: number): void {
  const dropped = count === 0 ? [] : prompts.splice(Math.max(0, prompts.length - count));
  const from = dropped[0];
  if (from === undefined) return;
  for (const one of all.slice(turnStart(all, from))) one.dropped = true;
}

/** The first event of the turn that a prompt begins: its task and settings are written before it. */
export function turnStart(events: readonly { event: CodexEvent }[], prompt: number): number {
  const asked = events[prompt]?.event;
  let start = prompt;
  while (start > 0) {
    const before = events[start - 1]?.event;
    const same =
      before?.k === "prompt" && asked?.k === "prompt" && before.from !== asked.from && before.text === asked.text;
    if (!same && before?.k !== "task" && before?.k !== "context") break;
    start -= 1;
  }
  return start;
}

interface Families {
  events: number;
  firstItem: number;
  eventPrompts: boolean;
  eventReplies: boolean;
}

const families = new WeakMap<readonly CodexEvent[], Families>();

/**
 * Is this prompt or reply the one to show, and not the same text of another family? Paginated files: completed items;
 * older ones: the event pair where it is written, else the rows for the model (agents.md §2.2).
 */
export function isShown(file: Rollout, index: number): boolean {
  const events = eventsOf(file);
  const event = events[index];
  if (event === undefined || (event.k !== "prompt" && event.k !== "reply")) return false;
  let known = families.get(events);
  if (known === undefined || known.events !== events.length) {
    known = readFamilies(file);
    families.set(events, known);
  }
  if (index >= known.firstItem) return event.from === "item";
  const pair = event.k === "prompt" ? known.eventPrompts : known.eventReplies;
  return event.from === (pair ? "event" : "response");
}

function readFamilies(file: Rollout): Families {
  const events = eventsOf(file);
  const said = (event: CodexEvent, from: string): boolean =>
    (event.k === "prompt" || event.k === "reply") && event.from === from;
  const first = events.findIndex((event) => said(event, "item"));
  const paginated = metaOf(file)?.paginated === true;
  return {
    events: events.length,
    firstItem: paginated ? 0 : first < 0 ? Number.POSITIVE_INFINITY : first,
    eventPrompts: events.some((event) => event.k === "prompt" && event.from === "event"),
    eventReplies: events.some((event) => event.k === "reply" && event.from === "event"),
  };
}
