/**
 * Every string from a file is hostile (design §7.4): escape sequences, control bytes and bidi overrides
 * must never reach the terminal, tmux or a window title.
 */

// C0 but TAB and LF, DEL, C1; line and paragraph separators; bidi embeddings, overrides, isolates and marks; tags; BOM.
const HOSTILE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
const HOSTILE_ONCE = new RegExp(HOSTILE.source, "u");
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Text for the screen: lines kept, CR and separators become line breaks, other controls a visible dot, bidi controls vanish. */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.replace(LONE_SURROGATE, "\ufffd");
  if (!HOSTILE_ONCE.test(whole)) return whole;
  return whole.replace(/\r\n/gu, "\n").replace(HOSTILE, (mark) => {
    if (mark === "\r" || mark === "\u2028" || mark === "\u2029") return "\n";
    const code = mark.codePointAt(0) ?? 0;
    return code < 0xa0 ? "·" : "";
  });
}

/** Would it do something on a terminal, or not stay on its line? */
export function isHostile(text: string): boolean {
  return HOSTILE_ONCE.test(text) || text.includes("\n") || text.includes("\t");
}

/** JSON that may be printed on a terminal: what could do something there is escaped, and reads back as it was. `indent`: spaces. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  if (!HOSTILE_ONCE.test(text)) return text;
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(HOSTILE, (mark) => mark.split("").map(escaped).join(""));
}

/** One line for a row, a title or a tmux argument: `cleanText` with all white space folded to single spaces. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/gu, " ").trim();
}

/** A title: the first line that says something, folded; the rest of a screenful is no use in a list. */
export function titleLine(text: string, most = 200): string {
  for (const line of cleanText(text).split("\n")) {
    const folded = cleanLine(line);
    if (folded !== "") return cutCodePoints(folded, most);
  }
  return "";
}

/** At most `most` code points, the last one `…` when something was cut. */
export function cutCodePoints(text: string, most: number): string {
  if (text.length <= most) return text;
  const points = Array.from(text);
  return points.length <= most ? text : `${points.slice(0, Math.max(0, most - 1)).join("")}…`;
}

/** One cleaned line, null when nothing is left of it. */
export function lineOrNull(text: string | null | undefined): string | null {
  const line = cleanLine(text ?? "");
  return line === "" ? null : line;
}
