import type { TreeItem } from "../../session/document.ts";
import { type RowLines, toneStyle } from "./document-row.ts";
import type { Glyphs } from "./glyphs.ts";
import { cutLine, type Line, span } from "./line.ts";
import { printableLine } from "./printable.ts";
import { textWidth } from "./width.ts";
import { wrapSpans } from "./wrap.ts";

/** Columns of one level's guide. */
const STEP = 2;

interface TreeBlock {
  items: TreeItem[];
  empty?: string;
}

/** A tree, one line an item, with guides. At most half of the width is indentation; deeper levels share the last guide. */
export function treeBlock(block: TreeBlock, width: number, signs: Glyphs): RowLines[] {
  if (block.items.length === 0) {
    return [{ row: null, lines: wrapSpans([span(printableLine(block.empty ?? "nothing here"), "faint")], width) }];
  }
  const depths = trueDepths(block.items);
  const deepest = Math.max(1, Math.floor(width / 2 / STEP));
  const continues = continuing(depths, deepest);
  return block.items.map((item, index) => {
    const guides = guideText(depths[index] ?? 0, deepest, continues[index] ?? [], signs);
    return { row: index, lines: [itemLine(item, guides, width, signs)] };
  });
}

/** No item is more than one level below the one before it, whatever it claims. */
function trueDepths(items: readonly TreeItem[]): number[] {
  const depths: number[] = [];
  let before = -1;
  for (const item of items) {
    const claimed = Number.isFinite(item.depth) ? Math.max(0, Math.floor(item.depth)) : 0;
    before = Math.min(claimed, before + 1);
    depths.push(before);
  }
  return depths;
}

/** For each item, for each shown level up to its own: does another item of that level follow under the same parent? */
function continuing(depths: readonly number[], deepest: number): boolean[][] {
  const answers: boolean[][] = [];
  const follows: boolean[] = [];
  for (let index = depths.length - 1; index >= 0; index--) {
    const depth = depths[index] ?? 0;
    follows.length = Math.min(follows.length, depth + 1);
    answers[index] = Array.from({ length: Math.min(depth, deepest) + 1 }, (_, level) => follows[level] ?? false);
    follows[depth] = true;
  }
  return answers;
}

/** Items of level 0 have no guide: there may be many roots. */
function guideText(depth: number, deepest: number, continues: readonly boolean[], signs: Glyphs): string {
  let text = "";
  for (let level = 1; level < Math.min(depth, deepest); level++) text += continues[level] ? `${signs.trunk} ` : "  ";
  if (depth === 0) return text;
  if (depth > deepest) return `${text}${signs.ellipsis} `;
  return `${text}${continues[depth] ? signs.branch : signs.lastBranch} `;
}

/** The label is cut before the note, and the note is left out before the label has less than half of the room. */
function itemLine(item: TreeItem, guides: string, width: number, signs: Glyphs): Line {
  const style = toneStyle(item.tone);
  const room = Math.max(0, width - textWidth(guides));
  const label = printableLine(item.label) || "-";
  const note = printableLine(item.note ?? "");
  const start: Line = guides === "" ? [] : [span(guides, "border")];
  const named = item.tone === "strong" ? { text: label, style, bold: true } : span(label, style);
  const noteWidth = note === "" ? 0 : textWidth(note) + 2;
  const spare = Math.max(noteWidth > room / 2 ? Math.floor(room / 2) : noteWidth, room - textWidth(label));
  const shownNote = note === "" ? [] : cutLine([span(`  ${note}`, "faint")], spare, { ellipsis: signs.ellipsis });
  const used = shownNote.reduce((sum, piece) => sum + textWidth(piece.text), 0);
  return [...start, ...cutLine([named], room - used, { ellipsis: signs.ellipsis }), ...shownNote];
}
