/** Signs that Unicode's composition turns into ASCII: they stay themselves, so that ASCII in a needle is ASCII in the file. */
const LOOKALIKES = /([\u212a\u037e\u1fef])/u;
const NOT_ASCII = /[^\u0000-\u007f]/u;

/**
 * Text as it is compared: composed (NFC) and in lower case, the same in every locale, so that a search finds the same
 * everywhere. The two small sigmas are one letter.
 */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text
    .split(LOOKALIKES)
    .map((part, at) => (at % 2 === 1 ? part : part.normalize("NFC").toLowerCase().replaceAll("\u03c2", "\u03c3")))
    .join("");
}

/** Folded text with, for each of its UTF-16 units, where in the original its character begins. */
export interface FoldedText {
  text: string;
  /** Offset in the original of the character that unit `index` of `text` came from; its length at the end. */
  originOf(index: number): number;
}

/** A character with what composes onto it: marks, and the vowels and finals of Hangul. */
const COMPOSED = /\P{M}[\p{M}\u1160-\u11ff\ud7b0-\ud7ff]*|\p{M}+/gsu;

/** For short texts: keeps a table of places unless the text is plain ASCII. */
export function foldWithPlaces(text: string): FoldedText {
  if (!NOT_ASCII.test(text)) return { text: text.toLowerCase(), originOf: (index) => Math.min(index, text.length) };
  let folded = "";
  const origins: number[] = [];
  for (const { 0: piece, index } of text.matchAll(COMPOSED)) {
    const small = foldText(piece);
    folded += small;
    for (let i = 0; i < small.length; i += 1) origins.push(index);
  }
  return { text: folded, originOf: (index) => origins[index] ?? text.length };
}
