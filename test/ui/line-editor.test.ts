import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aroundCursor, type EditedLine, editedLine, editLine, pasteInto } from "../../src/ui/line-editor.ts";

/** A line with `|` where the cursor stands. */
function marked(line: string): EditedLine {
  const [before = "", rest = ""] = line.split("|");
  return { text: before + rest, cursor: editedLine(before).cursor };
}

function withMark(line: EditedLine): string {
  const [before] = aroundCursor(line);
  return `${before}|${line.text.slice(before.length)}`;
}

/** A marked line after some keys. */
function after(line: string, ...keys: string[]): string {
  return withMark(keys.reduce((edited, key) => editLine(edited, key) ?? edited, marked(line)));
}

describe("a line being typed", () => {
  test.each([
    ["ab|", ["c"], "abc|"],
    ["a|c", ["b"], "ab|c"],
    ["a|", ["space", "b"], "a b|"],
    ["ab|c", ["left"], "a|bc"],
    ["|a", ["left"], "|a"],
    ["a|", ["right"], "a|"],
    ["ab|c", ["home"], "|abc"],
    ["ab|c", ["ctrl+e"], "abc|"],
    ["ab|c", ["backspace"], "a|c"],
    ["|ab", ["backspace"], "|ab"],
    ["a|bc", ["ctrl+d"], "a|c"],
    ["abc|", ["ctrl+d"], "abc|"],
    ["ab|cd", ["ctrl+u"], "|cd"],
    ["ab|cd", ["ctrl+k"], "ab|"],
    ["one two  |three", ["ctrl+w"], "one |three"],
    ["one|", ["ctrl+w", "ctrl+w"], "|"],
    ["👩‍💻日|", ["backspace"], "👩‍💻|"],
    ["👩‍💻日|", ["left", "left", "x"], "x|👩‍💻日"],
  ])("%s after %j is %s", (line, keys, expected) => {
    expect(after(line, ...keys)).toBe(expected);
  });

  test.each(["enter", "esc", "tab", "up", "down", "pageup", "pagedown", "ctrl+n", "alt+x", "shift+tab"])(
    "%s is not editing's",
    (key) => {
      expect(editLine(editedLine("a"), key)).toBeNull();
    },
  );

  test.each([
    ["a|d", "bc", "abc|d"],
    ["|", "two  words ", "two  words |"],
    ["|", "/home/me/out.md\n", "/home/me/out.md|"],
    ["|", "one\r\ntwo\tthree\n\n", "one two three|"],
    ["a|", "\u0015b\u0000\u009b1mc", "ab1mc|"],
    ["👩‍💻|日", "e\u0301日", "👩‍💻e\u0301日|日"],
    ["a|", "\n", "a|"],
  ])("%s after pasting %j is %s", (line, pasted, expected) => {
    expect(withMark(pasteInto(marked(line), pasted))).toBe(expected);
  });

  test("the cursor stays within the line, whatever is pressed", () => {
    const keys = fc.array(
      fc.oneof(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
        fc.constantFrom("left", "right", "backspace", "ctrl+w", "ctrl+u", "ctrl+k", "home", "end", "ctrl+d", "space"),
      ),
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), keys, (text, pressed) => {
        let line = editedLine(text);
        for (const key of pressed) line = editLine(line, key) ?? line;
        const [before, , rest] = aroundCursor(line);
        expect(line.cursor).toBeGreaterThanOrEqual(0);
        expect(line.text.startsWith(before)).toBe(true);
        expect(line.text.endsWith(rest)).toBe(true);
      }),
    );
  });
});
