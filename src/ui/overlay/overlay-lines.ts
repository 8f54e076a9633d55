import { aroundCursorIn, type EditedLine } from "../line-editor.ts";
import { cutLine, type Line, lineWidth, padLine, span } from "../text/line.ts";
import { printableLine } from "../text/printable.ts";
import { cut, textWidth } from "../text/width.ts";
import { wrapSpans } from "../text/wrap.ts";

/** Less of a note than this says nothing; keys are shorter and fit. */
const LEAST_NOTE = 3;

/** A sentence, its later rows indented. */
export function wrapped(text: string, width: number, style: "text" | "warn" | "bad" | "good" | "faint"): Line[] {
  return wrapSpans([span(printableLine(text), style)], width, { first: [span(" ")], rest: [span("   ")] });
}

/** What can be done or typed here, dimmed. */
export function hintLines(text: string, width: number): Line[] {
  return wrapSpans([span(text, "faint")], width, { first: [span(" ")] });
}

/** A line being edited, with its cursor in sight. */
export function inputLine(sign: string, line: EditedLine, width: number): Line {
  return [span(` ${sign}`, "accent"), ...cursorSpans(line, width - 1 - textWidth(sign))];
}

export function cursorSpans(line: EditedLine, room: number): Line {
  const [before, under, after] = aroundCursorIn(line, room, textWidth);
  return [span(before), { ...span(under), inverse: true }, span(after)].filter((piece) => piece.text !== "");
}

/** One thing to choose; its note stands at the right edge. */
export function itemLine(label: string, note: string, chosen: boolean, width: number): Line {
  const left: Line = [span(chosen ? " ❯ " : "   ", "accent"), span(label, chosen ? "strong" : "text")];
  const shown = printableLine(note);
  const room = width - lineWidth(left) - 3;
  if (shown === "" || room < LEAST_NOTE) return cutLine(left, width);
  return [...padLine(left, width - Math.min(room, textWidth(shown)) - 1), span(cut(shown, room), "faint")];
}
