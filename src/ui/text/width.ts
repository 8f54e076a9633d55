import fastStringWidth from "fast-string-width";
import { safe } from "./printable.ts";

/**
 * Columns that text takes in a terminal. Where terminals disagree the larger answer is given: a gap of one column is
 * ugly, a row that runs over its edge breaks the screen. Linear in what is looked at, never in the whole text.
 */

const ASCII = /^[\x20-\x7e]*$/;

// What a UTF-16 unit is when its neighbours are known too: a glyph of 1 or 2 columns that nothing joins, or a control.
const NARROW = 1;
const WIDE = 2;
const CONTROL = 3;

const NARROW_RANGES = [
  [0x20, 0x7e],
  [0xa0, 0xac],
  [0xae, 0x2ff],
  [0x370, 0x377],
  [0x384, 0x38a],
  [0x38e, 0x3a1],
  [0x3a3, 0x482],
  [0x48a, 0x52f],
  [0x561, 0x587],
  [0x5d0, 0x5ea],
  [0x620, 0x64a],
  [0x660, 0x66f],
  [0x671, 0x6d3],
  [0x1e00, 0x1eff],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x20a0, 0x20bf],
  [0x2100, 0x2319],
  [0x2500, 0x25fc],
  [0x2800, 0x28ff],
] as const;
const WIDE_RANGES = [
  [0x3000, 0x3029],
  [0x3041, 0x3096],
  [0x30a1, 0x30fe],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xff01, 0xff60],
] as const;
const CONTROL_RANGES = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
] as const;

const SORTS = new Uint8Array(0x10000);
for (const [first, last] of NARROW_RANGES) SORTS.fill(NARROW, first, last + 1);
for (const [first, last] of WIDE_RANGES) SORTS.fill(WIDE, first, last + 1);
for (const [first, last] of CONTROL_RANGES) SORTS.fill(CONTROL, first, last + 1);

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Most units given to the segmenter at once, so that a glance at a huge text stays a glance. */
const CHUNK = 256;

/**
 * Calls `visit` with every grapheme from `from` on, until it answers false. A control byte counts one column,
 * because what is printed in its place is a dot.
 */
export function eachGrapheme(
  text: string,
  from: number,
  visit: (start: number, end: number, width: number) => boolean,
): void {
  let at = from;
  while (at < text.length) {
    const sort = SORTS[text.charCodeAt(at)] ?? 0;
    const alone = sort !== 0 && (at + 1 >= text.length || SORTS[text.charCodeAt(at + 1)] !== 0);
    if (alone) {
      if (!visit(at, at + 1, sort === WIDE ? 2 : 1)) return;
      at++;
      continue;
    }
    const end = runEnd(text, at);
    const reached = eachJoined(text, at, end, visit);
    if (reached === null) return;
    at = reached;
  }
}

/** Where the graphemes that need the segmenter end, or where a chunk of them is full. */
function runEnd(text: string, from: number): number {
  let end = from + 1;
  while (end < text.length && end - from < CHUNK) {
    if (SORTS[text.charCodeAt(end - 1)] !== 0 && SORTS[text.charCodeAt(end)] !== 0) return end;
    end++;
  }
  const splitsPair = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
  return splitsPair ? end + 1 : end;
}

/** Visits a run; answers where it stopped, null when `visit` had enough. The last of an unfinished run is left for the next. */
function eachJoined(
  text: string,
  from: number,
  end: number,
  visit: (start: number, end: number, width: number) => boolean,
): number | null {
  const unfinished = end - from >= CHUNK && end < text.length;
  let at = from;
  for (const { segment, index } of segmenter.segment(text.slice(from, end))) {
    const next = from + index + segment.length;
    if (unfinished && next === end && at > from) return at;
    if (!visit(at, next, graphemeWidth(segment))) return null;
    at = next;
  }
  return end;
}

const known = new Map<string, number>();
const MOST_KNOWN = 4096;

function graphemeWidth(grapheme: string): number {
  const found = known.get(grapheme);
  if (found !== undefined) return found;
  const width = measure(grapheme);
  if (grapheme.length <= 16) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(grapheme, width);
  }
  return width;
}

const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Mn}\p{Me}]/v;
// Nothing is drawn for these; joiners between emoji and their selectors are left for fast-string-width to read.
const UNDRAWN =
  /[\p{Default_Ignorable_Code_Point}--[\u200d\ufe0f\u{e0000}-\u{e007f}]]|\u200d(?!\p{Extended_Pictographic})/gv;
const SPACING_MARK = /\p{Mc}/gu;
const PICTOGRAPH = /\p{Extended_Pictographic}/u;
// Drawn as text, in one column, unless a selector asks for the picture: every terminal agrees on that.
const TEXT_EMOJI = /^[\p{Emoji}--\p{Emoji_Presentation}]$/v;
// Wide to those who follow a newer Unicode than fast-string-width: Yi, hexagrams, counting rods, newer CJK, Khitan, Nüshu.
const NEWLY_WIDE =
  /[\u232a\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\ua000-\ua4c6\ua960-\ua97c\ufa6e-\ufaff\u1100-\u115f\u31e4\u31e5\u{16fe0}-\u{191ff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

function measure(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (SORTS[code] === CONTROL) return 1;
  if (!VISIBLE.test(grapheme)) return 0;
  const emoji =
    grapheme.includes("\ufe0f") ||
    grapheme.includes("\u20e3") ||
    (code >= 0x1f000 && PICTOGRAPH.test(grapheme) && !TEXT_EMOJI.test(grapheme));
  const marks = grapheme.match(SPACING_MARK)?.length ?? 0;
  const base = fastStringWidth(grapheme.replace(UNDRAWN, ""));
  return Math.max(base, emoji || NEWLY_WIDE.test(grapheme) ? 2 : 0) + marks;
}

/** Columns of one line of text. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  eachGrapheme(text, 0, (_start, _end, columns) => {
    width += columns;
    return true;
  });
  return width;
}

export const ELLIPSIS = "…";
export const ASCII_ELLIPSIS = "~";

/**
 * How much of `text` fits in `width` columns: the end of the last whole grapheme and the columns it takes.
 * Looks at no more than that.
 */
export function fitting(text: string, width: number, from = 0): { end: number; width: number } {
  let end = from;
  let used = 0;
  eachGrapheme(text, from, (_start, next, columns) => {
    if (used + columns > width) return false;
    used += columns;
    end = next;
    return true;
  });
  return { end, width: used };
}

/** At most `width` columns, ending in the ellipsis when something was cut. Never splits a grapheme. */
export function cut(text: string, width: number, ellipsis: string = ELLIPSIS): string {
  if (width <= 0) return "";
  if (text.length <= width && ASCII.test(text)) return text;
  const whole = fitting(text, width);
  if (whole.end >= text.length) return safe(text);
  const room = width - textWidth(ellipsis);
  if (room < 0) return safe(text.slice(0, whole.end));
  return safe(text.slice(0, fitting(text, room).end)) + ellipsis;
}

/** Exactly `width` columns: cut or filled with spaces on the right. */
export function padEnd(text: string, width: number, ellipsis: string = ELLIPSIS): string {
  const shown = cut(text, width, ellipsis);
  return shown + " ".repeat(Math.max(0, width - textWidth(shown)));
}

/** Exactly `width` columns: cut or filled with spaces on the left. */
export function padStart(text: string, width: number, ellipsis: string = ELLIPSIS): string {
  const shown = cut(text, width, ellipsis);
  return " ".repeat(Math.max(0, width - textWidth(shown))) + shown;
}
