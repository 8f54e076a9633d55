import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printableLine, printableText, safe, withoutSequences } from "../../../src/ui/text/printable.ts";
import { cut, fitting, padEnd, padStart, textWidth } from "../../../src/ui/text/width.ts";
import { anyWidth, expectPrintable, hostileText } from "./arbitrary.ts";

describe("width", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["Größe", 5],
    ["漢字", 4],
    ["한국어", 6],
    ["ｱﾞ", 2],
    ["e\u0301", 1],
    ["👨‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["👍🏽", 2],
    ["❤️", 2],
    ["שלום", 4],
    ["مرحبا", 5],
    ["สวัสดี", 4],
    ["│─█▌•", 5],
    ["䷀", 2],
  ])("of %j is %i", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it("of a newer emoji than the tables know is two, never one", () => {
    expect(textWidth("\u{1fae9}")).toBe(2);
    expect(textWidth("\u{1faff}")).toBe(2);
  });

  it("of the whole is the sum over any split between graphemes", () => {
    fc.assert(
      fc.property(hostileText, anyWidth, (text, width) => {
        const { end, width: used } = fitting(text, width);
        expect(used).toBeLessThanOrEqual(width);
        expect(used + textWidth(text.slice(end))).toBe(textWidth(text));
      }),
    );
  });

  it("is found in a megabyte of joined letters without waiting", () => {
    const start = performance.now();
    textWidth("สวัสดี".repeat(170_000));
    fitting(`a${"\u0301".repeat(1_000_000)}`, 10);
    expect(performance.now() - start).toBeLessThan(3000);
  });
});

describe("cut", () => {
  it.each([
    ["abcdef", 6, "abcdef"],
    ["abcdef", 5, "abcd…"],
    ["abcdef", 1, "…"],
    ["abcdef", 0, ""],
    ["漢字漢", 5, "漢字…"],
    ["漢字漢", 4, "漢…"],
    ["漢", 1, "…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ["🇩🇪🇫🇷", 3, "🇩🇪…"],
  ])("of %j to %i is %j", (text, width, expected) => {
    expect(cut(text, width)).toBe(expected);
  });

  it("with padding takes exactly the width, whatever the text", () => {
    fc.assert(
      fc.property(hostileText, anyWidth, (text, width) => {
        for (const made of [padEnd(text, width), padStart(text, width)]) {
          expect(textWidth(made)).toBe(width);
          expectPrintable(made);
        }
        expect(textWidth(cut(text, width, "~"))).toBeLessThanOrEqual(width);
        expectPrintable(cut(text, width));
      }),
    );
  });

  it("looks at no more than it shows", () => {
    const huge = "漢".repeat(5_000_000);
    const start = performance.now();
    for (let time = 0; time < 1000; time++) cut(huge, 40);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("printable text", () => {
  it.each([
    ["a\tb", "a   b"],
    ["abcd\tb\n\tc", "abcd    b\n    c"],
    ["👨‍👩‍👧 👍🏽", "👨 👍"],
    ["1️⃣ ❤️", "1 ❤"],
    ["\u1112\u1161\u11ab", "한"],
    ["a\u200bb\u00adc", "abc"],
    ["a\r\nb\rc", "a\nb\nc"],
    ["\u001b[31mred", "·[31mred"],
    ["\u202eevil", "evil"],
    ["می\u200cخواهم", "می\u200cخواهم"],
  ])("of %j is %j", (text, expected) => {
    expect(printableText(text)).toBe(expected);
  });

  it("holds nothing that a terminal acts on, and stays the same when made again", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const once = printableText(text);
        expectPrintable(once.replaceAll("\n", ""));
        expect(printableText(once)).toBe(once);
        expectPrintable(printableLine(text));
        expectPrintable(safe(text));
      }),
    );
  });

  it.each([
    ["\u001b[1;31mred\u001b[0m plain", "red plain"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b(Bx\u001b7", "x"],
    ["\u009b2Jx", "x"],
    ["\u001b[", "\u001b["],
    ["\u001b]0;no end\nnext", "\u001b]0;no end\nnext"],
  ])("loses whole terminal sequences: %j is %j", (text, expected) => {
    expect(withoutSequences(text)).toBe(expected);
  });

  it("loses them in linear time", () => {
    const start = performance.now();
    withoutSequences("\u001b]".repeat(300_000) + "\u001b[1".repeat(300_000) + "\u001bP".repeat(100_000));
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
