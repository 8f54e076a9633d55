import type { Key } from "ink";
import { describe, expect, test } from "vitest";
import { keyLabel, keyNames } from "../../src/ui/keys.ts";

const NO_KEY: Key = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
  super: false,
  hyper: false,
  capsLock: false,
  numLock: false,
};

describe("names of keys", () => {
  test.each<[string, string, Partial<Key>, string[]]>([
    ["a letter", "j", {}, ["j"]],
    ["a capital", "G", { shift: true }, ["G"]],
    ["a burst", "jjk", {}, ["j", "j", "k"]],
    ["a burst with control characters", "a\r\t\u007f ", {}, ["a", "enter", "tab", "backspace", "space"]],
    ["a burst with ctrl keys", "j\u0004\u0015ab\u0003", {}, ["j", "ctrl+d", "ctrl+u", "a", "b", "ctrl+c"]],
    ["control characters that are no keys", "a\u0000\u001c\u001f\u0085b", {}, ["a", "b"]],
    ["a control character alone that is no key", "\u001f", {}, []],
    ["a paste with line breaks", "a\r\nb", {}, ["a", "enter", "b"]],
    ["joined emoji as one key", "👩‍💻e\u0301", {}, ["👩‍💻", "e\u0301"]],
    ["control", "d", { ctrl: true }, ["ctrl+d"]],
    ["control with a capital", "D", { ctrl: true, shift: true }, ["ctrl+d"]],
    ["control alone", "", { ctrl: true }, []],
    ["alt", "x", { meta: true }, ["alt+x"]],
    ["Enter", "\r", { return: true }, ["enter"]],
    ["Escape", "", { escape: true }, ["esc"]],
    ["Tab", "", { tab: true }, ["tab"]],
    ["shift and Tab", "", { tab: true, shift: true }, ["shift+tab"]],
    ["up", "", { upArrow: true }, ["up"]],
    ["page down", "", { pageDown: true }, ["pagedown"]],
    ["backspace, which terminals send as delete", "", { delete: true }, ["backspace"]],
    ["nothing", "", {}, []],
  ])("%s", (_what, input, key, names) => {
    expect(keyNames(input, { ...NO_KEY, ...key })).toEqual(names);
  });
});

test.each([
  ["ctrl+d", "^d"],
  ["alt+x", "M-x"],
  ["up", "↑"],
  ["enter", "Enter"],
  ["shift+tab", "S-Tab"],
  ["j", "j"],
])("%s is shown as %s", (name, label) => {
  expect(keyLabel(name)).toBe(label);
});
