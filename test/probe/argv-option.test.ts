import { expect, test } from "vitest";
import { argvOption } from "../../src/probe/argv-option.ts";

test.each<[string[], string | null]>([
  [["pi", "--session", "a"], "a"],
  [["pi", "--session=a=b"], "a=b"],
  [["pi", "-s", "a", "--session", "b"], "a"],
  [["pi", "-s=a"], null],
  [["pi", "--session="], null],
  [["pi", "--session"], null],
  [["pi", "--sessions=a"], null],
])("%j", (argv, value) => {
  expect(argvOption(argv, "-s", "--session")).toBe(value);
});
