import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ListRow } from "../../../src/store/rows.ts";
import { listWindow, rowHeight } from "../../../src/ui/list/list-window.ts";
import { sessionOf } from "../../support/sessions.ts";

const group: ListRow = { type: "group", label: "web", count: 1 };
const one: ListRow = {
  type: "session",
  key: "statefile:1",
  snapshot: sessionOf("1"),
  depth: 0,
  pinned: false,
  alias: null,
  hits: [],
  tags: "",
};
const sessions = (count: number): ListRow[] => Array.from({ length: count }, () => one);

describe("which rows are in sight", () => {
  test.each([
    ["all when all fit", sessions(3), 0, 0, 10, { top: 0, end: 3 }],
    ["none when there are none", [], -1, 0, 10, { top: 0, end: 0 }],
    ["down to the selected one", sessions(10), 4, 0, 6, { top: 2, end: 5 }],
    ["up to the selected one", sessions(10), 1, 5, 6, { top: 1, end: 4 }],
    ["as they were while the selected one is among them", sessions(10), 4, 3, 6, { top: 3, end: 6 }],
    ["no empty room at the bottom", sessions(10), -1, 9, 6, { top: 7, end: 10 }],
    ["a heading with its first session", [group, ...sessions(5)], 1, 3, 6, { top: 0, end: 3 }],
    ["a row that does not fit whole is left out", sessions(3), 0, 0, 5, { top: 0, end: 2 }],
  ])("%s", (_what, rows, selected, top, height, expected) => {
    expect(listWindow(rows, selected, top, height)).toEqual(expected);
  });

  test("never more than fits, and the selected one always in it", () => {
    const rows = fc.array(fc.constantFrom(one, group), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(rows, fc.nat(39), fc.nat(60), fc.integer({ min: 3, max: 30 }), (list, at, before, height) => {
        const selected = Math.min(at, list.length - 1);
        const { top, end } = listWindow(list, selected, before, height);
        const used = list.slice(top, end).reduce((sum, row) => sum + rowHeight(row), 0);
        expect(used).toBeLessThanOrEqual(height);
        expect(top).toBeLessThanOrEqual(selected);
        expect(end).toBeGreaterThan(selected);
        // What is left free would not have held the next row above.
        const above = list[top - 1];
        if (above && end === list.length) expect(used + rowHeight(above)).toBeGreaterThan(height);
      }),
      { numRuns: 500 },
    );
  });
});
