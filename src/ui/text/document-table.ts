import type { Column, Row } from "../../session/document.ts";
import { fitColumns, GAP } from "./columns.ts";
import { type RowLines, toneStyle } from "./document-row.ts";
import type { Glyphs } from "./glyphs.ts";
import { type Line, type Span, type Style, span } from "./line.ts";
import { printableLine } from "./printable.ts";
import { cut, padEnd, padStart, textWidth } from "./width.ts";
import { wrapSpans } from "./wrap.ts";

/** A flexible column narrower than this tells nothing. */
const LEAST_FLEXIBLE = 12;
/** Columns that are not flexible are cut no further than this. */
const LEAST_FIXED = 6;

interface TableBlock {
  columns: Column[];
  rows: Row[];
  empty?: string;
}

interface Shown {
  column: Column;
  /** Its index among all columns: which cell of a row it shows. */
  index: number;
  title: string;
}

/** A table fitted to the width; where even its least columns do not fit, each row takes two or more lines. */
export function tableBlock(block: TableBlock, width: number, signs: Glyphs): RowLines[] {
  if (block.rows.length === 0) {
    return [{ row: null, lines: wrapSpans([span(printableLine(block.empty ?? "nothing here"), "faint")], width) }];
  }
  const shown = block.columns.flatMap((column, index): Shown[] => {
    const fits = column.from === undefined || width >= column.from;
    return fits ? [{ column, index, title: printableLine(column.title) }] : [];
  });
  const cells = block.rows.map((row) => shown.map(({ index }) => printableLine(row.cells[index] ?? "")));
  const needs = shown.map(({ column, title }, at) => {
    let natural = Math.max(1, textWidth(title));
    for (const row of cells) natural = Math.max(natural, textWidth(row[at] ?? ""));
    const flexible = column.flexible ?? false;
    return { natural, least: Math.min(natural, flexible ? LEAST_FLEXIBLE : LEAST_FIXED), flexible };
  });
  const widths = fitColumns(needs, width);
  if (widths === null) {
    return block.rows.map((row, index) => ({
      row: index,
      lines: stackedRow(shown, cells[index] ?? [], row, width, signs),
    }));
  }
  const draw = (texts: readonly string[], style: Style, bold: boolean): Line =>
    rowLine(shown, texts, widths, { style, bold }, signs);
  const titles = shown.map(({ title }) => title);
  const header = titles.some((title) => title !== "") ? [{ row: null, lines: [draw(titles, "label", true)] }] : [];
  const rows = block.rows.map((row, index) => ({
    row: index,
    lines: [draw(cells[index] ?? [], toneStyle(row.tone), row.tone === "strong")],
  }));
  return [...header, ...rows];
}

function rowLine(
  shown: readonly Shown[],
  texts: readonly string[],
  widths: readonly number[],
  look: { style: Style; bold: boolean },
  signs: Glyphs,
): Line {
  const pieces = shown.map(({ column }, at) => {
    const room = widths[at] ?? 0;
    const text = texts[at] ?? "";
    return column.align === "right" ? padStart(text, room, signs.ellipsis) : padEnd(text, room, signs.ellipsis);
  });
  // Spaces at the end of a row are no use.
  const text = pieces.join(" ".repeat(GAP)).trimEnd();
  if (text === "") return [];
  return [look.bold ? { text, style: look.style, bold: true } : span(text, look.style)];
}

/** The cell that says most on a line of its own, the others beneath it with their titles. */
function stackedRow(shown: readonly Shown[], cells: readonly string[], row: Row, width: number, signs: Glyphs): Line[] {
  const lead = Math.max(
    0,
    shown.findIndex(({ column }) => column.flexible),
  );
  const style = toneStyle(row.tone);
  const head = cut(cells[lead] ?? "", width, signs.ellipsis);
  const rest: Span[] = [];
  for (const [at, { title }] of shown.entries()) {
    const cell = cells[at] ?? "";
    if (at === lead || cell === "") continue;
    if (rest.length > 0) rest.push(span("  "));
    // No-break spaces keep a title with its value.
    if (title !== "") rest.push(span(`${title.replaceAll(" ", "\u00a0")}\u00a0`, "faint"));
    rest.push(span(cell.replaceAll(" ", "\u00a0"), style));
  }
  const lines: Line[] = head === "" ? [] : [[{ text: head, style, bold: true }]];
  if (rest.length > 0) lines.push(...wrapSpans(rest, width, { first: [span("  ")], rest: [span("  ")] }));
  return lines.length > 0 ? lines : [[]];
}
