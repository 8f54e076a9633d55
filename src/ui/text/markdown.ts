import type { Token, Tokens } from "marked";
import { Lexer } from "marked";
import { type Glyphs, glyphs } from "./glyphs.ts";
import type { Line, Span } from "./line.ts";
import { cutLine, lineWidth, span } from "./line.ts";
import { inlineSpans, type Look } from "./markdown-inline.ts";
import { tableLines } from "./markdown-table.ts";
import { innerTokens, isMarkedToken } from "./markdown-token.ts";
import { printableText } from "./printable.ts";
import { wrapSpans } from "./wrap.ts";

/** Longer texts are wrapped as they are: nobody reads them as a page, and a lexer's worst case is not ours to pay. */
export const MARKDOWN_LIMIT = 64 * 1024;

/** How deep lists and quotations may nest; below that their source is shown. */
const DEEPEST = 12;
/** Under this room a block is no longer indented further. */
const LEAST_ROOM = 8;

export interface MarkdownOptions {
  ascii?: boolean;
  /** Most lines: the rest is not laid out. */
  limit?: number;
}

/** Markdown in lines of at most `width` columns. Unfinished Markdown (a reply that still grows) is laid out as far as it goes. */
export function markdownLines(markdown: string, width: number, options: MarkdownOptions = {}): Line[] {
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const text = printableText(markdown);
  const tokens = text.length > MARKDOWN_LIMIT ? null : lexed(text);
  if (tokens === null) return plainLines(text, width, "text", limit);
  const page: Page = { glyphs: glyphs(options.ascii ?? false), lines: [], limit };
  blocks(tokens, { width: Math.max(1, width), first: [], rest: [], depth: 0, look: { style: "text" } }, page, false);
  const fits = (line: Line): Line =>
    lineWidth(line) <= width ? line : cutLine(line, width, { ellipsis: page.glyphs.ellipsis });
  return page.lines.slice(0, limit).map(fits);
}

/** Text as it is, wrapped. */
export function plainLines(text: string, width: number, style: Span["style"], limit: number): Line[] {
  return wrapSpans([span(text, style)], Math.max(1, width), { limit });
}

/** The lexer's time grows with the square of a paragraph's length; a longer paragraph is shown as it is. */
const PARAGRAPH_LIMIT = 4096;
/** Markers of lists and quotations on one line: each costs the lexer a level of its stack. */
const NESTED_MARKERS = /(?:> ?|(?:[*+-]|\d{1,9}[.)]) +){24}/u;

function lexed(text: string): Token[] | null {
  if (NESTED_MARKERS.test(text)) return null;
  try {
    const lexer = new Lexer({ gfm: true });
    const tokens = lexer.blockTokens(text, lexer.tokens);
    for (const { src, tokens: inline } of lexer.inlineQueue) {
      if (src.length <= PARAGRAPH_LIMIT) lexer.inlineTokens(src, inline);
      else inline.push({ type: "text", raw: src, text: src, escaped: false });
    }
    return tokens;
  } catch {
    // Too deep for its stack: the text itself is still there to show.
    return null;
  }
}

interface Page {
  glyphs: Glyphs;
  lines: Line[];
  limit: number;
}

/** Where a block stands. `first` is used up by the first line that is put. */
interface Place {
  width: number;
  first: Line;
  rest: Line;
  depth: number;
  look: Look;
}

function blocks(tokens: readonly Token[], place: Place, page: Page, tight: boolean): void {
  let begun = false;
  for (const token of tokens) {
    if (page.lines.length >= page.limit) return;
    if (token.type === "space" || token.type === "def" || token.type === "checkbox") continue;
    if (begun && !tight) page.lines.push(blank(place.rest));
    block(token, begun ? { ...place, first: place.rest } : place, page);
    begun = true;
  }
  if (!begun && place.first.length > 0) page.lines.push(place.first);
}

/** The prefix alone, so that a quotation's bar has no gaps; spaces at its end are no use. */
function blank(prefix: Line): Line {
  return prefix.some((piece) => piece.text.trim() !== "") ? prefix : [];
}

