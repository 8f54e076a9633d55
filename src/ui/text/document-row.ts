import type { Tone } from "../../session/document.ts";
import type { Line, Style } from "./line.ts";

/** Lines of a block, and the row or item of it they show; null where they show none. */
export interface RowLines {
  row: number | null;
  lines: Line[];
}

/** The style of a tone; `text` where there is none. */
export function toneStyle(tone: Tone | undefined): Style {
  return tone ?? "text";
}
