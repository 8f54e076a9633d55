import { describe, expect, test } from "vitest";
import { isStatusName, STATUS_NAMES, STATUSES } from "../../src/session/status.ts";
import { textWidth } from "../../src/ui/text/width.ts";

describe("the table of statuses", () => {
  test("has the eleven of the design, in the order in which they want the person", () => {
    const byRank = [...STATUS_NAMES].sort((a, b) => STATUSES[a].rank - STATUSES[b].rank);
    expect(byRank.slice(0, 3)).toEqual(["needs-input", "failed", "working"]);
    expect([...STATUS_NAMES].sort()).toEqual(
      ["archived", "done", "failed", "idle", "interrupted", "needs-input", "open", "paused", "stopped"]
        .concat("unknown", "working")
        .sort(),
    );
    expect(new Set(byRank.map((name) => STATUSES[name].rank)).size).toBe(byRank.length);
  });

  test("tells every status apart without colour, in Unicode and in ASCII, in one cell", () => {
    const rows = Object.values(STATUSES);
    expect(new Set(rows.map((row) => row.glyph)).size).toBe(rows.length);
    expect(new Set(rows.map((row) => row.ascii)).size).toBe(rows.length);
    for (const row of rows) {
      expect(textWidth(row.glyph)).toBe(1);
      expect(row.ascii).toMatch(/^[\x21-\x7e]$/u);
      expect(row.meaning).not.toBe("");
    }
  });

  test("knows its names, and nothing that only objects have", () => {
    expect(isStatusName("needs-input")).toBe(true);
    expect(isStatusName("constructor")).toBe(false);
    expect(isStatusName("__proto__")).toBe(false);
  });
});
