import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBlankLine, parseRecord } from "../../../src/sources/jsonl/record.ts";
import { parseTrimmed } from "../../../src/sources/jsonl/trimmed-json.ts";

describe("JSON with long strings cut", () => {
  test("is JSON as JSON.parse reads it while no string is long", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "binary" }), (value) => {
        const text = JSON.stringify(value);
        expect(parseTrimmed(Buffer.from(text), 1e6, new Map())).toEqual(JSON.parse(text));
      }),
    );
  });

  test("cuts between characters and escapes, and says how long the whole was", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 40, maxLength: 80 }),
        fc.integer({ min: 0, max: 30 }),
        (text, most) => {
          const bytes = Buffer.from(JSON.stringify({ text, n: 1 }));
          const cuts = new Map<string, number>();
          const made = parseTrimmed(bytes, most, cuts) as { text: string; n: number };
          expect(made.n).toBe(1);
          const whole: string = JSON.parse(JSON.stringify(text));
          expect(whole.toWellFormed().startsWith(made.text.toWellFormed().replace(/\ufffd$/u, ""))).toBe(true);
          expect(cuts.get(made.text)).toBe(Buffer.byteLength(JSON.stringify(text)) - 2);
        },
      ),
    );
  });

  test.each(["", "{", '{"a":1', '{"a" 1}', "[1,]", '"open', "nul", "1 2", '{"a":tru}', '"bad \\x"'])(
    "refuses %j",
    (text) => {
      expect(() => parseTrimmed(Buffer.from(text), 100, new Map())).toThrow(SyntaxError);
    },
  );

  test("refuses bottomless nesting without ending the program", () => {
    expect(() => parseTrimmed(Buffer.from("[".repeat(1_000_000)), 100, new Map())).toThrow(SyntaxError);
    expect(parseRecord(Buffer.from(`{"a":${"[".repeat(100_000)}`), 100)).toBeNull();
  });

  test("takes 50 levels and a key that would change an object's kind", () => {
    const deep = `{"a":${"[".repeat(50)}1${"]".repeat(50)},"__proto__":{"x":1}}`;
    const made = parseTrimmed(Buffer.from(deep), 100, new Map()) as Record<string, unknown>;
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(JSON.stringify(made.a)).toContain("1");
  });
});

describe("a record", () => {
  test.each([
    ["NULs before it", '\0\0\0{"a":1}'],
    ["NULs behind it", '{"a":1}\0\0'],
    ["a carriage return", '{"a":1}\r'],
  ])("is found in spite of %s", (_, text) => {
    expect(parseRecord(Buffer.from(text))?.fields).toEqual({ a: 1 });
  });

  test("is no list, no word and no half", () => {
    for (const text of ["[1]", "1", "null", '{"a":', ""]) expect(parseRecord(Buffer.from(text))).toBeNull();
  });

  test("a line of NULs and blanks is no damage", () => {
    expect(isBlankLine(Buffer.from("\0\0 \t\r"))).toBe(true);
    expect(isBlankLine(Buffer.from("x"))).toBe(false);
  });
});
