import type { ByteSource } from "../../files/fold.ts";
import type { Entry } from "../../session/entry.ts";
import type { Cursor, Page, PageRequest } from "../source.ts";
import { type Line, lineAt, linesBackward, linesForward } from "./line-windows.ts";

/** A line and where it lies in its sequence. */
export interface Placed {
  line: Line;
  /** Which of the view's files it is from. */
  segment: number;
  at: Position;
  /** Just behind it. */
  next: Position;
}

/** Segment and offset in a sequence of files; index and 0 in a list of lines. */
type Position = readonly [number, number];

/** The lines of a view in its order. */
export interface LineSequence {
  forward(from: Position): Iterable<Placed>;
  /** The lines before `to`, nearest first. */
  backward(to: Position): Iterable<Placed>;
  start: Position;
  end: Position;
}

export interface Segment {
  bytes: ByteSource;
  /** Where its first line begins, and behind its last LF. */
  from: number;
  to: number;
}

/** Files one after another, in file order. */
export function inFileOrder(segments: readonly Segment[]): LineSequence {
  const last = segments.length - 1;
  return {
    start: [0, segments[0]?.from ?? 0],
    end: [Math.max(0, last), segments[last]?.to ?? 0],
    *forward([first, offset]) {
      for (let i = first; i < segments.length; i += 1) {
        const part = segments[i];
        if (part === undefined) return;
        for (const line of linesForward(part.bytes, i === first ? Math.max(offset, part.from) : part.from, part.to)) {
          yield { line, segment: i, at: [i, line.offset], next: [i, line.end] };
        }
      }
    },
    *backward([first, offset]) {
      for (let i = Math.min(first, last); i >= 0; i -= 1) {
        const part = segments[i];
        if (part === undefined) return;
        for (const line of linesBackward(part.bytes, part.from, i === first ? Math.min(offset, part.to) : part.to)) {
          yield { line, segment: i, at: [i, line.offset], next: [i, line.end] };
        }
      }
    },
  };
}

/** Chosen lines of one file in a given order: a branch, or what the model sees. */
export function listedLines(part: Segment, offsets: readonly number[]): LineSequence {
  const placed = (i: number): Placed | null => {
    const offset = offsets[i];
    const line = offset === undefined ? null : lineAt(part.bytes, offset, part.to);
    return line === null ? null : { line, segment: 0, at: [i, 0], next: [i + 1, 0] };
  };
  return {
    start: [0, 0],
    end: [offsets.length, 0],
    *forward([from]) {
      for (let i = from; i < offsets.length; i += 1) {
        const one = placed(i);
        if (one !== null) yield one;
      }
    },
    *backward([to]) {
      for (let i = Math.min(to, offsets.length) - 1; i >= 0; i -= 1) {
        const one = placed(i);
        if (one !== null) yield one;
      }
    },
  };
}

/** An entry's place: its line, and which of the line's entries it is. */
type Spot = readonly [number, number, number];

export interface EntryView {
  lines: LineSequence;
  entries(placed: Placed): Entry[];
  locate(ref: string): Spot | null;
}

/** No entry of that name in this view. */
export class NoSuchEntry extends Error {
  override name = "NoSuchEntry";
}

/** One page. Reads the lines it shows and nothing else. Throws NoSuchEntry for an unknown ref or cursor. */
export function pageOf(view: EntryView, request: PageRequest): Page {
  const limit = Math.max(1, request.limit);
  const { at } = request;
  if ("edge" in at) {
    return at.edge === "start"
      ? pageAfter(view, [...view.lines.start, 0], limit)
      : pageBefore(view, endSpot(view), limit);
  }
  if ("after" in at) return pageAfter(view, readCursor(at.after), limit);
  if ("before" in at) return pageBefore(view, readCursor(at.before), limit);
  const spot = view.locate(at.ref);
  if (spot === null) throw new NoSuchEntry(`this view has no entry ${at.ref}`);
  return pageAfter(view, spot, limit);
}

function endSpot(view: EntryView): Spot {
  return [...view.lines.end, 0];
}

function pageAfter(view: EntryView, from: Spot, limit: number): Page {
  const entries: Entry[] = [];
  let skip = from[2];
  for (const placed of view.lines.forward([from[0], from[1]])) {
    const made = view.entries(placed);
    const sameLine = placed.at[0] === from[0] && placed.at[1] === from[1];
    const first = sameLine ? Math.min(skip, made.length) : 0;
    skip = 0;
    const room = limit - entries.length;
    const rest = made.slice(first);
    if (rest.length > room) {
      entries.push(...rest.slice(0, room));
      return page(view, entries, from, [...placed.at, first + room], false);
    }
    entries.push(...rest);
    // Full: what follows may be a long run of lines that show nothing, and is not looked at.
    if (rest.length === room)
      return page(view, entries, from, [...placed.next, 0], same([...placed.next, 0], endSpot(view)));
  }
  return page(view, entries, from, endSpot(view), true);
}

function pageBefore(view: EntryView, to: Spot, limit: number): Page {
  const newestFirst: Entry[] = [];
  if (to[2] > 0) {
    const own = firstOf(view.lines.forward([to[0], to[1]]));
    if (own !== null) {
      const made = view.entries(own).slice(0, to[2]).reverse();
      newestFirst.push(...made.slice(0, limit));
      if (made.length >= limit) return reversed(view, newestFirst, [...own.at, made.length - limit], to);
    }
  }
  for (const placed of view.lines.backward([to[0], to[1]])) {
    const made = view.entries(placed);
    const room = limit - newestFirst.length;
    if (made.length > room) {
      newestFirst.push(...made.slice(made.length - room).reverse());
      return reversed(view, newestFirst, [...placed.at, made.length - room], to);
    }
    newestFirst.push(...made.reverse());
    if (made.length === room) return reversed(view, newestFirst, [...placed.at, 0], to);
  }
  return reversed(view, newestFirst, [...view.lines.start, 0], to);
}

function firstOf<T>(items: Iterable<T>): T | null {
  for (const item of items) return item;
  return null;
}

function reversed(view: EntryView, newestFirst: Entry[], from: Spot, to: Spot): Page {
  return page(view, newestFirst.reverse(), from, to, same(to, endSpot(view)));
}

function page(view: EntryView, entries: Entry[], from: Spot, to: Spot, atEnd: boolean): Page {
  return {
    entries,
    before: writeCursor(from),
    after: writeCursor(to),
    atStart: same(from, [...view.lines.start, 0]),
    atEnd,
    total: null,
    nextUpto: null,
  };
}

function same(a: Spot, b: Spot): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

function writeCursor(spot: Spot): Cursor {
  return spot.join(":");
}

function readCursor(cursor: Cursor): Spot {
  const found = /^(\d{1,15}):(\d{1,15}):(\d{1,15})$/u.exec(cursor);
  if (found === null) throw new NoSuchEntry("this is no place in a transcript");
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Of a file whose end alone was read: must an earlier part be read to answer? What was found is shown first. */
export function wantsMore(shown: Page, { at }: PageRequest): boolean {
  if ("edge" in at && at.edge === "start") return true;
  return shown.atStart && shown.entries.length === 0 && !("after" in at);
}
