import type { Block, Document, Opens, Tone } from "../../session/document.ts";
import { tokens } from "./amounts.ts";
import { type RowLines, toneStyle } from "./document-row.ts";
import { tableBlock } from "./document-table.ts";
import { treeBlock } from "./document-tree.ts";
import { type Glyphs, glyphs } from "./glyphs.ts";
import { cutLine, type Line, lineWidth, type Style, span } from "./line.ts";
import { markdownLines, plainLines } from "./markdown.ts";
import { printableLine, printableText } from "./printable.ts";
import { padEnd, textWidth } from "./width.ts";
import { wrapSpans } from "./wrap.ts";

/** What Enter and a source's actions on a line mean. */
export interface Target {
  open: Opens | null;
  target: string | null;
  /** Which block of the document, and which row or item of it. 0-based. */
  block: number;
  row: number;
}

export interface DocumentLayout {
  /** None wider than the width. The document's title is not among them: it is the view's. */
  lines: Line[];
  /** One for each line: what can be done with it, or null. */
  targets: (Target | null)[];
}

/** A document as lines of at most `width` columns, with what each line opens. */
export function layoutDocument(document: Document, width: number, ascii: boolean): DocumentLayout {
  const room = Math.max(1, width);
  const signs = glyphs(ascii);
  const layout: DocumentLayout = { lines: [], targets: [] };
  for (const [index, block] of document.blocks.entries()) {
    if (index > 0 && isApart(document.blocks[index - 1], block)) put(layout, [], null);
    for (const { row, lines } of blockLines(block, room, ascii, signs)) {
      const target = row === null ? null : targetOf(block, index, row);
      for (const line of lines) {
        const fits = lineWidth(line) <= room;
        put(layout, fits ? line : cutLine(line, room, { ellipsis: signs.ellipsis }), target);
      }
    }
  }
  return layout;
}

function put(layout: DocumentLayout, line: Line, target: Target | null): void {
  layout.lines.push(line.filter((piece) => piece.text !== ""));
  layout.targets.push(target);
}

/** A heading stands close to what it heads; gauges stand together. */
function isApart(before: Block | undefined, block: Block): boolean {
  return before?.type !== "heading" && !(before?.type === "gauge" && block.type === "gauge");
}

function targetOf(block: Block, index: number, row: number): Target | null {
  const source = block.type === "table" ? block.rows[row] : block.type === "tree" ? block.items[row] : undefined;
  if (!source || (source.open === undefined && source.target === undefined)) return null;
  return { open: source.open ?? null, target: source.target ?? null, block: index, row };
}

function blockLines(block: Block, width: number, ascii: boolean, signs: Glyphs): RowLines[] {
  switch (block.type) {
    case "heading":
      return whole(wrapSpans([{ text: printableLine(block.text), style: "heading", bold: true }], width));
    case "text":
      return whole(textLines(block, width, ascii));
    case "fields":
      return whole(fieldLines(block.rows, width));
    case "gauge":
      return whole(gaugeLines(block, width, signs));
    case "table":
      return tableBlock(block, width, signs);
    case "tree":
      return treeBlock(block, width, signs);
  }
}

function whole(lines: Line[]): RowLines[] {
  return [{ row: null, lines }];
}

function textLines(block: { text: string; markdown?: boolean; tone?: Tone }, width: number, ascii: boolean): Line[] {
  if (block.markdown) return markdownLines(block.text, width, { ascii });
  return plainLines(printableText(block.text).trimEnd(), width, toneStyle(block.tone), Number.POSITIVE_INFINITY);
}

/** Below this width a value stands under its label. */
const SIDE_BY_SIDE_FROM = 28;

function fieldLines(rows: readonly { label: string; value: string; tone?: Tone }[], width: number): Line[] {
  const labels = rows.map((row) => printableLine(row.label));
  const widest = Math.min(Math.max(0, ...labels.map(textWidth)), Math.max(8, Math.floor(width * 0.4)));
  const beside = width >= SIDE_BY_SIDE_FROM;
  return rows.flatMap((row, index) => {
    const label = labels[index] ?? "";
    const text = printableText(row.value).trimEnd();
    const value = text === "" ? [] : [span(text, toneStyle(row.tone))];
    if (beside) {
      const margin = `${padEnd(label, widest)}  `;
      return wrapSpans(value, width, { first: [span(margin, "label")], rest: [span(" ".repeat(widest + 2))] });
    }
    return [[span(label || "-", "label")], ...wrapSpans(value, width, { first: [span("  ")], rest: [span("  ")] })];
  });
}

interface Gauge {
  label: string;
  value: number;
  limit: number | null;
  note?: string;
  tone?: Tone;
}

const WIDEST_BAR = 40;
const NARROWEST_BAR = 5;

/** A label, a bar, the percentage and the two amounts. Without a limit there is no bar and no percentage to invent. */
function gaugeLines(block: Gauge, width: number, signs: Glyphs): Line[] {
  const style = toneStyle(block.tone);
  const label = span(printableLine(block.label), "label");
  const note = block.note === undefined ? [] : [span(`  ${printableLine(block.note)}`, "faint")];
  const used = amount(block.value);
  if (block.limit === null || !(block.limit > 0) || !Number.isFinite(block.value)) {
    return wrapSpans([label, span("  "), span(used, style), ...note], width, { rest: [span("  ")] });
  }
  const share = Math.max(0, block.value / block.limit);
  const percent = `${Math.round(share * 100)}%`;
  const says = [span(`  ${percent}`, style), span(`  ${used} / ${amount(block.limit)}`, "faint")];
  const room = width - lineWidth([label, span("  "), ...says]);
  if (room < NARROWEST_BAR) {
    const bar = barOf(share, Math.min(WIDEST_BAR, Math.max(0, width - 2)), style, signs);
    const head = wrapSpans([label, ...says, ...note], width, { rest: [span("  ")] });
    return bar.length > 0 ? [...head, [span("  "), ...bar]] : head;
  }
  // A shorter bar for a note beside it, where both stay readable.
  const besideNote = room - lineWidth(note);
  const bar = barOf(share, Math.min(WIDEST_BAR, besideNote >= NARROWEST_BAR * 2 ? besideNote : room), style, signs);
  const line = [label, span("  "), ...bar, ...says];
  if (note.length === 0 || lineWidth(line) + lineWidth(note) <= width) return [[...line, ...note]];
  return [line, ...wrapSpans([span(printableLine(block.note ?? ""), "faint")], width, { first: [span("  ")] })];
}

/** Full only when nothing is left, empty only when nothing is used. */
function barOf(share: number, width: number, style: Style, signs: Glyphs): Line {
  if (width <= 0) return [];
  const exact = Math.round(Math.min(1, share) * width);
  const filled = share >= 1 ? width : share > 0 ? Math.min(width - 1, Math.max(1, exact)) : 0;
  const parts = [
    span(signs.filled.repeat(Math.max(0, filled)), style),
    span(signs.hollow.repeat(width - filled), "border"),
  ];
  return parts.filter((part) => part.text !== "");
}

/** Tokens and dollars alike: large ones short, small ones with what they have after the point, at most two places. */
function amount(value: number): string {
  return Math.abs(value) < 1000 && Number.isFinite(value) ? String(Math.round(value * 100) / 100) : tokens(value);
}
