import { foldText, foldWithPlaces } from "./fold-text.ts";

/** Half-open ranges of UTF-16 units, in order, not overlapping. */
export type Ranges = [from: number, to: number][];

const WINDOW = 64 * 1024;
/** Most white space that one space of a needle stands for. */
const MOST_SPACE = 200;
/** How far back a good place to cut is looked for. */
const MOST_BACK = 1024;
const MARK = /^[\p{M}]/u;

/** Finds needles (folded) in texts of any length, a window at a time. */
export class Matcher {
  readonly #needles: readonly { text: string; pattern: RegExp | null }[];
  readonly #overlap: number;
  readonly #window: number;

  constructor(needles: readonly string[]) {
    this.#needles = needles.map((text) => ({ text, pattern: text.includes(" ") ? spaced(text) : null }));
    const lengths = needles.map((text) => text.length * 4 + text.split(" ").length * MOST_SPACE);
    this.#overlap = Math.max(0, ...lengths) + 8;
    this.#window = Math.max(WINDOW, 4 * this.#overlap);
  }

  /**
   * Whether every needle occurs: null when not, else about where in `text` the first of them does. Yields once a
   * window, so that a text of many megabytes is no pause.
   */
  *find(text: string): Generator<void, number | null> {
    let missing = this.#needles;
    let first = -1;
    for (let from = 0; missing.length > 0; ) {
      const to = boundary(text, from + this.#window);
      const window = foldText(text.slice(from, to));
      for (const needle of missing) {
        const at = this.#indexIn(window, needle);
        if (at < 0) continue;
        missing = missing.filter((one) => one !== needle);
        const place = from + foldWithPlaces(text.slice(from, to)).originOf(at);
        if (first < 0 || place < first) first = place;
      }
      if (to >= text.length) break;
      yield;
      from = Math.max(from + 1, boundary(text, to - this.#overlap));
    }
    return missing.length === 0 ? first : null;
  }

  /** Where any needle stands in a short text. */
  ranges(text: string): Ranges {
    const folded = foldWithPlaces(text);
    const found: Ranges = [];
    for (const needle of this.#needles) {
      for (let at = 0; ; ) {
        const start = this.#indexIn(folded.text, needle, at);
        if (start < 0) break;
        const end = start + lengthAt(folded.text, needle, start);
        found.push([folded.originOf(start), folded.originOf(end)]);
        at = end;
      }
    }
    return merged(found);
  }

  #indexIn(text: string, needle: { text: string; pattern: RegExp | null }, from = 0): number {
    for (let at = from; ; at += 1) {
      at = indexOf(text, needle, at);
      if (at < 0) return -1;
      // A match never ends within a character: `e` is not found in an `ë` that is written as two.
      const end = at + lengthAt(text, needle, at);
      if (text.charCodeAt(end) < 0x300 || end >= text.length || !MARK.test(text.slice(end, end + 2))) return at;
    }
  }
}

function indexOf(text: string, needle: { text: string; pattern: RegExp | null }, from: number): number {
  if (needle.pattern === null) return text.indexOf(needle.text, from);
  needle.pattern.lastIndex = from;
  return needle.pattern.exec(text)?.index ?? -1;
}

function lengthAt(text: string, needle: { text: string; pattern: RegExp | null }, at: number): number {
  if (needle.pattern === null) return needle.text.length;
  needle.pattern.lastIndex = at;
  return needle.pattern.exec(text)?.[0].length ?? needle.text.length;
}

/** White space stands for any white space: what people copy was wrapped by a screen. */
function spaced(needle: string): RegExp {
  const words = needle.split(" ").map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&"));
  return new RegExp(words.join(`\\s{1,${MOST_SPACE}}`), "gu");
}

/** The last place at or before `at` where a text can be cut so that both parts fold as the whole does. */
function boundary(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (at <= 0) return 0;
  const least = Math.max(0, at - MOST_BACK);
  for (let place = at; place > least; place -= 1) if (text.charCodeAt(place) < 0x80) return place;
  // Nothing but other scripts: no half of a surrogate pair, and a mark stays with its letter.
  let place = at;
  while (place > least && /^[\udc00-\udfff\p{M}\u1160-\u11ff]/u.test(text.slice(place, place + 2))) place -= 1;
  return place;
}

function merged(ranges: Ranges): Ranges {
  const result: Ranges = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}
