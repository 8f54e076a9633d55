import type { StatusName } from "../session/status.ts";
import type { Span } from "./text/line.ts";
import type { ColourDepth } from "./theme.ts";

/** A span that shows a status takes that status's colour in place of its style's; one with a paint, the person's own choice. */
export type TonedSpan = Span & { tone?: StatusName; paint?: string };

export function toned(text: string, status: StatusName): TonedSpan {
  return { text, style: "text", tone: status };
}

/** The colours a person can give a session (questmaster.md §8.8), for sixteen colours and for all. */
const PAINTS: Record<string, { sixteen: string; full: string }> = {
  blue: { sixteen: "blue", full: "#5b8def" },
  green: { sixteen: "green", full: "#4fb06d" },
  yellow: { sixteen: "yellow", full: "#d9b13b" },
  magenta: { sixteen: "magenta", full: "#c667c9" },
  cyan: { sixteen: "cyan", full: "#3fb6c6" },
  red: { sixteen: "red", full: "#e0605e" },
  orange: { sixteen: "yellow", full: "#e08b3e" },
  gold: { sixteen: "yellow", full: "#c9a227" },
  lime: { sixteen: "greenBright", full: "#9ccc3c" },
  teal: { sixteen: "cyan", full: "#2fa39a" },
  sky: { sixteen: "cyanBright", full: "#62b5f0" },
  indigo: { sixteen: "blueBright", full: "#6b6fe0" },
  violet: { sixteen: "magentaBright", full: "#9a6be0" },
  pink: { sixteen: "magentaBright", full: "#e87fb0" },
};

/** The colour of a paint on this terminal, null where there are none or the name is none of ours. */
export function paintColour(paint: string, depth: ColourDepth): string | null {
  if (depth === "none" || !Object.hasOwn(PAINTS, paint)) return null;
  return PAINTS[paint]?.[depth] ?? null;
}
