import type { Entry } from "../../session/entry.ts";
import { diffLines, isPatch, patchRows } from "./diff.ts";
import { bodyLines, hiddenLine } from "./entry-body.ts";
import { isFolded, MOST_LINES, type Sheet } from "./entry-options.ts";
import { type Line, type Span, span } from "./line.ts";
import { printableLine, withoutSequences } from "./printable.ts";
import { wrapSpans } from "./wrap.ts";

/** Longer patches are shown as plain text. */
const MOST_PATCH = 256 * 1024;

/** A result: how it ended where that is not well, its first lines, what was left out and where the rest lies. */
export function resultLines(entry: Entry, sheet: Sheet): Line[] {
  const text = withoutVerdict(withoutSequences(entry.text ?? ""), entry);
  const first = [span(`${sheet.glyphs.result} `, "faint")];
  const rest = [span("  ")];
  const verdict = verdictOf(entry, sheet);
  const limit = MOST_LINES.result[sheet.fold];
  const lines: Line[] = [];
  if (verdict.length > 0) lines.push(...wrapSpans(verdict, sheet.width, { first, rest }));
  const start = verdict.length > 0 ? rest : first;
  if (text.trim() !== "") lines.push(...outputLines(text, start, rest, limit, sheet));
  else if (verdict.length === 0 && entry.media === null) lines.push([...first, span("no output", "faint")]);
  lines.push(...leftOut(entry, rest, sheet));
  return lines;
}

/** Some tools begin the text with the exit code that the record holds too: once is enough. */
function withoutVerdict(text: string, entry: Entry): string {
  const said = `exit ${entry.result?.exit}\n`;
  return entry.result?.exit != null && text.startsWith(said) ? text.slice(said.length) : text;
}

function verdictOf(entry: Entry, sheet: Sheet): Span[] {
  const result = entry.result;
  if (result === null) return [];
  const exit = result.exit ?? 0;
  if (!result.isError && exit === 0) return [];
  const word = exit === 0 ? "error" : `exit ${exit}`;
  return [span(`${sheet.glyphs.bad} ${word}`, "bad")];
}

function outputLines(text: string, first: Line, rest: Line, limit: number, sheet: Sheet): Line[] {
  if (!isFolded(sheet.fold) && text.length <= MOST_PATCH && isPatch(text)) {
    const laid = diffLines(patchRows(text), sheet.width - 2, { ascii: sheet.ascii, limit });
    const lines = laid.lines.map((line, index) => [...(index === 0 ? first : rest), ...line]);
    return laid.hidden > 0 ? [...lines, hiddenLine(laid.hidden, 0, rest, sheet)] : lines;
  }
  const style = isFolded(sheet.fold) ? "faint" : "text";
  return bodyLines({ text, style, limit, first, rest }, sheet);
}

/** What the tool itself left out before it wrote the result down. */
function leftOut(entry: Entry, rest: Line, sheet: Sheet): Line[] {
  const result = entry.result;
  if (result === null || (!result.truncated && result.fullOutput === null)) return [];
  const where = result.fullOutput === null ? "" : printableLine(result.fullOutput);
  const said = [
    ...(result.truncated ? [span("cut by the tool", "warn")] : []),
    ...(where === "" ? [] : [span(`${result.truncated ? ", " : ""}full output: `, "faint"), span(where, "label")]),
  ];
  return wrapSpans(said, sheet.width, { first: rest, rest });
}
