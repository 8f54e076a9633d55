import type { StatusTone } from "../session/status.ts";
import { type Background, isPaletteName, PALETTES, type Palette, type PaletteName } from "./palettes.ts";
import type { Span, Style } from "./text/line.ts";

/** What Ink's `<Text>` takes. */
export interface TextLook {
  color?: string;
  backgroundColor?: string;
  bold?: boolean;
  dimColor?: boolean;
  italic?: boolean;
  underline?: boolean;
  strikethrough?: boolean;
  inverse?: boolean;
}

/** How many colours there are: none at all, the terminal's sixteen, or any. */
export type ColourDepth = "none" | "sixteen" | "full";

export interface Theme {
  name: PaletteName | "none";
  depth: ColourDepth;
  styles: Record<Style, TextLook>;
  tones: Record<StatusTone, TextLook>;
}

export interface ThemeChoice {
  /** A name of `THEME_NAMES`; without one, `auto`. */
  theme?: string;
  /** Raw colours to be used in place of the palette's, by its names. */
  colours?: Partial<Record<keyof Palette, string>>;
}

/** What may be chosen. `contrast` and `colourblind` take the terminal's background into account. */
export const THEME_NAMES = [
  "auto",
  "dark",
  "light",
  "contrast",
  "contrast-dark",
  "contrast-light",
  "colourblind",
  "colourblind-dark",
  "colourblind-light",
  "none",
] as const;

/**
 * The theme for this terminal, and what is wrong with what was asked for, null when nothing. NO_COLOR (not empty) and
 * TERM=dumb win over every choice; COLORTERM and TERM say how many colours there are, COLORFGBG what is behind them.
 * Where the background is not known, `auto` uses the terminal's own sixteen: they are readable on whatever it is.
 */
export function resolveTheme(
  env: NodeJS.ProcessEnv,
  choice: ThemeChoice = {},
): { theme: Theme; problem: string | null } {
  const wanted = (choice.theme ?? "auto").toLowerCase().replace(/^colorblind/u, "colourblind");
  const background = backgroundOf(env);
  const name = paletteName(wanted, background ?? "dark");
  const badColours = Object.entries(choice.colours ?? {}).filter(([slot, colour]) => !isColour(slot, colour));
  const problem =
    name === null
      ? `unknown theme "${wanted}": one of ${THEME_NAMES.join(", ")}`
      : badColours.length > 0
        ? `not a colour: ${badColours.map(([slot]) => slot).join(", ")} (a name like "cyan", or "#rrggbb")`
        : null;
  const used = name ?? (background === "light" ? "light" : "dark");
  if (used === "none" || isColourless(env)) return { theme: PLAIN_THEME, problem };
  const named = wanted !== "auto" && name !== null;
  const depth: ColourDepth = hasFullColour(env) && (named || background !== null) ? "full" : "sixteen";
  const palette = { ...PALETTES[used][depth], ...goodColours(choice) };
  return { theme: themeOf(used, depth, palette), problem };
}

function paletteName(wanted: string, background: Background): PaletteName | "none" | null {
  if (wanted === "none") return "none";
  if (wanted === "auto") return background;
  if (wanted === "contrast") return background === "light" ? "contrast-light" : "contrast-dark";
  if (wanted === "colourblind") return background === "light" ? "colourblind-light" : "colourblind-dark";
  return isPaletteName(wanted) ? wanted : null;
}

