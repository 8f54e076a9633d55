import fc from "fast-check";
import { expect } from "vitest";
import { type Line, lineText, lineWidth } from "../../../src/ui/text/line.ts";

const PIECES = [
  "a",
  " ",
  "word ",
  "\n",
  "\t",
  "漢字",
  "かな。",
  "한국어",
  "👨‍👩‍👧",
  "👍🏽",
  "🇩🇪",
  "❤️",
  "1️⃣",
  "🫩",
  "e\u0301",
  "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309",
  "שלום",
  "مرحبا",
  "क्षि",
  "สวัสดี",
  "\u1112\u1161\u11ab",
  "\u200b",
  "\u200d",
  "\u00ad",
  "\u001b[31m",
  "\u001b]0;title\u0007",
  "\u009b2J",
  "\u0000",
  "\u0007",
  "\r",
  "\r\n",
  "\u2028",
  "\u202e",
  "\u2066",
  "\ud800",
  "\udc00",
  "\ufeff",
  "- item\n",
  "# ",
  "```ts\n",
  "> ",
  "**",
  "_",
  "| a | b |\n|---|---|\n| 1 | 2 |\n",
  "[x](http://y)",
  "/a/very/long/path/without/any/space/in/it/that/has/to/be/broken",
];

/** Text as the worst of files holds it. */
export const hostileText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    ),
    {
      maxLength: 40,
    },
  )
  .map((pieces) => pieces.join(""));

export const anyWidth = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 13, max: 120 }));

// Controls, line and paragraph separators, bidi controls, byte order mark, lone surrogates: nothing a terminal acts on.
const ACTS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\p{Surrogate}]/u;

export function expectPrintable(text: string): void {
  expect(ACTS.exec(text), JSON.stringify(text)).toBeNull();
}

/** No line is wider than the screen and none holds a byte that a terminal acts on. */
export function expectSound(lines: readonly Line[], width: number): void {
  for (const line of lines) {
    expect(lineWidth(line), JSON.stringify(lineText(line))).toBeLessThanOrEqual(width);
    for (const piece of line) {
      expect(piece.text).not.toBe("");
      if (piece.href !== undefined) expect(piece.href).toMatch(/^[\x21-\x7e]+$/u);
    }
    expectPrintable(lineText(line));
  }
}

export function shown(lines: readonly Line[]): string[] {
  return lines.map(lineText);
}