function block(token: Token, place: Place, page: Page): void {
  if (place.depth > DEEPEST) put([{ ...place.look, text: printableText(token.raw.trimEnd()) }], place, page);
  else if (!isMarkedToken(token)) paragraph(token, place, page);
  else if (token.type === "heading") heading(token, place, page);
  else if (token.type === "code") code(token, place, page);
  else if (token.type === "blockquote") quotation(token, place, page);
  else if (token.type === "list") list(token, place, page);
  else if (token.type === "table") table(token, place, page);
  else if (token.type === "hr") put([span(page.glyphs.rule.repeat(room(place)), "border")], place, page);
  else if (token.type === "html") put([span(printableText(token.raw.trimEnd()), "faint")], place, page);
  else paragraph(token, place, page);
}

function quotation(token: Tokens.Blockquote, place: Place, page: Page): void {
  const mark = span(`${page.glyphs.quote} `, "border");
  blocks(token.tokens, within(place, [mark], { style: "quote" }), page, false);
}

function room(place: Place): number {
  return Math.max(1, place.width - Math.max(lineWidth(place.first), lineWidth(place.rest)));
}

function put(spans: readonly Span[], place: Place, page: Page): void {
  page.lines.push(...wrapSpans(spans, place.width, { first: place.first, rest: place.rest, limit: page.limit }));
}

function paragraph(token: Token, place: Place, page: Page): void {
  const inner = innerTokens(token);
  const spans = inlineSpans(inner.length > 0 ? inner : [token], place.look);
  put(spans, place, page);
}

/** The marks stay, as the reader of a terminal knows them: without colour a heading is one still. */
function heading(token: Tokens.Heading, place: Place, page: Page): void {
  const look: Look = { style: "heading", bold: true };
  const mark = `${"#".repeat(Math.min(6, token.depth))} `;
  put([{ ...look, text: mark }, ...inlineSpans(token.tokens, look)], place, page);
}

function code(token: Tokens.Code, place: Place, page: Page): void {
  const language = printableText(token.lang ?? "").trim();
  const gutter = span(`${page.glyphs.gutter} `, "border");
  let first = place.first;
  if (language !== "") {
    put([span(`${page.glyphs.corner} `, "border"), span(language, "faint")], place, page);
    first = place.rest;
  }
  for (const line of printableText(token.text).split("\n")) {
    if (page.lines.length >= page.limit) return;
    const spans = line === "" ? [] : [span(line, "code")];
    put(spans, { ...place, first: [...first, gutter], rest: [...place.rest, gutter] }, page);
    first = place.rest;
  }
}

function list(token: Tokens.List, place: Place, page: Page): void {
  const start = typeof token.start === "number" ? token.start : 1;
  const digits = String(start + token.items.length - 1).length;
  let begun = false;
  for (const [index, item] of token.items.entries()) {
    if (page.lines.length >= page.limit) return;
    if (begun && token.loose) page.lines.push(blank(place.rest));
    const number = token.ordered ? `${String(start + index).padStart(digits)}. ` : `${page.glyphs.bullet} `;
    const mark = item.task ? `${item.checked ? page.glyphs.checked : page.glyphs.unchecked} ` : number;
    const here = begun ? { ...place, first: place.rest } : place;
    blocks(item.tokens, within(here, [span(mark, "border")], {}, " ".repeat(mark.length)), page, !item.loose);
    begun = true;
  }
}

function table(token: Tokens.Table, place: Place, page: Page): void {
  let first = place.first;
  for (const line of tableLines(token, room(place), page.glyphs)) {
    page.lines.push([...first, ...line]);
    first = place.rest;
  }
}

/** A place one level deeper, behind `mark`; where there is no room left, no deeper. */
function within(place: Place, mark: Line, look: Partial<Look>, rest?: string): Place {
  const deeper = { ...place, depth: place.depth + 1, look: { ...place.look, ...look } };
  if (room(place) - lineWidth(mark) < LEAST_ROOM) return deeper;
  return {
    ...deeper,
    first: [...place.first, ...mark],
    rest: [...place.rest, ...(rest === undefined ? mark : [span(rest)])],
  };
}
