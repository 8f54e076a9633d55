import { cleanLine, cleanText } from "../../session/untrusted.ts";

/**
 * From a file's string to what may be printed: no control bytes, no tabs, and only glyphs on whose width terminals
 * agree. Joined emoji, skin tones and presentation selectors are one glyph of two columns to Ink, and up to eight
 * columns to tmux before 3.5: rows would drift. So the first emoji stands for the joined one. Copying takes the
 * entry's own text, which stays whole.
 */

const ASCII_LINES = /^[\x20-\x7e\n]*$/;
const ASCII_LINE = /^[\x20-\x7e]*$/;
const TAB_STOP = 4;

// Invisible and of disputed width; ZWJ and ZWNJ stay, for they shape Indic and Persian letters.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}--[\u200c\u200d]]/gv;
const JOINED = /(\p{Extended_Pictographic})(?:\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic}?)+/gu;
const KEYCAP = /\u20e3/gu;
const SKIN = /\p{Emoji_Modifier}/gu;
const STACKED_MARKS = /(\p{M}{6})\p{M}+/gu;

/** Many lines: `cleanText`, tabs at every fourth column, steady glyphs. */
export function printableText(text: string): string {
  if (ASCII_LINES.test(text)) return text;
  const clean = steady(cleanText(text));
  return clean.includes("\t") ? clean.split("\n").map(expandTabs).join("\n") : clean;
}

/** One line, white space folded: for rows, titles and summaries. */
export function printableLine(text: string): string {
  return steady(cleanLine(text));
}

/** Glyphs on whose width terminals agree. Composed, because macOS names files in loose jamo and accents. */
function steady(text: string): string {
  if (ASCII_LINES.test(text)) return text;
  return text
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .replace(JOINED, "$1")
    .replace(SKIN, "")
    .replace(KEYCAP, "")
    .replace(STACKED_MARKS, "$1");
}

function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let shown = "";
  for (const [index, piece] of line.split("\t").entries()) {
    if (index > 0) shown += " ".repeat(TAB_STOP - (shown.length % TAB_STOP));
    shown += piece;
  }
  return shown;
}

const BREAKS = /[\t\n\r\u2028\u2029]/gu;

/** The last guard, for a piece of one line: whatever the caller forgot to clean does not reach the terminal. */
export function safe(piece: string): string {
  return ASCII_LINE.test(piece) ? piece : cleanText(piece.replace(BREAKS, " "));
}

// CSI and OSC sequences, string sequences (DCS, SOS, PM, APC), then two-byte escapes. Each stops at the next ESC: linear.
const TERMINAL_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|\u001b[PX^_][^\u001b\n]*\u001b\\|\u001b[ -/]+[0-~]|\u001b[0-Z\\^-~]/gu;

/** What a program printed, without its colours and cursor moves. What is not a whole sequence stays, for `cleanText` to show. */
export function withoutSequences(text: string): string {
  return text.includes("\u001b") || text.includes("\u009b") || text.includes("\u009d")
    ? text.replace(TERMINAL_SEQUENCES, "")
    : text;
}
