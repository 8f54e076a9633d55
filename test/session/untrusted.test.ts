import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanLine, cleanText, cutCodePoints, jsonText, titleLine } from "../../src/session/untrusted.ts";

/** Anything a terminal could take for more than a character. */
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

// Half of it from where the controls are: of all code points they are too few to be met by chance.
const control = fc.oneof(
  fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0x2000, max: 0x206f }).map((code) => String.fromCodePoint(code)),
);
const hostile = fc
  .array(fc.oneof(control, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 40 })
  .map((parts) => parts.join(""));

describe("text from files", () => {
  test.each([
    ["a colour", "\x1b[31mred\x1b[0m", "·[31mred·[0m"],
    ["a title", "\x1b]0;pwned\x07", "·]0;pwned·"],
    ["a clipboard write", "\x1b]52;c;aGk=\x1b\\", "·]52;c;aGk=·\\"],
    ["C1 controls", "\u009b2J\u009d0;x\u009c", "·2J·0;x·"],
    ["a bell and a backspace", "a\x07b\bc", "a·b·c"],
    ["a NUL and a DEL", "a\0b\x7fc", "a·b·c"],
    ["a bidi override", "user\u202etxt.exe", "usertxt.exe"],
    ["isolates and marks", "\u2066a\u2069\u200eb\u200f\u061c", "ab"],
    ["invisible tags", "a\u{e0041}\u{e007f}b", "ab"],
    ["a byte order mark", "\ufeffa", "a"],
    ["CR LF", "a\r\nb", "a\nb"],
    ["CR", "99%\r100%", "99%\n100%"],
    ["separators", "a\u2028b\u2029c", "a\nb\nc"],
    ["a lone surrogate", "a\ud800b", "a\ufffdb"],
    ["tabs and line breaks, kept", "a\tb\nc", "a\tb\nc"],
    ["joined emoji, kept", "👩\u200d💻 日本語 e\u0301", "👩\u200d💻 日本語 e\u0301"],
  ])("%s", (_what, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  test("JSON with it in it does nothing on a terminal, and reads back as it was", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = jsonText({ text, [text]: [1] }, 2);
        expect(json).not.toMatch(DANGEROUS);
        expect(JSON.parse(json)).toEqual({ text, [text]: [1] });
      }),
    );
    expect(jsonText("\u{e0041}\u009b")).toBe(String.raw`"\udb40\udc41\u009b"`);
  });

  test("no control byte survives, whatever the text", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(cleanText(text)).not.toMatch(DANGEROUS);
        expect(cleanText(text).isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("cleaning twice is cleaning once", () => {
    fc.assert(fc.property(hostile, (text) => cleanText(cleanText(text)) === cleanText(text)));
  });

  test("a line is one line, without a blank at its ends or two in a row", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const line = cleanLine(text);
        expect(line).not.toMatch(/[\n\t\r]|\s\s|^\s|\s$/u);
        expect(line).not.toMatch(DANGEROUS);
      }),
      { numRuns: 500 },
    );
  });
});

describe("titles", () => {
  test("the first line that says something", () => {
    expect(titleLine("\n \t\n  fix   the\ttests \nmore")).toBe("fix the tests");
    expect(titleLine("\n\n")).toBe("");
  });

  test("are cut at whole code points", () => {
    expect(titleLine("👍👍👍👍", 3)).toBe("👍👍…");
    expect(cutCodePoints("abc", 3)).toBe("abc");
    expect(cutCodePoints("abcd", 3)).toBe("ab…");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const cut = cutCodePoints(text, most);
        expect(Array.from(cut).length).toBeLessThanOrEqual(Math.max(most, 0));
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});
