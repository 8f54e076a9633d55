import { foldText } from "./fold-text.ts";

/** What is looked for: every needle must occur in one entry. Folded; white space in a needle stands for any white space. */
export interface Query {
  needles: string[];
}

/** Longer queries are cut: nobody types one, and a needle's length bounds what a match costs. */
const MOST_QUERY = 1000;

/**
 * Words, all of which must occur, and "quoted phrases", in which `\"` is a quote. A quote inside a word, or one that
 * is never closed, is a character like any other.
 */
export function parseQuery(text: string): Query {
  const needles: string[] = [];
  const parts = text.slice(0, MOST_QUERY).matchAll(/(?<=^|\s)"(?<phrase>(?:\\"|[^"])+)"(?=$|\s)|(?<word>\S+)/gu);
  for (const { groups } of parts) {
    const said = groups?.phrase?.replaceAll('\\"', '"') ?? groups?.word ?? "";
    const needle = foldText(said).replace(/\s+/gu, " ").trim();
    if (needle !== "" && !needles.includes(needle)) needles.push(needle);
  }
  return { needles };
}
