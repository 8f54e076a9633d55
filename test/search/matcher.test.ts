import { describe, expect, it } from "vitest";
import { runNow } from "../../src/files/fold.ts";
import { Matcher } from "../../src/search/matcher.ts";
import { parseQuery } from "../../src/search/query.ts";
import { snippetAt } from "../../src/search/snippet.ts";

function find(query: string, text: string): number | null {
  return runNow(new Matcher(parseQuery(query).needles).find(text));
}

describe("a query", () => {
  it.each([
    ["rate limit", ["rate", "limit"]],
    ['"rate limit" 429', ["rate limit", "429"]],
    ['"Rate\tLimit"', ["rate limit"]],
    ['"say \\"hi\\" now"', ['say "hi" now']],
    ['foo"bar', ['foo"bar']],
    ['"never closed', ['"never', "closed"]],
    ["C:\\temp", ["c:\\temp"]],
    ["a a A", ["a"]],
    ["cafe\u0301", ["caf\u00e9"]],
    ['""', ['""']],
    ['" "', []],
    ["  ", []],
  ])("%j is taken apart into %j", (text, needles) => {
    expect(parseQuery(text).needles).toEqual(needles);
  });
});

describe("an entry's text", () => {
  it("must hold every word, in any order", () => {
    expect(find("limit rate", "the rate is at its limit")).toBe(4);
    expect(find("limit missing", "the rate is at its limit")).toBeNull();
  });

  it("is compared without case, composed, the same in every locale", () => {
    expect(find("TITLE", "a title")).toBe(2);
    expect(find("straße", "STRAẞE")).toBe(0);
    expect(find("é", "e\u0301")).toBe(0);
    expect(find("ΟΔΟΣ", "οδος")).toBe(0);
    expect(find("οδος", "ΟΔΟΣΑ")).toBe(0);
  });

  it("is never matched up to the middle of a character", () => {
    expect(find("e", "x\u0301e\u0323")).toBeNull();
    expect(find("xi", "xİ")).toBeNull();
    expect(find("xi", "xİ xi")).toBe(3);
  });

  it("holds a phrase across line breaks, but not across other words", () => {
    expect(find('"end of line"', "the end\n  of line")).toBe(4);
    expect(find('"end of line"', "the end and of line")).toBeNull();
    expect(find('"a.b c"', "axb c")).toBeNull();
  });

  it("is found across the windows of a long text, wherever it lies", () => {
    for (const at of [0, 65_530, 65_536, 65_540, 131_070, 199_990]) {
      const text = `${"日本 x ".repeat(40_000).slice(0, at)}needle here${"é".repeat(10)}`;
      expect(find('"needle here"', text)).toBe(at);
    }
    const words = `first${" pad".repeat(50_000)} second`;
    expect(find("second first", words)).toBe(0);
  });

  it("of nothing but marks, or of one endless character, ends too", () => {
    expect(find("needle", "\u0301".repeat(300_000))).toBeNull();
    expect(find("needle", `${"\u{1f600}".repeat(100_000)}needle`)).toBe(200_000);
  });
});

describe("a snippet", () => {
  const snippet = (query: string, text: string) => {
    const matcher = new Matcher(parseQuery(query).needles);
    return snippetAt(text, runNow(matcher.find(text)) ?? -1, matcher);
  };
  const marked = (query: string, text: string): string[] => {
    const { text: shown, matches } = snippet(query, text);
    return matches.map(([from, to]) => shown.slice(from, to));
  };

  it("shows what matched, in the letters of the text", () => {
    expect(marked("straße limit", "STRASSE, Straße: the LIMIT")).toEqual(["Straße", "LIMIT"]);
    expect(marked("é", "ae\u0301o")).toEqual(["e\u0301"]);
    expect(marked('"of line"', "end of\n line")).toEqual(["of line"]);
    expect(marked("日本", "これは日本語😀日本")).toEqual(["日本", "日本"]);
  });

  it("is one clean line with its cut ends marked", () => {
    const { text } = snippet("needle", `${"before ".repeat(20)}\u001b[31mneedle\u202e\n${"after ".repeat(100)}`);
    expect(text).toMatch(/^….*needle after .*…$/u);
    expect(text).not.toMatch(/[\u001b\n\u202e]/u);
    expect(text.length).toBeLessThan(260);
  });

  it("never begins or ends within a character", () => {
    const { text } = snippet("needle", `${"😀".repeat(60)}needle${"😀".repeat(200)}`);
    expect(text.isWellFormed()).toBe(true);
  });
});
