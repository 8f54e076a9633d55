import type { Entry } from "../../session/entry.ts";
import { counted, duration } from "./amounts.ts";
import { argumentsOf, commandOf, type Edit, editsOf, summaryOf } from "./call-arguments.ts";
import { type DiffRow, diffCounts, diffLines, diffRows, patchRows, wholeRows } from "./diff.ts";
import { bodyLines, hiddenLine } from "./entry-body.ts";
import { MOST_LINES, type Sheet } from "./entry-options.ts";
import { jsonLines } from "./json.ts";
import { type Line, span, spread } from "./line.ts";
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
  const right = [...changeCounts(changes), ...outcome(entry, sheet)];
  return spread(left, right.slice(1), sheet.width, sheet.glyphs.ellipsis);
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
  if (paired === undefined) return [];
  if (paired === null) return [span(" "), span(`${sheet.glyphs.waiting} no result`, "warn")];
  const took = tookTime(entry, paired);
  const time = took === null ? [] : [span(" "), span(duration(took), "faint")];
  const result = paired.result;
  const failed = result !== null && (result.isError || (result.exit ?? 0) !== 0);
  if (!failed) return time;
  const word = result.exit === null || result.exit === 0 ? "error" : `exit ${result.exit}`;
  return [...time, span(" "), span(`${sheet.glyphs.bad} ${word}`, "bad")];
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
  if (script !== null && keys.length === 1) {
    return bodyLines({ text: script, style: "code", limit, first: indent, rest: indent }, sheet);
  }
  const laid = jsonLines(named, sheet.width - 2, limit);
  const lines = laid.lines.map((line) => [...indent, ...line]);
  if (laid.more) lines.push([...indent, span(`${sheet.glyphs.ellipsis} more arguments`, "faint")]);
  return lines;
}
