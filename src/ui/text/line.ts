import { safe } from "./printable.ts";
import { cut, ELLIPSIS, eachGrapheme, fitting, textWidth } from "./width.ts";

/** What a piece of text means. A theme says how it looks; no layout names a colour. */
export const STYLES = [
  "text",
  "strong",
  "faint",
  "accent",
  "good",
  "warn",
  "bad",
  "code",
  "heading",
  "quote",
  "link",
  "border",
  "label",
  "added",
  "removed",
  "match",
  "selected",
  "user",
  "assistant",
  "injected",
  "tool",
  "thinking",
] as const;

export type Style = (typeof STYLES)[number];

export interface Span {
  text: string;
  style: Style;
  bold?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
  /** Where a link leads; http, https or mailto without white space or control bytes. */
  href?: string;
}

/** One row of the screen. Spans hold no line break, no control byte and no empty text. */
export type Line = Span[];

export function span(text: string, style: Style = "text"): Span {
  return { text, style };
}

/** Columns. */
export function lineWidth(line: Line): number {
  let width = 0;
  for (const piece of line) width += textWidth(piece.text);
  return width;
}

export function lineText(line: Line): string {
  return line.map((piece) => piece.text).join("");
}

export interface CutOptions {
  /** Fill with spaces to exactly the width, in the style of the last span. */
  pad?: boolean;
  ellipsis?: string;
}

/** At most `width` columns (exactly, with `pad`), ending in the ellipsis when something was cut. */
export function cutLine(line: Line, width: number, options: CutOptions = {}): Line {
  const ellipsis = options.ellipsis ?? ELLIPSIS;
  const room = Math.max(0, width);
  const shown: Line = [];
  let used = 0;
  const total = lineWidth(line);
  const limit = total <= room ? room : Math.max(0, room - textWidth(ellipsis));
  for (const piece of line) {
    const { end, width: columns } = fitting(piece.text, limit - used);
    if (end > 0) shown.push({ ...piece, text: safe(piece.text.slice(0, end)) });
    used += columns;
    if (end < piece.text.length) {
      const mark = cut(ellipsis, room - used);
      if (mark !== "") shown.push({ ...piece, text: mark });
      break;
    }
  }
  return options.pad ? padLine(shown, room) : shown;
}

/** Filled with spaces to `width` columns; a wider line is returned as it is. */
export function padLine(line: Line, width: number): Line {
  const missing = width - lineWidth(line);
  if (missing <= 0) return line;
  const last = line.at(-1);
  return [...line, span(" ".repeat(missing), last?.inverse || last?.style === "selected" ? last.style : "text")];
}

/** `left` and, at the right edge, `right`; `left` is cut first. `right` is left out when it would take half of the width. */
export function spread(left: Line, right: Line, width: number, ellipsis: string = ELLIPSIS): Line {
  const tail = lineWidth(right);
  if (tail === 0 || tail + 1 > width / 2) return cutLine(left, width, { ellipsis });
  return [...cutLine(left, width - tail - 1, { ellipsis, pad: true }), span(" "), ...right];
}

/** Every span in another style, its emphasis kept. */
function restyle(line: Line, style: Style): Line {
  return line.map((piece) => ({ ...piece, style }));
}

/** The row under the cursor: in the style `selected`, which every theme inverts, filled to the width. */
export function selectLine(line: Line, width: number): Line {
  return padLine(restyle(cutLine(line, width), "selected"), width);
}

/** Part of a line by units of its text. */
export function sliceLine(line: Line, start: number, end: number): Line {
  const shown: Line = [];
  let at = 0;
  for (const piece of line) {
    const from = Math.max(0, start - at);
    const to = Math.min(piece.text.length, end - at);
    if (from < to)
      shown.push(from === 0 && to === piece.text.length ? piece : { ...piece, text: piece.text.slice(from, to) });
    at += piece.text.length;
    if (at >= end) break;
  }
  return shown;
}

/** Where `find` matches: whole graphemes, so that no accent loses its letter. A string is found in any case of its letters. */
export function highlight(line: Line, find: string | RegExp): Line {
  if (find === "") return line;
  const text = lineText(line);
  const pattern = typeof find === "string" ? new RegExp(find.replace(SYNTAX, "\\$&"), "giu") : globally(find);
  const found: { start: number; end: number }[] = [];
  for (const match of text.matchAll(pattern)) {
    if (match[0] !== "") found.push({ start: match.index, end: match.index + match[0].length });
  }
  if (found.length === 0) return line;
  const shown: Line = [];
  let at = 0;
  for (const { start, end } of onGraphemes(text, found)) {
    if (end <= at) continue;
    shown.push(...sliceLine(line, at, start));
    for (const piece of sliceLine(line, Math.max(at, start), end)) shown.push({ ...piece, style: "match" });
    at = end;
  }
  shown.push(...sliceLine(line, at, text.length));
  return shown;
}

const SYNTAX = /[\\^$.*+?()[\]{}|/]/gu;

function globally(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

/** Ranges in order, widened to the graphemes they touch. */
function onGraphemes(text: string, ranges: { start: number; end: number }[]): { start: number; end: number }[] {
  const widened: { start: number; end: number }[] = [];
  let next = 0;
  eachGrapheme(text, 0, (start, end) => {
    let range = ranges[next];
    while (range && range.end <= start) range = ranges[++next];
    if (!range) return false;
    if (range.start < end) {
      const last = widened.at(-1);
      if (last && last.end === start && range.start < start) last.end = end;
      else widened.push({ start, end });
    }
    return true;
  });
  return widened;
}
