import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffCounts, diffLines, diffRows, isPatch, patchRows, wholeRows } from "../../../src/ui/text/diff.ts";
import { anyWidth, expectSound, hostileText, shown } from "./arbitrary.ts";

const rowsOf = (rows: { sign: string; number: number | null; text: string }[]) =>
  rows.map((row) => `${row.sign}${row.number ?? ""}|${row.text}`);

describe("a difference", () => {
  it("shows what changed with its context and line numbers", () => {
    const before = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].join("\n");
    const after = before.replace("e", "E\nE2");
    expect(rowsOf(diffRows(before, after, { context: 1 }))).toEqual(["@|", " 4|d", "-5|e", "+5|E", "+6|E2", " 7|f"]);
    expect(diffCounts(diffRows(before, after))).toEqual({ added: 2, removed: 1 });
  });

  it.each([
    ["a", "a", []],
    ["", "new\n", ["+1|new"]],
    ["old", "", ["-1|old"]],
    ["same", "same\n", []],
  ])("from %j to %j", (before, after, expected) => {
    expect(rowsOf(diffRows(before, after))).toEqual(expected);
  });

  it("leaves numbers out where they would mislead", () => {
    expect(rowsOf(diffRows("a", "b", { numbers: false }))).toEqual(["-|a", "+|b"]);
  });

  it("does not search where the search would take long", () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `a${index}`).join("\n");
    const after = Array.from({ length: 20_000 }, (_, index) => `b${index}`).join("\n");
    const start = performance.now();
    expect(diffCounts(diffRows(before, after))).toEqual({ added: 20_000, removed: 20_000 });
    expect(performance.now() - start).toBeLessThan(1500);
  });
});

describe("a patch", () => {
  it("of git is read with its file and numbers", () => {
    const patch = [
      "diff --git a/x.ts b/x.ts",
      "index 1..2 100644",
      "--- a/x.ts",
      "+++ b/x.ts",
      "@@ -10,3 +10,3 @@ function f()",
      " a",
      "--- minus",
      "+++ plus",
      " c",
      "--- a/y.ts",
      "+++ b/y.ts",
      "@@ -1 +1 @@",
      "-p",
      "+q",
      "\\ No newline at end of file",
    ].join("\n");
    expect(isPatch(patch)).toBe(true);
    expect(rowsOf(patchRows(patch))).toEqual([
      "@|x.ts",
      "@|function f()",
      " 10|a",
      "-11|-- minus",
      "+11|++ plus",
      " 12|c",
      "@|y.ts",
      "@|",
      "-1|p",
      "+1|q",
    ]);
  });

  it("of the Begin Patch kind is read without numbers", () => {
    const patch =
      "*** Begin Patch\n*** Update File: a.ts\n@@ class A\n x\n-y\n+z\n*** Add File: b.ts\n+new\n*** End Patch\n";
    expect(isPatch(patch)).toBe(true);
    expect(rowsOf(patchRows(patch))).toEqual([
      "@|Update File: a.ts",
      "@|class A",
      " |x",
      "-|y",
      "+|z",
      "@|Add File: b.ts",
      "+|new",
    ]);
  });

  it.each(["hello", "- a list\n+ b", "--- a rule\ntext", "@@ handle"])("is not %j", (text) => {
    expect(isPatch(text)).toBe(false);
  });
});

describe("difference lines", () => {
  it("carry their meaning in a sign, not in colour alone", () => {
    const { lines } = diffLines(diffRows("a\nb", "a\nc"), 40);
    expect(shown(lines)).toEqual(["1   a", "2 - b", "2 + c"]);
    expect(lines[1]?.at(-1)?.style).toBe("removed");
    expect(lines[2]?.at(-1)?.style).toBe("added");
    expect(shown(diffLines(diffRows("a", "b"), 20).lines)).toEqual(["- a", "+ b"]);
  });

  it("wrap under their text and stop at the limit, saying how much is left", () => {
    expect(shown(diffLines(wholeRows("one two three\nfour", "+", false), 9).lines)).toEqual([
      "+ one two",
      "  three",
      "+ four",
    ]);
    expect(diffLines(wholeRows("x\n".repeat(10), "-"), 40, { limit: 4 })).toMatchObject({ hidden: 6 });
  });

  it("are sound for any texts and widths", () => {
    fc.assert(
      fc.property(hostileText, hostileText, anyWidth, (before, after, width) => {
        if (width < 8) return;
        expectSound(diffLines(diffRows(before, after), width).lines, width);
        expectSound(diffLines(patchRows(before), width, { ascii: true }).lines, width);
      }),
      { numRuns: 200 },
    );
  });
});
