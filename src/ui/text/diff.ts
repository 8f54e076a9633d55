import { structuredPatch } from "diff";
import { type Glyphs, glyphs } from "./glyphs.ts";
import type { Line, Style } from "./line.ts";
import { span } from "./line.ts";
import { printableLine, printableText } from "./printable.ts";
import { wrapSpans } from "./wrap.ts";

/** One row of a difference. `@` introduces what follows: a file, a place in it. */
export interface DiffRow {
  sign: "+" | "-" | " " | "@";
  /** 1-based line in the new text (in the old one for `-`), null where nobody knows it. */
  number: number | null;
  text: string;
}

/** Differences beyond this many changed lines are not searched for: everything old goes, everything new comes. */
const MOST_EDITS = 1000;
/** Units of both texts together above which they are not compared either. */
const MOST_COMPARED = 512 * 1024;

export interface DiffOptions {
  /** Unchanged lines around a change. */
  context?: number;
  /** false when the texts are pieces of a file, so that their line numbers would mislead. */
  numbers?: boolean;
}

/** What changed between two texts. */
export function diffRows(before: string, after: string, options: DiffOptions = {}): DiffRow[] {
  const numbers = options.numbers ?? true;
  const comparable = before.length + after.length <= MOST_COMPARED;
  const patch = comparable
    ? structuredPatch("", "", withBreak(before), withBreak(after), undefined, undefined, {
        context: options.context ?? 3,
        maxEditLength: MOST_EDITS,
      })
    : undefined;
  if (!patch) return [...wholeRows(before, "-", numbers), ...wholeRows(after, "+", numbers)];
  const rows: DiffRow[] = [];
  for (const [index, hunk] of patch.hunks.entries()) {
    if (index > 0 || hunk.oldStart > 1) rows.push({ sign: "@", number: null, text: "" });
    rows.push(...hunkRows(hunk.lines, hunk.oldStart, hunk.newStart, numbers));
  }
  return rows;
}

/** Without it a missing last line break would be a change of the last line. */
function withBreak(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Every line of a text with one sign: a file that is new, or gone. */
export function wholeRows(text: string, sign: "+" | "-", numbers = true): DiffRow[] {
  if (text === "") return [];
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  return lines.map((line, index) => ({ sign, number: numbers ? index + 1 : null, text: line }));
}

function hunkRows(lines: readonly string[], oldStart: number, newStart: number, numbers: boolean): DiffRow[] {
  const rows: DiffRow[] = [];
  let before = oldStart;
  let after = newStart;
  for (const line of lines) {
    const sign = line[0];
    const text = line.slice(1);
    if (sign === "+") rows.push({ sign, number: numbers ? after++ : null, text });
    else if (sign === "-") rows.push({ sign, number: numbers ? before++ : null, text });
    else if (sign === " " || sign === undefined) {
      rows.push({ sign: " ", number: numbers ? after : null, text });
      before++;
      after++;
    }
  }
  return rows;
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$/u;
const FILE = /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ |--- |diff --git |rename (?:from|to) )/u;
const NOISE =
  /^(?:\*\*\* (?:Begin|End) (?:Patch|of File)|index [0-9a-f]+\.\.|(?:new|deleted) file mode |similarity index |\\ No newline)/u;

/** A patch as agents write them: unified, git's, or the "*** Begin Patch" kind. Tolerant: what is no patch is context. */
export function patchRows(patch: string): DiffRow[] {
  const reader = new PatchReader();
  for (const line of (patch.endsWith("\n") ? patch.slice(0, -1) : patch).split("\n")) reader.read(line);
  return reader.rows;
}

class PatchReader {
  readonly rows: DiffRow[] = [];
  /** Next line in the old and new text, null where the patch does not say. */
  #before: number | null = null;
  #after: number | null = null;
  /** Lines the hunk still has: inside it, "--- x" is a removed line that begins with "-- ". */
  #oldLeft = 0;
  #newLeft = 0;

  read(line: string): void {
    const inHunk = this.#oldLeft > 0 || this.#newLeft > 0;
    const ruler = /^(?:---|\+\+\+) /u.test(line);
    if (inHunk && (ruler || !(FILE.test(line) || line.startsWith("@@")))) this.#change(line);
    else if (line.startsWith("@@")) this.#hunk(line);
    else if (FILE.test(line)) this.#file(line);
    else this.#change(line);
  }

  #hunk(line: string): void {
    const [, oldStart, oldLines = "1", newStart, newLines = "1", title = line.slice(2)] = HUNK.exec(line) ?? [];
    this.#before = oldStart === undefined ? null : Number(oldStart);
    this.#after = newStart === undefined ? null : Number(newStart);
    this.#oldLeft = oldStart === undefined ? Number.POSITIVE_INFINITY : Number(oldLines);
    this.#newLeft = newStart === undefined ? Number.POSITIVE_INFINITY : Number(newLines);
    this.#introduce(title.trim());
  }

  #file(line: string): void {
    this.#before = this.#after = null;
    // Lines of an added file follow its name without a hunk.
    this.#oldLeft = this.#newLeft = line.startsWith("*** ") ? Number.POSITIVE_INFINITY : 0;
    const name = fileName(line);
    if (name !== "") this.#introduce(name);
  }

  #introduce(text: string): void {
    this.rows.push({ sign: "@", number: null, text });
  }

  #change(line: string): void {
    if (NOISE.test(line)) return;
    const first = line[0];
    const sign = first === "+" || first === "-" ? first : " ";
    const number = sign === "-" ? this.#before : this.#after;
    this.rows.push({ sign, number, text: first === sign ? line.slice(1) : line });
    if (sign !== "+") {
      this.#oldLeft--;
      if (this.#before !== null) this.#before++;
    }
    if (sign !== "-") {
      this.#newLeft--;
      if (this.#after !== null) this.#after++;
    }
  }
}

