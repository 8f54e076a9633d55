import type { Tokens } from "marked";
import { fitColumns } from "./columns.ts";
import type { Glyphs } from "./glyphs.ts";
import type { Line, Span } from "./line.ts";
import { lineText, lineWidth, padLine, span } from "./line.ts";
import { inlineSpans } from "./markdown-inline.ts";
import { textWidth } from "./width.ts";
import { wrapSpans } from "./wrap.ts";

/** Narrower than this a column says nothing, and the table becomes a list of its rows. */
const LEAST_COLUMN = 6;

/** A Markdown table in `width` columns: cells wrap inside their columns; too narrow, each row is a small list. */
export function tableLines(table: Tokens.Table, width: number, glyphs: Glyphs): Line[] {
  const header = table.header.map((cell) => inlineSpans(cell.tokens, { style: "strong", bold: true }));
  const body = table.rows.map((row) => row.map((cell) => inlineSpans(cell.tokens, { style: "text" })));
  const needs = header.map((cell, column) => {
    const natural = Math.max(1, cellWidth(cell), ...body.map((row) => cellWidth(row[column] ?? [])));
    return { natural, least: Math.min(natural, LEAST_COLUMN), flexible: false };
  });
  const widths = fitColumns(needs, width, 3);
  if (widths === null) return stacked(header, body, width, glyphs);
  const rule = widths.map((columns) => glyphs.rule.repeat(columns)).join(`${glyphs.rule}${glyphs.cross}${glyphs.rule}`);
  return [
    ...rowLines(header, widths, table.align, glyphs),
    [span(rule, "border")],
    ...body.flatMap((row) => rowLines(row, widths, table.align, glyphs)),
  ];
}

function cellWidth(cell: readonly Span[]): number {
  const text = cell.map((piece) => piece.text).join("");
  return text.includes("\n") ? Math.max(...text.split("\n").map(textWidth)) : textWidth(text);
}

function rowLines(
  row: readonly Span[][],
  widths: readonly number[],
  align: readonly (string | null)[],
  glyphs: Glyphs,
): Line[] {
  const cells = widths.map((columns, index) => wrapSpans(row[index] ?? [], columns));
  const height = Math.max(1, ...cells.map((cell) => cell.length));
  const lines: Line[] = [];
  for (let at = 0; at < height; at++) {
    const line: Line = [];
    for (const [index, columns] of widths.entries()) {
      if (index > 0) line.push(span(` ${glyphs.gutter} `, "border"));
      line.push(...aligned(cells[index]?.[at] ?? [], columns, align[index] ?? null));
    }
    lines.push(line);
  }
  return lines;
}

function aligned(cell: Line, width: number, align: string | null): Line {
  const missing = width - lineWidth(cell);
  if (missing <= 0) return cell;
  if (align === "right") return [span(" ".repeat(missing)), ...cell];
  const left = align === "center" ? Math.floor(missing / 2) : 0;
  return padLine(left > 0 ? [span(" ".repeat(left)), ...cell] : cell, width);
}

function stacked(header: readonly Span[][], body: readonly Span[][][], width: number, glyphs: Glyphs): Line[] {
  const lines: Line[] = [];
  for (const row of body) {
    for (const [index, cell] of row.entries()) {
      if (lineText(cell) === "") continue;
      const mark = index === 0 ? `${glyphs.bullet} ` : "  ";
      const title = header[index] ?? [];
      const label = title.length > 0 ? [...title, span(": ", "faint")] : [];
      lines.push(...wrapSpans([...label, ...cell], width, { first: [span(mark, "border")], rest: [span("  ")] }));
    }
  }
  return lines;
}
