import { rawForms } from "./raw-forms.ts";

/**
 * What the bytes of a file must hold when one of its entries holds the needles: of every group at least one text, as
 * UTF-8, ASCII letters in either case. Empty: the bytes say nothing, and every session must be looked into.
 */
export type RawPatterns = string[][];

/** White space may be any; the rest of these are escaped, or may be, inside JSON strings by some writer. */
const ESCAPABLE = /[\s"'&+/<=>\\`;\u0000-\u001f\u007f]+/u;
const ASCII_RUN = /[\u0021-\u007e]+/gu;
const LONG_ENOUGH = 3;
const MOST_GROUPS = 2;
const MOST_FORMS = 16;

/** How rare the characters of ASCII text are, roughly: only which run is searched for hangs on it. */
const COMMON = " etaoinsrhldcumfpgwybv,.-_";

/** Groups for the byte filter, the most telling first. Escapes, and escapes within escapes, leave these texts whole. */
export function rawPatterns(needles: readonly string[]): RawPatterns {
  const found = needles.flatMap((needle) => {
    const ascii = asciiRun(needle);
    if (ascii.length >= LONG_ENOUGH) return [{ group: [ascii], worth: worthOf(ascii) }];
    const other = beyondAscii(needle);
    if (other !== null) return [{ group: other, worth: 6 }];
    return ascii === "" ? [] : [{ group: [ascii], worth: worthOf(ascii) }];
  });
  return found
    .sort((a, b) => b.worth - a.worth)
    .slice(0, MOST_GROUPS)
    .map(({ group }) => group);
}

function worthOf(run: string): number {
  let worth = 0;
  for (const char of run) {
    const rank = COMMON.indexOf(char);
    worth += rank < 0 ? 2 : 1 + rank / COMMON.length;
  }
  return worth;
}

/** The run that is hardest to meet by chance. */
function asciiRun(needle: string): string {
  let best = "";
  for (const { 0: run, index } of needle.matchAll(ASCII_RUN)) {
    // A letter under a mark may be written as one character.
    const marked = /^\p{M}/u.test(needle.slice(index + run.length));
    for (const plain of (marked ? run.slice(0, -1) : run).split(ESCAPABLE)) {
      if (worthOf(plain) > worthOf(best)) best = plain;
    }
  }
  return best;
}

/** Up to three characters as UTF-8 in all their forms, or the first of them escaped (`\u65e5`, by however many writers). */
function beyondAscii(needle: string): string[] | null {
  const chars = [...needle];
  for (const [at, char] of chars.entries()) {
    if (!isUsable(char)) continue;
    const first = rawForms(char);
    if (first === null) continue;
    let raw = first;
    for (const next of chars.slice(at + 1, at + 3)) {
      const forms = isUsable(next) ? rawForms(next) : null;
      if (forms === null || raw.length * forms.length > MOST_FORMS) break;
      raw = raw.flatMap((text) => forms.map((form) => text + form));
    }
    return [...new Set([...raw, ...first.map(escaped)])];
  }
  return null;
}

/** Surrogates have no UTF-8, and marks may be swallowed by what stands before them. */
function isUsable(char: string): boolean {
  return char > "\u007f" && !/^[\p{M}\p{Surrogate}\s\u1160-\u11ff\ud7b0-\ud7ff]/u.test(char);
}

/** The last unit of a form as every JSON writer escapes it, without the backslashes, which may be many. */
function escaped(form: string): string {
  return `u${form
    .charCodeAt(form.length - 1)
    .toString(16)
    .padStart(4, "0")}`;
}