/** One name a file: git's header and the old name say what the new name says again. */
function fileName(line: string): string {
  if (line.startsWith("diff --git ") || line.startsWith("--- ")) return "";
  if (line.startsWith("*** ")) return line.slice(4);
  return line.replace(/^\+\+\+ (?:b\/)?/u, "").replace(/\t.*$/su, "");
}

/** Does a text look like a patch? Looks at its beginning only. */
export function isPatch(text: string): boolean {
  return /^(?:\s*\*\*\* Begin Patch|diff --git |--- [^\n]+\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)/u.test(text);
}

/** Lines added and removed. */
export function diffCounts(rows: readonly DiffRow[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const row of rows) {
    if (row.sign === "+") added++;
    else if (row.sign === "-") removed++;
  }
  return { added, removed };
}

export interface DiffLayout {
  ascii?: boolean;
  /** Most lines. */
  limit?: number;
}

/** Below this width line numbers would cost more than they tell. */
const NUMBERED_FROM = 32;

/** Rows as lines of at most `width` columns, and how many rows found no place. The sign stands in its own column. */
export function diffLines(
  rows: readonly DiffRow[],
  width: number,
  layout: DiffLayout = {},
): { lines: Line[]; hidden: number } {
  const limit = layout.limit ?? Number.POSITIVE_INFINITY;
  const signs = glyphs(layout.ascii ?? false);
  let highest = 0;
  for (const row of rows) highest = Math.max(highest, row.number ?? 0);
  const digits = highest > 0 && width >= NUMBERED_FROM ? String(highest).length : 0;
  const lines: Line[] = [];
  for (const [index, row] of rows.entries()) {
    const room = limit - lines.length;
    if (room <= 0) return { lines, hidden: rows.length - index };
    lines.push(...rowLines(row, width, digits, room, signs));
  }
  return { lines, hidden: 0 };
}

const ROW_STYLES: Record<DiffRow["sign"], Style> = { "+": "added", "-": "removed", " ": "text", "@": "faint" };

function rowLines(row: DiffRow, width: number, digits: number, limit: number, signs: Glyphs): Line[] {
  const style = ROW_STYLES[row.sign];
  const margin = digits > 0 ? [span(`${(row.number ?? "").toString().padStart(digits)} `, "faint")] : [];
  const blank = digits > 0 ? [span(" ".repeat(digits + 1), "faint")] : [];
  if (row.sign === "@") {
    const text = row.text === "" ? signs.ellipsis : printableLine(row.text);
    return wrapSpans([span(text, "faint")], width, { first: blank, rest: blank, limit });
  }
  const text = printableText(row.text).replaceAll("\n", " ");
  return wrapSpans(text === "" ? [] : [span(text, style)], width, {
    first: [...margin, span(`${row.sign} `, style)],
    rest: [...blank, span("  ", style)],
    limit,
  });
}
