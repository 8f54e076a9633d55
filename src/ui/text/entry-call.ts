import type { Entry } from "../../session/entry.ts";
import { counted, duration } from "./amounts.ts";
import { argumentsOf, commandOf, type Edit, editsOf, summaryOf, withoutScript } from "./call-arguments.ts";
import { type DiffRow, diffCounts, diffLines, diffRows, patchRows, wholeRows } from "./diff.ts";
import { bodyLines, hiddenLine } from "./entry-body.ts";
import { MOST_LINES, type Sheet } from "./entry-options.ts";
import { jsonLines } from "./json.ts";
import { type Line, lineWidth, span, spread } from "./line.ts";
import { printableLine } from "./printable.ts";

/** A call: one line with what it is about; opened, its edits as differences, its command or its arguments. */
export function callLines(entry: Entry, sheet: Sheet): Line[] {
  const call = entry.call ?? { id: "", name: "call", args: entry.text ?? {} };
  const edits = editsOf(call.args);
  const changes = edits?.map((edit) => ({ edit, rows: editRows(edit) })) ?? [];
  const lines = [headLine(call, changes, entry, sheet)];
  const limit = MOST_LINES.detail[sheet.fold];
  if (limit === 0) return lines;
  if (changes.length > 0) lines.push(...changeLines(changes, limit, sheet));
  else lines.push(...argumentLines(call.args, limit, sheet));
  return lines;
}

interface Change {
  edit: Edit;
  rows: DiffRow[];
}

function editRows(edit: Edit): DiffRow[] {
  if (edit.kind === "patch") return patchRows(edit.patch);
  if (edit.kind === "write") return wholeRows(edit.content, "+");
  return diffRows(edit.before, edit.after, { numbers: false });
}

function headLine(call: { name: string; args: unknown }, changes: readonly Change[], entry: Entry, sheet: Sheet): Line {
  const summary = summaryOf(call.args);
  const left: Line = [
    span(`${sheet.glyphs.call} `, "tool"),
    { text: printableLine(call.name) || "call", style: "tool", bold: true },
  ];
  if (summary.main !== "") left.push(span(` ${summary.main}`));
  if (summary.aside !== "") left.push(span(` ${summary.aside}`, "faint"));
  return spread(left, rightEdge(changes, entry, sheet), sheet.width, sheet.glyphs.ellipsis);
}

/** As much as leaves the summary half of the line: counts go first, then the time, the words last; the mark stays. */
function rightEdge(changes: readonly Change[], entry: Entry, sheet: Sheet): Line {
  const ending = outcome(entry, sheet);
  const time = tookSpans(entry, sheet);
  const choices = [[...changeCounts(changes), ...time, ...ending], [...time, ...ending], ending];
  // The first span of each is the space before it.
  const right = choices.map((choice) => choice.slice(1)).find((choice) => lineWidth(choice) + 1 <= sheet.width / 2);
  return right ?? ending.slice(1).map((piece) => ({ ...piece, text: piece.text.slice(0, 1) }));
}

/** Each part of the right edge brings the space before it. */
function changeCounts(changes: readonly Change[]): Line {
  if (changes.length === 0) return [];
  const { added, removed } = diffCounts(changes.flatMap((change) => change.rows));
  return [span(" "), span(`+${added}`, "added"), span(" "), span(`-${removed}`, "removed")];
}

/** How the call ended, in as few columns as it takes: a mark and a word, never a colour alone. */
function outcome(entry: Entry, sheet: Sheet): Line {
  const paired = sheet.paired;
  if (paired === undefined || entry.call === null) return [];
  if (paired === null) return [span(" "), span(`${sheet.glyphs.waiting} no result`, "warn")];
  const result = paired.result;
  if (result === null || (!result.isError && (result.exit ?? 0) === 0)) return [];
  const word = result.exit === null || result.exit === 0 ? "error" : `exit ${result.exit}`;
  return [span(" "), span(`${sheet.glyphs.bad} ${word}`, "bad")];
}

function tookSpans(entry: Entry, sheet: Sheet): Line {
  const took = sheet.paired ? tookTime(entry, sheet.paired) : null;
  return took === null ? [] : [span(" "), span(duration(took), "faint")];
}

/** Milliseconds between a call and its result, null when not both tell their time or nobody would notice. */
function tookTime(call: Entry, result: Entry): number | null {
  if (call.time === null || result.time === null) return null;
  const took = Date.parse(result.time) - Date.parse(call.time);
  return Number.isFinite(took) && took >= 100 ? took : null;
}

function changeLines(changes: readonly Change[], limit: number, sheet: Sheet): Line[] {
  const lines: Line[] = [];
  for (const [index, { edit, rows }] of changes.entries()) {
    const room = limit - lines.length;
    if (room <= 0) {
      lines.push([span(`  ${sheet.glyphs.ellipsis} +${counted(changes.length - index, "edit")}`, "faint")]);
      break;
    }
    if (changes.length > 1 && edit.path !== "") lines.push([span("  "), span(edit.path, "label")]);
    const laid = diffLines(rows, sheet.width - 2, { ascii: sheet.ascii, limit: room });
    lines.push(...laid.lines.map((line) => [span("  "), ...line]));
    if (laid.hidden > 0) lines.push(hiddenLine(laid.hidden, 0, [span("  ")], sheet));
  }
  return lines;
}

function argumentLines(args: unknown, limit: number, sheet: Sheet): Line[] {
  const named = argumentsOf(args);
  const indent = [span("  ")];
  const keys = Object.keys(named);
  if (keys.length === 0) return [];
  const command = commandOf(named);
  const script = command ?? (keys.length === 1 && typeof named.input === "string" ? named.input : null);
  const lines =
    script === null ? [] : bodyLines({ text: script, style: "code", limit, first: indent, rest: indent }, sheet);
  const others = script === null ? named : withoutScript(named);
  if (Object.keys(others).length === 0 || lines.length >= limit) return lines;
  const laid = jsonLines(others, sheet.width - 2, limit - lines.length);
  lines.push(...laid.lines.map((line) => [...indent, ...line]));
  if (laid.more) lines.push([...indent, span(`${sheet.glyphs.ellipsis} more arguments`, "faint")]);
  return lines;
}
