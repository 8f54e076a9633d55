import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runNow } from "../../src/files/fold.ts";
import { byteFinder } from "../../src/search/byte-finder.ts";
import { foldText } from "../../src/search/fold-text.ts";
import { Matcher } from "../../src/search/matcher.ts";
import { parseQuery } from "../../src/search/query.ts";
import { rawPatterns } from "../../src/search/raw-patterns.ts";
import { ENCODINGS } from "./encodings.ts";

function passes(written: string, query: string): boolean {
  const bytes = Buffer.from(written);
  return rawPatterns(parseQuery(query).needles).every((group) => byteFinder(group).isIn(bytes, bytes.length));
}

describe("the first look at raw bytes", () => {
  const cases: [query: string, text: string][] = [
    ["timeout", "Request TIMEOUT after 3 s"],
    ['say "hi"', 'say "hi"'],
    ['"a \\"quoted\\" word"', 'a "quoted" word'],
    ["C:\\temp\\new", "cd C:\\temp\\new"],
    ["a<b&&c>d", "if (a<b&&c>d)"],
    ["it's", "it's"],
    ['"end of line"', "the end\nof line"],
    ["日本語", "これは日本語です"],
    ["über", "ÜBER alles"],
    ["é", "CAFÉ"],
    ["é", "cafe\u0301"],
    ["привет", "ПРИВЕТ, мир"],
    ["ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ"],
    ["한국", "한국".normalize("NFD")],
    ["😀", "well 😀"],
    ["Ω", "50 \u2126"],
    ["豈", "\uf900"],
    ["istanbul", "ISTANBUL"],
    ["İstanbul", "İSTANBUL"],
    ["q", "Q"],
  ];
  for (const [name, encode] of Object.entries(ENCODINGS)) {
    it.each(cases)(`never misses %s in %s, written ${name}`, (query, text) => {
      expect(runNow(new Matcher(parseQuery(query).needles).find(text))).not.toBeNull();
      expect(passes(encode(text), query)).toBe(true);
    });
  }

  it("never misses what the comparison of texts would find", () => {
    const alphabet = fc.constantFrom(
      ..."aAbBkKiIsSzZ09_-.:\"\\/<>&'`;= \n\tßẞſéÉe\u0301\u0307İıΣςσ\u212a\u2126ΩåÅ\u212b日語\uf900한\u1112\u1161пП😀ﬁǅ",
    );
    const text = fc.array(alphabet, { maxLength: 30 }).map((parts) => parts.join(""));
    const span = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 6 }), fc.constantFrom("raw", "upper", "NFD"));
    fc.assert(
      fc.property(text, span, (written, [from, length, how]) => {
        const piece = [...written].slice(from, from + length).join("");
        const asked = how === "upper" ? piece.toUpperCase() : how === "NFD" ? piece.normalize("NFD") : piece;
        const query = parseQuery(asked);
        if (query.needles.length === 0 || runNow(new Matcher(query.needles).find(written)) === null) return;
        for (const encode of Object.values(ENCODINGS)) {
          if (written.isWellFormed()) expect(passes(encode(written), asked)).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("lets no character beyond ASCII fold to ASCII, unless a mark follows", () => {
    for (let code = 0x80; code <= 0x1ffff; code += 1) {
      const folded = foldText(String.fromCodePoint(code));
      expect(/[\u0000-\u007f](?!\p{M})/u.test(folded), code.toString(16)).toBe(false);
    }
  });

  it("searches for the longest, rarest run, and for at most two", () => {
    expect(rawPatterns(["the", "quetzal", "zebra", "of"])).toEqual([["quetzal"], ["zebra"]]);
    expect(rawPatterns(["a"])).toEqual([["a"]]);
    expect(rawPatterns(['<"&'])).toEqual([]);
  });
});

describe("finding bytes", () => {
  it.each([
    [["needle"], "a NeEdLe here", true],
    [["needle"], "needl", false],
    [["needle"], "needl e needle", true],
    [["aab"], "aaaab", true],
    [["ab", "xyz"], "..xyz", true],
    [["abcdef", "de"], "xxde", true],
    [["abcdef", "zz"], "abcde", false],
    [["[@`{"], "{@`[", false],
    [["日"], "本日", true],
  ])("%j in %j: %s", (texts, text, found) => {
    const bytes = Buffer.from(text);
    expect(byteFinder(texts).isIn(bytes, bytes.length)).toBe(found);
  });

  it("looks no further than the given length", () => {
    const bytes = Buffer.from("xxneedle");
    expect(byteFinder(["needle"]).isIn(bytes, 7)).toBe(false);
    expect(byteFinder(["needle"]).isIn(bytes, 8)).toBe(true);
  });

  it("agrees with a plain search on random texts", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "A", "c"), maxLength: 40 });
    const some = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(text, some, (hay, needles) => {
        const bytes = Buffer.from(hay);
        const expected = needles.some((needle) => hay.toLowerCase().includes(needle));
        expect(byteFinder(needles).isIn(bytes, bytes.length)).toBe(expected);
      }),
    );
  });
});
