import { bytes, counted } from "./amounts.ts";
import type { Sheet } from "./entry-options.ts";
import { type Line, type Span, type Style, span } from "./line.ts";
import { MARKDOWN_LIMIT, markdownLines } from "./markdown.ts";
import { printableText } from "./printable.ts";
import { rows, wrapSpans } from "./wrap.ts";

export interface Body {
  text: string;
  style: Style;
  /** Most lines, without the one that says what is hidden. */
  limit: number;
  /** Before the first and the other lines. */
  first?: Line;
  rest?: Line;
  /** Said before the text, on its first line. */
  lead?: Span[];
  /** Columns kept free at the right of the first line. */
  reserve?: number;
  markdown?: boolean;
  italic?: boolean;
}

/** A text with a bound, and a line that says how much is hidden. Costs what is shown, not what there is. */
export function bodyLines(body: Body, sheet: Sheet): Line[] {
  const first = body.first ?? [];
  const rest = body.rest ?? first;
  if (body.markdown && body.text.length <= MARKDOWN_LIMIT) return markdownBody(body, first, rest, sheet);
  const inner = Math.max(1, sheet.width - widest(first, rest));
  const shown = firstRows(body.text, inner, body.limit);
  const piece: Span = body.italic
    ? { text: shown.text, style: body.style, italic: true }
    : span(shown.text, body.style);
  const lines =
    body.limit <= 0
      ? []
      : wrapSpans([...(body.lead ?? []), piece], sheet.width, { first, rest, reserve: body.reserve ?? 0 });
  if (shown.lines > 0) lines.push(hiddenLine(shown.lines, shown.bytes, rest, sheet));
  return lines;
}

function widest(first: Line, rest: Line): number {
  const width = (line: Line): number => line.reduce((sum, piece) => sum + piece.text.length, 0);
  return Math.max(width(first), width(rest));
}

function markdownBody(body: Body, first: Line, rest: Line, sheet: Sheet): Line[] {
  const inner = Math.max(1, sheet.width - widest(first, rest));
  const laid = markdownLines(body.text, inner, { ascii: sheet.ascii });
  // One more line is no more than the line that would say so.
  const shown = laid.length <= body.limit + 1 ? laid : laid.slice(0, body.limit);
  const lines = shown.map((line, index) => [...(index === 0 ? first : rest), ...line]);
  if (shown.length < laid.length) lines.push(hiddenLine(laid.length - shown.length, 0, rest, sheet));
  return lines;
}

interface FirstRows {
  /** The part of the text that is shown, printable. */
  text: string;
  /** What is left out: lines, a begun one included, and bytes. */
  lines: number;
  bytes: number;
}

/** The part of a text that fills at most `limit` rows, read from its beginning and no further than needed. */
function firstRows(text: string, width: number, limit: number): FirstRows {
  let size = Math.max(2048, Math.min(limit, 1000) * width * 2);
  for (;;) {
    const whole = size >= text.length;
    const part = printableText(whole ? text : text.slice(0, size)).trimEnd();
    const end = rowsEnd(part, width, limit);
    if (whole && end.fits) return { text: part, lines: 0, bytes: 0 };
    // The last glyph of a part may be half of one: then more is needed to be sure.
    if (whole || end.at < part.length - 64) {
      const left = part.slice(end.at);
      const beyond = whole ? "" : text.slice(size);
      return {
        text: part.slice(0, end.at).trimEnd(),
        lines: lineBreaks(left) + lineBreaks(beyond.trimEnd()) + 1,
        bytes: Buffer.byteLength(left) + Buffer.byteLength(beyond),
      };
    }
    size *= 4;
  }
}

/** Where the rows that fit end. One row more than the limit is shown rather than hidden. */
function rowsEnd(text: string, width: number, limit: number): { at: number; fits: boolean } {
  let count = 0;
  let end = 0;
  for (const row of rows(text, width)) {
    count++;
    if (count <= limit) end = row.next;
    if (count > limit + (limit > 0 ? 1 : 0)) return { at: end, fits: false };
  }
  return { at: text.length, fits: true };
}

/** Line breaks as `cleanText` makes them. */
function lineBreaks(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x0a || code === 0x2028 || code === 0x2029) count++;
    else if (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a) count++;
  }
  return count;
}

/** "… +120 lines, 34 kB": what a fold leaves out. Bytes below a thousand are not worth a word. */
export function hiddenLine(lines: number, size: number, rest: Line, sheet: Sheet): Line {
  const amount = size >= 1000 ? `, ${bytes(size)}` : "";
  return [...rest, span(`${sheet.glyphs.ellipsis} +${counted(lines, "line")}${amount}`, "faint")];
}

/** What the reader itself left out, because it was asked for a limit. */
export function clippedLine(clipped: number, rest: Line, sheet: Sheet): Line {
  return [...rest, span(`${sheet.glyphs.ellipsis} ${bytes(clipped)} more in the file`, "faint")];
}
