import type { Line, Span } from "./line.ts";
import { cutLine, lineWidth, sliceLine } from "./line.ts";
import { safe } from "./printable.ts";
import { eachGrapheme } from "./width.ts";

/**
 * Word wrap. Breaks at spaces and around wide glyphs; a word longer than the width is broken between graphemes.
 * Lazy: a line costs what it shows, wherever it lies in whatever text.
 */

/** One row: the text from `start` to `end` is shown, the next row begins at `next` (spaces at the break are passed). */
export interface Row {
  start: number;
  end: number;
  next: number;
}

/** Rows of `text` from unit `from` on, which must be 0 or a row's `next`. A line break ends a row; one at the end of the text adds none. */
export function* rows(text: string, width: number, from = 0, firstWidth: number = width): Generator<Row> {
  let at = from;
  let room = Math.max(1, firstWidth);
  let lineEnd = -1;
  while (at < text.length) {
    if (lineEnd < at) {
      const found = text.indexOf("\n", at);
      lineEnd = found === -1 ? text.length : found;
    }
    const row = nextRow(text, at, lineEnd, room);
    yield row;
    at = row.next;
    room = Math.max(1, width);
  }
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

function nextRow(text: string, at: number, lineEnd: number, room: number): Row {
  // A letter after the window may belong to the window's last: so it is looked at too.
  const window = text.slice(at, Math.min(lineEnd, at + room + 1));
  return PRINTABLE_ASCII.test(window) ? asciiRow(text, window, at, lineEnd, room) : anyRow(text, at, lineEnd, room);
}

function asciiRow(text: string, window: string, at: number, lineEnd: number, room: number): Row {
  if (lineEnd - at <= room) return lastRow(text, at, lineEnd);
  const space = at + window.lastIndexOf(" ", room);
  const end = space < at ? at : trimEnd(text, at, space);
  if (end === at) return { start: at, end: at + room, next: pastLine(text, at + room, lineEnd) };
  return { start: at, end, next: pastLine(text, pastSpaces(text, space, lineEnd), lineEnd) };
}

function lastRow(text: string, at: number, lineEnd: number): Row {
  return { start: at, end: lineEnd, next: Math.min(text.length, lineEnd + 1) };
}

function trimEnd(text: string, at: number, end: number): number {
  let last = end;
  while (last > at && text.charCodeAt(last - 1) === 0x20) last--;
  return last;
}

function pastSpaces(text: string, from: number, lineEnd: number): number {
  let at = from;
  while (at < lineEnd && text.charCodeAt(at) === 0x20) at++;
  return at;
}

/** Nothing is left of the line: its break is passed too, so that no empty row follows. */
function pastLine(text: string, at: number, lineEnd: number): number {
  return at >= lineEnd ? Math.min(text.length, lineEnd + 1) : at;
}

// Never at the beginning of a row: closing marks, small kana. Never at its end: opening marks.
const NOT_FIRST = /^[、。，．・：；？！）］｝〕〉》」』】〗’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ]/u;
const NOT_LAST = /^[（［｛〔〈《「『【〖‘“]/u;

function anyRow(text: string, at: number, lineEnd: number, room: number): Row {
  let used = 0;
  let breakEnd = -1;
  let breakNext = -1;
  let wideBefore = false;
  let glueBefore = false;
  let spaceBefore = false;
  let seenWord = false;
  let full: Row | null = null;
  eachGrapheme(text, at, (start, end, columns) => {
    if (start >= lineEnd) return false;
    if (text.charCodeAt(start) === 0x20 && end === start + 1) {
      if (seenWord && !spaceBefore) breakEnd = start;
      if (seenWord) breakNext = end;
      spaceBefore = true;
      wideBefore = glueBefore = false;
      if (used + 1 > room) {
        const stop = breakEnd === -1 ? start : breakEnd;
        full = { start: at, end: stop, next: pastLine(text, pastSpaces(text, start, lineEnd), lineEnd) };
        return false;
      }
      used++;
      return true;
    }
    const wide = columns === 2;
    const glyph = wide || wideBefore ? text.slice(start, end) : "";
    if (seenWord && !spaceBefore && !glueBefore && (wide || wideBefore) && !NOT_FIRST.test(glyph)) {
      breakEnd = breakNext = start;
    }
    if (used + columns > room) {
      if (breakEnd > at) full = { start: at, end: breakEnd, next: breakNext };
      // A glyph wider than the whole row is passed: there is no way to show it.
      else
        full =
          start === at
            ? { start: at, end: at, next: pastLine(text, end, lineEnd) }
            : { start: at, end: start, next: start };
      return false;
    }
    used += columns;
    seenWord = true;
    spaceBefore = false;
    wideBefore = wide;
    glueBefore = wide && NOT_LAST.test(glyph);
    return true;
  });
  return full ?? lastRow(text, at, lineEnd);
}

/** All rows of a text as strings; an empty text has none. */
export function wrap(text: string, width: number): string[] {
  return wrapFrom(text, 0, width, Number.POSITIVE_INFINITY).lines;
}

/** At most `limit` rows from unit `from` on, and where the next begins; null when there is none. */
export function wrapFrom(
  text: string,
  from: number,
  width: number,
  limit: number,
): { lines: string[]; next: number | null } {
  const lines: string[] = [];
  let next = from;
  if (limit <= 0) return { lines, next: from < text.length ? from : null };
  for (const row of rows(text, width, from)) {
    lines.push(safe(text.slice(row.start, row.end)));
    next = row.next;
    if (lines.length >= limit) break;
  }
  return { lines, next: next < text.length ? next : null };
}

export interface WrapOptions {
  /** Put before the first row. */
  first?: Line;
  /** Put before every other row: the hanging indent. As wide as `first`, or not. */
  rest?: Line;
  /** Most rows. */
  limit?: number;
  /** Columns kept free at the right of the first row. */
  reserve?: number;
}

/** Styled text in rows of at most `width` columns, prefixes included. Breaks in the text begin a new row. */
export function wrapSpans(spans: readonly Span[], width: number, options: WrapOptions = {}): Line[] {
  const first = leaveRoom(options.first ?? [], width);
  const rest = leaveRoom(options.rest ?? first, width);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const whole = [...spans];
  const text = whole.map((piece) => piece.text).join("");
  const lines: Line[] = [];
  const cursor = new SpanCursor(whole);
  for (const row of rows(text, width - lineWidth(rest), 0, width - lineWidth(first) - (options.reserve ?? 0))) {
    if (lines.length >= limit) break;
    const body = cursor.slice(row.start, row.end).map((piece) => ({ ...piece, text: safe(piece.text) }));
    lines.push([...(lines.length === 0 ? first : rest), ...body]);
  }
  return lines.length === 0 && limit > 0 ? [[...first]] : lines;
}

/** A prefix that leaves the text at least one column. */
function leaveRoom(prefix: Line, width: number): Line {
  return lineWidth(prefix) < width ? prefix : cutLine(prefix, width - 1, { ellipsis: "" });
}

/** Slices of spans in rising order, each found from where the last one was. */
class SpanCursor {
  readonly #spans: Span[];
  #index = 0;
  #offset = 0;

  constructor(spans: Span[]) {
    this.#spans = spans;
  }

  slice(start: number, end: number): Line {
    let current = this.#spans[this.#index];
    while (current && this.#offset + current.text.length <= start) {
      this.#offset += current.text.length;
      current = this.#spans[++this.#index];
    }
    let last = this.#index;
    let reach = this.#offset;
    while (last < this.#spans.length && reach < end) {
      reach += this.#spans[last]?.text.length ?? 0;
      last++;
    }
    return sliceLine(this.#spans.slice(this.#index, last), start - this.#offset, end - this.#offset);
  }
}
