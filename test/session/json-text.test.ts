import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compactJson,
  indentedJson,
  isDeeplyNested,
  MOST_NESTING,
  shownArguments,
} from "../../src/session/json-text.ts";

function nest(levels: number, open = '{"a":', close = "}"): string {
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}

describe("indented JSON", () => {
  test("is what JSON.stringify makes of it, however it was spaced", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
        expect(indentedJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  test.each([
    ['{"id":12345678901234567890,"f":1.0,"e":1E+400,"z":-0}', "numbers"],
    ['{"b":1,"2":2,"1":3,"b":4}', "the order of keys and every key"],
  ])("%s keeps %s", (json) => {
    expect(indentedJson(json)?.replace(/\s/gu, "")).toBe(json);
  });

  test("shows what was escaped", () => {
    expect(indentedJson('["\\u003ca\\u0041\\"\\\\\\n\\ud800"]')).toBe('[\n  "<aA\\"\\\\\\n\\ud800"\n]');
  });

  test("is not made of what is nested too deep, or grows too long", () => {
    expect(indentedJson(nest(MOST_NESTING))).not.toBeNull();
    expect(indentedJson(nest(MOST_NESTING + 1))).toBeNull();
    expect(indentedJson(nest(100_000))).toBeNull();
    expect(indentedJson(nest(60, "[", `${",0".repeat(6000)}]`))).toBeNull();
  });
});

test.each([
  [MOST_NESTING, false],
  [MOST_NESTING + 1, true],
  [100_000, true],
])("a value of %d levels is deeply nested: %s", (levels, deep) => {
  expect(isDeeplyNested(JSON.parse(nest(levels)))).toBe(deep);
  expect(isDeeplyNested(JSON.parse(nest(levels, "[", "]")))).toBe(deep);
});

test("compact JSON is what JSON.stringify makes of a value, and no nesting is too deep for it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(compactJson(value)).toBe(JSON.stringify(value));
    }),
  );
  for (const json of [nest(100_000), nest(100_000, '[{"b":[],"a":', "},2]"), JSON.stringify(Array(300_000).fill(0))]) {
    expect(compactJson(JSON.parse(json))).toBe(json);
  }
});

test("a call's arguments are as they are, or text where no printer could follow them down", () => {
  expect(shownArguments({ a: [1] })).toEqual({ a: [1] });
  expect(shownArguments(undefined)).toBeNull();
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  expect(shownArguments({ a: JSON.parse(deep) })).toBe(`{"a":${deep}}`);
});
