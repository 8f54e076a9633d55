import type { Entry } from "../../session/entry.ts";
import type { Glyphs } from "./glyphs.ts";

/** How much of an entry is shown: a line that tells what it is, a glance, most of it, all of it. */
export type Fold = "outline" | "folded" | "open" | "full";

/** Does it show less than most of it? */
export function isFolded(fold: Fold): boolean {
  return fold === "outline" || fold === "folded";
}

export interface EntryOptions {
  /** Columns; no line is wider. */
  width: number;
  fold: Fold;
  /** Show marks in the margin for what the model does not see. */
  context: boolean;
  ascii: boolean;
  /** For ages, ms since 1970. Rounded to the minute by those who keep layouts. */
  now: number;
  /** The result of a call, or the call of a result; null when there is none, left out when nobody looked. */
  paired?: Entry | null;
}

/** What the parts of an entry are laid out with: the room inside its margin. */
export interface Sheet {
  width: number;
  fold: Fold;
  ascii: boolean;
  glyphs: Glyphs;
  now: number;
  paired: Entry | null | undefined;
}

/** The most lines of one entry in each fold, by what it is. `full` has a bound too: a screen is not a pager of gigabytes. */
export const MOST_LINES = {
  message: { outline: 2, folded: 20, open: 400, full: 50_000 },
  injected: { outline: 1, folded: 1, open: 60, full: 50_000 },
  text: { outline: 1, folded: 80, open: 600, full: 50_000 },
  detail: { outline: 0, folded: 0, open: 80, full: 50_000 },
  result: { outline: 1, folded: 3, open: 80, full: 50_000 },
  error: { outline: 2, folded: 8, open: 80, full: 50_000 },
} as const satisfies Record<string, Record<Fold, number>>;
