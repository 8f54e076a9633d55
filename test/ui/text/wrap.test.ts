import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cutLine,
  highlight,
  lineText,
  lineWidth,
  padLine,
  selectLine,
  span,
  spread,
} from "../../../src/ui/text/line.ts";
import { printableText } from "../../../src/ui/text/printable.ts";
import { textWidth } from "../../../src/ui/text/width.ts";
import { rows, wrap, wrapFrom, wrapSpans } from "../../../src/ui/text/wrap.ts";
import { anyWidth, expectPrintable, expectSound, hostileText, shown } from "./arbitrary.ts";

describe("wrap", () => {
  it.each([
    ["", 10, []],
    ["one two three", 7, ["one two", "three"]],
    ["one two", 3, ["one", "two"]],
    ["a    b", 3, ["a", "b"]],
    ["abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["to abcdefghij", 4, ["to", "abcd", "efgh", "ij"]],
    ["a\n\nb\n", 5, ["a", "", "b"]],
    ["  indented text", 10, ["  indented", "text"]],
    ["exactly ten", 7, ["exactly", "ten"]],
    ["line one \nline two", 8, ["line one", "line two"]],
    ["これは長い。日本語", 8, ["これは長", "い。日本", "語"]],
    ["これは。（確認）", 6, ["これ", "は。", "（確", "認）"]],
    ["abc漢字def", 5, ["abc漢", "字def"]],
    ["漢x", 1, ["", "x"]],
    ["éé éé", 2, ["éé", "éé"]],
  ])("of %j to %i", (text, width, expected) => {
    expect(wrap(text, width)).toEqual(expected);
  });

  it("never makes a row too wide, loses only white space, and goes on where it stopped", () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 16, max: 80 }), (raw, width) => {
        const text = printableText(raw);
        const lines = wrap(text, width);
        for (const line of lines) {
          expect(textWidth(line)).toBeLessThanOrEqual(width);
          expectPrintable(line);
        }
        expect(lines.join("").replace(/\s/gu, "")).toBe(text.replace(/\s/gu, ""));
        const pieces: string[] = [];
        let from: number | null = 0;
        while (from !== null) {
          const page = wrapFrom(text, from, width, 2);
          pieces.push(...page.lines);
          from = page.next;
        }
        expect(pieces).toEqual(lines);
      }),
    );
  });

  it("of plain letters is the same on the fast path and the careful one", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", " ", " ", "-"), maxLength: 60 }),
        anyWidth,
        (text, width) => {
          // A row that begins after a Greek letter's line break goes the same way; one in the text does not.
          const careful = [...rows(`${text.replaceAll("a", "α")}`, width)].map((row) => [row.start, row.end, row.next]);
          const fast = [...rows(text, width)].map((row) => [row.start, row.end, row.next]);
          expect(fast).toEqual(careful);
        },
      ),
    );
  });

  it("of text that nobody cleaned still lets no control byte through", () => {
    fc.assert(
      fc.property(hostileText, anyWidth, (text, width) => {
        for (const line of wrap(text, width)) expectPrintable(line);
      }),
    );
  });

  it("of one line of a megabyte costs what is shown", () => {
    for (const text of ["x".repeat(1e6), "word ".repeat(2e5), "漢字".repeat(5e5), " ".repeat(1e6)]) {
      wrapFrom(text, 0, 80, 20);
      const start = performance.now();
      expect(wrapFrom(text, 0, 80, 20).lines).toHaveLength(20);
      expect(wrapFrom(text, 400_000, 80, 20).lines).toHaveLength(20);
      expect(performance.now() - start).toBeLessThan(400);
    }
  });

  it("of spans keeps styles, hangs the indent and reserves room on the first row", () => {
    const lines = wrapSpans([span("one two "), { text: "three four", style: "code", bold: true }], 10, {
      first: [span("* ")],
      rest: [span("  ")],
      reserve: 2,
    });
    expect(shown(lines)).toEqual(["* one", "  two", "  three", "  four"]);
    expect(lines[2]?.at(-1)).toEqual({ text: "three", style: "code", bold: true });
    expect(wrapSpans([], 10, { first: [span("* ")] })).toEqual([[span("* ")]]);
  });
});

describe("a line", () => {
  const line = [span("漢字 "), { text: "and more", style: "code" as const }];

  it("is cut over its spans and padded to exactly the width", () => {
    expect(lineText(cutLine(line, 8))).toBe("漢字 an…");
    expect(lineWidth(cutLine(line, 4, { pad: true }))).toBe(4);
    expect(lineText(cutLine(line, 30, { pad: true }))).toBe(`漢字 and more${" ".repeat(17)}`);
    expect(cutLine(line, 13)).toEqual(line);
    expect(lineText(padLine(line, 15))).toBe("漢字 and more  ");
    expect(lineWidth(selectLine(line, 20))).toBe(20);
    expect(selectLine(line, 20).every((piece) => piece.style === "selected")).toBe(true);
  });

  it("keeps its right part while that takes less than half", () => {
    expect(lineText(spread(line, [span("3m")], 12))).toBe("漢字 and… 3m");
    expect(lineText(spread(line, [span("a long right part")], 20))).toBe("漢字 and more");
  });

  it("shows matches across spans, in any case, as whole graphemes", () => {
    const found = highlight([span("Say HE"), span("llo e\u0301", "code")], "hello");
    expect(found.map(({ text, style }) => [text, style])).toEqual([
      ["Say ", "text"],
      ["HE", "match"],
      ["llo", "match"],
      [" e\u0301", "code"],
    ]);
    expect(highlight([span("cafe\u0301s")], /fe/u).map((piece) => piece.text)).toEqual(["ca", "fe\u0301", "s"]);
    expect(highlight([span("a.b")], ".").map((piece) => piece.text)).toEqual(["a", ".", "b"]);
    expect(highlight([span("aaa")], "b")).toEqual([span("aaa")]);
    expect(highlight([span("aaa")], /x*/u)).toEqual([span("aaa")]);
  });

  it("loses nothing to a highlight and is never wider than asked", () => {
    fc.assert(
      fc.property(hostileText, hostileText, anyWidth, (left, right, width) => {
        const whole = [
          span(printableText(left).replaceAll("\n", " ")),
          span(printableText(right).replaceAll("\n", " "), "code"),
        ];
        const pieces = whole.filter((piece) => piece.text !== "");
        expect(lineText(highlight(pieces, "a"))).toBe(lineText(pieces));
        expectSound([cutLine(pieces, width), cutLine(pieces, width, { pad: true, ellipsis: "~" })], width);
        expect(lineWidth(cutLine(pieces, width, { pad: true }))).toBe(width);
      }),
    );
  });
});
