import { STATUSES } from "../../session/status.ts";
import type { Picker, PickerItem } from "../../store/view.ts";
import { highlight, type Line, span, spread } from "../text/line.ts";
import { printableLine } from "../text/printable.ts";
import { wrapSpans } from "../text/wrap.ts";
import { toned } from "../toned.ts";
import type { OverlayContent, Typed } from "./overlay-content.ts";
import { hintLines, inputLine } from "./overlay-lines.ts";

const INDENT: Line = [span("     ")];

/** The items that fit what was typed. */
export function pickerItems(picker: Picker, text: string): readonly PickerItem[] {
  if (!picker.typing || text === "") return picker.items;
  const words = text.toLowerCase().split(/\s+/u);
  return picker.items.filter((item) =>
    words.every((word) => `${item.label} ${item.detail ?? ""}`.toLowerCase().includes(word)),
  );
}

export function pickerContent(picker: Picker, typed: Typed, width: number, ascii: boolean): OverlayContent {
  const items = pickerItems(picker, typed.line.text);
  // Nothing can be narrowed while there is nothing.
  const lines: Line[] = picker.typing && picker.items.length > 0 ? [inputLine("narrow: ", typed.line, width)] : [];
  let chosenAt = 0;
  items.forEach((item, at) => {
    const chosen = at === typed.chosen;
    if (chosen) chosenAt = lines.length;
    lines.push(pickerLine(item, chosen, width, ascii));
    if (!item.detail) return;
    for (const line of wrapSpans([span(printableLine(item.detail), "faint")], width, { first: INDENT, rest: INDENT })) {
      lines.push((picker.marks ?? []).reduce<Line>((marked, mark) => highlight(marked, mark), line));
    }
  });
  if (picker.busy) lines.push(...hintLines(items.length === 0 ? "looking …" : "looking for more …", width));
  else if (picker.items.length === 0) lines.push(...hintLines(picker.empty, width));
  else if (items.length === 0) lines.push(...hintLines("Nothing here fits what you typed.", width));
  return { title: picker.title, lines, chosenAt };
}

function pickerLine(item: PickerItem, chosen: boolean, width: number, ascii: boolean): Line {
  const mark: Line = [span(chosen ? " ❯ " : "   ", "accent")];
  if (item.status) {
    const row = STATUSES[item.status];
    mark.push(toned(`${ascii ? row.ascii : row.glyph} `, item.status));
  }
  return spread(
    [...mark, span(printableLine(item.label), chosen ? "strong" : "text")],
    [span(printableLine(item.note ?? ""), "faint")],
    width,
  );
}
