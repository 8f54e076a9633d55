import { cleanLine } from "../session/untrusted.ts";
import type { Matcher, Ranges } from "./matcher.ts";

export interface Snippet {
  /** One cleaned line around the match; `…` where the text goes on. */
  text: string;
  /** What matched in it. */
  matches: Ranges;
}

const BEFORE = 40;
const AFTER = 200;

/** A line around a place in a text, with what to highlight. */
export function snippetAt(text: string, place: number, matcher: Matcher): Snippet {
  const from = whole(text, Math.max(0, place - BEFORE));
  const to = whole(text, Math.min(text.length, place + AFTER));
  const line = cleanLine(text.slice(from, to));
  const shown = `${from > 0 ? "…" : ""}${line}${to < text.length ? "…" : ""}`;
  return { text: shown, matches: matcher.ranges(shown) };
}

/** Never between the halves of a surrogate pair, nor between a letter and its marks. */
function whole(text: string, at: number): number {
  let place = at;
  while (place > 0 && at - place < 32 && /^[\udc00-\udfff\p{M}]/u.test(text.slice(place, place + 2))) place -= 1;
  return place;
}