function isColourless(env: NodeJS.ProcessEnv): boolean {
  return (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
}

function hasFullColour(env: NodeJS.ProcessEnv): boolean {
  return /^(?:truecolor|24bit)$/u.test(env.COLORTERM ?? "") || /-(?:direct|truecolor)$/u.test(env.TERM ?? "");
}

/** COLORFGBG is "foreground;background" in the terminal's sixteen: 7 and 9 to 15 are light, as rxvt and vim read it. */
function backgroundOf(env: NodeJS.ProcessEnv): Background | null {
  const last = (env.COLORFGBG ?? "").split(";").at(-1) ?? "";
  if (!/^\d{1,2}$/u.test(last)) return null;
  const colour = Number(last);
  return colour === 7 || (colour >= 9 && colour <= 15) ? "light" : "dark";
}

const COLOUR = /^(?:#[0-9a-f]{6}|(?:black|red|green|yellow|blue|magenta|cyan|white)(?:Bright)?|gray)$/iu;

function isColour(slot: string, colour: unknown): boolean {
  return Object.hasOwn(PALETTES.dark.full, slot) && typeof colour === "string" && COLOUR.test(colour);
}

function goodColours(choice: ThemeChoice): Partial<Record<keyof Palette, string>> {
  const good = Object.entries(choice.colours ?? {}).filter(([slot, colour]) => isColour(slot, colour));
  return Object.fromEntries(good);
}

/** The look without any colour: bold, dim, underline, italic and inverse alone tell what is what. */
const PLAIN_STYLES: Record<Style, TextLook> = {
  text: {},
  strong: { bold: true },
  faint: { dimColor: true },
  accent: { bold: true },
  good: {},
  warn: { bold: true },
  bad: { bold: true, underline: true },
  code: {},
  heading: { bold: true, underline: true },
  quote: { italic: true },
  link: { underline: true },
  border: { dimColor: true },
  label: { dimColor: true },
  added: { bold: true },
  removed: { dimColor: true },
  match: { inverse: true, bold: true },
  selected: { inverse: true },
  user: { bold: true },
  assistant: {},
  injected: { dimColor: true, italic: true },
  tool: { bold: true },
  thinking: { dimColor: true, italic: true },
};

const PLAIN_TONES: Record<StatusTone, TextLook> = {
  alert: { bold: true, inverse: true },
  error: { bold: true, underline: true },
  active: { bold: true },
  good: { bold: true },
  pending: { dimColor: true },
  broken: { underline: true },
  held: { italic: true },
  plain: {},
  faint: { dimColor: true },
};

const PLAIN_THEME: Theme = { name: "none", depth: "none", styles: PLAIN_STYLES, tones: PLAIN_TONES };

function themeOf(name: PaletteName, depth: ColourDepth, palette: Palette): Theme {
  const ink = (color: string | null, more: TextLook = {}): TextLook => (color === null ? more : { color, ...more });
  // The terminal's own default, dimmed, is the one grey that is readable on every background.
  const faint: TextLook = palette.faint === null ? { dimColor: true } : { color: palette.faint };
  const onto = (look: TextLook, back: string | null): TextLook =>
    back === null ? look : { ...look, backgroundColor: back };
  return {
    name,
    depth,
    styles: {
      text: ink(palette.text),
      strong: ink(palette.text, { bold: true }),
      faint,
      accent: ink(palette.accent),
      good: ink(palette.good),
      warn: ink(palette.warn),
      bad: ink(palette.bad),
      code: ink(palette.code),
      heading: ink(palette.heading, { bold: true }),
      quote: { ...faint, italic: true },
      link: ink(palette.link, { underline: true }),
      border: faint,
      label: faint,
      added: onto(ink(palette.good), palette.addedBack),
      removed: onto(ink(palette.bad), palette.removedBack),
      match: ink(palette.warn, { inverse: true, bold: true }),
      selected: ink(palette.text, { inverse: true }),
      user: ink(palette.user, { bold: true }),
      assistant: ink(palette.text),
      injected: { ...faint, italic: true },
      tool: ink(palette.tool),
      thinking: { ...faint, italic: true },
    },
    tones: {
      alert: ink(palette.bad, { bold: true }),
      error: ink(palette.bad),
      active: ink(palette.warn),
      good: ink(palette.good),
      pending: ink(palette.warn, { dimColor: true }),
      broken: ink(palette.broken),
      held: ink(palette.held),
      plain: ink(palette.text),
      faint,
    },
  };
}

/** The props of Ink's `<Text>` for a span: its style's look with its own emphasis on top. */
export function lookOf(piece: Span, theme: Theme): TextLook {
  const look: TextLook = { ...theme.styles[piece.style] };
  if (piece.bold) look.bold = true;
  if (piece.italic) look.italic = true;
  if (piece.underline) look.underline = true;
  if (piece.strike) look.strikethrough = true;
  if (piece.inverse) look.inverse = true;
  return look;
}
