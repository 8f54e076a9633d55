import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block, Column, Row, TreeItem } from "../../../src/session/document.ts";
import { fitColumns } from "../../../src/ui/text/columns.ts";
import { layoutDocument } from "../../../src/ui/text/document.ts";
import { anyWidth, expectSound, hostileText, shown } from "./arbitrary.ts";

function laid(blocks: Block[], width = 40, ascii = false) {
  const layout = layoutDocument({ title: "t", blocks }, width, ascii);
  expectSound(layout.lines, width);
  expect(layout.targets).toHaveLength(layout.lines.length);
  return { lines: shown(layout.lines).map((line) => line.trimEnd()), targets: layout.targets };
}

describe("a document", () => {
  it("keeps a heading at what it heads and other blocks apart", () => {
    const blocks: Block[] = [
      { type: "heading", text: "H" },
      { type: "text", text: "one\ntwo" },
      { type: "text", text: "- a", markdown: true },
    ];
    expect(laid(blocks).lines).toEqual(["H", "one", "two", "", "• a"]);
  });

  it("aligns fields, and puts values under their labels where it is narrow", () => {
    const fields: Block = {
      type: "fields",
      rows: [
        { label: "Path", value: "/a/b c/d" },
        { label: "Models", value: "one two three" },
        { label: "None", value: "" },
      ],
    };
    expect(laid([fields], 28).lines).toEqual(["Path    /a/b c/d", "Models  one two three", "None"]);
    expect(laid([fields], 12).lines).toEqual(["Path", "  /a/b c/d", "Models", "  one two", "  three", "None", ""]);
  });

  it.each([
    [{ value: 45_000, limit: 100_000 }, "ctx  ██████"],
    [{ value: 0, limit: 10 }, "ctx  ░"],
    [{ value: 9_999, limit: 10_000 }, "░  100%"],
    [{ value: 30, limit: 10 }, "█  300%"],
    [{ value: 5, limit: null }, "ctx  5"],
    [{ value: 5, limit: 0 }, "ctx  5"],
    [{ value: 1.256, limit: null }, "ctx  1.26"],
  ])("draws a gauge of %j", (gauge, part) => {
    const { lines } = laid([{ type: "gauge", label: "ctx", ...gauge }]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(part);
    if (!gauge.limit) expect(lines[0]).not.toContain("%");
  });

  it("draws a gauge with ASCII alone, and in a narrow pane under its numbers", () => {
    const gauge: Block = { type: "gauge", label: "ctx", value: 1, limit: 2, note: "tokens" };
    expect(laid([gauge], 40, true).lines[0]).toMatch(/^ctx {2}#+-+ {2}50% {2}1 \/ 2 {2}tokens$/u);
    expect(laid([gauge], 18).lines).toEqual(["ctx  50%  1 / 2", "  tokens", "  ████████░░░░░░░░"]);
  });
});

describe("a table", () => {
  const columns: Column[] = [
    { title: "#", align: "right" },
    { title: "What", flexible: true },
    { title: "Tokens", align: "right", from: 30 },
  ];
  const rows: Row[] = [
    { cells: ["1", "fix the importer", "12k"], open: { view: "timeline", ref: "3" } },
    { cells: ["22", "漢字の題名", "1.2M"], target: "task-2" },
    { cells: ["3"] },
  ];

  it("aligns its columns, gives the flexible one what is left and cuts it first", () => {
    expect(laid([{ type: "table", columns, rows }], 34).lines).toEqual([
      " #  What                    Tokens",
      " 1  fix the importer           12k",
      "22  漢字の題名                1.2M",
      " 3",
    ]);
    expect(laid([{ type: "table", columns, rows }], 30).lines[1]).toBe(" 1  fix the importer       12k");
  });

  it("leaves out what a narrow view has no room for", () => {
    expect(laid([{ type: "table", columns, rows }], 20).lines[0]).toBe(" #  What");
    expect(laid([{ type: "table", columns, rows }], 17).lines[1]).toBe(" 1  fix the impo…");
  });

  it("says of each line what it opens and what actions act on", () => {
    const { targets } = laid([
      { type: "heading", text: "H" },
      { type: "table", columns, rows },
    ]);
    expect(targets).toEqual([
      null,
      null,
      { open: { view: "timeline", ref: "3" }, target: null, block: 1, row: 0 },
      { open: null, target: "task-2", block: 1, row: 1 },
      null,
    ]);
  });

  it("stacks its rows where not even the least columns fit, each line with its target", () => {
    const wide: Column[] = ["Alpha", "Beta", "Gamma", "Delta"].map((title) => ({ title, align: "right" as const }));
    wide.splice(1, 0, { title: "Name", flexible: true });
    const row: Row = { cells: ["123456", "the name", "234567", "", "456789"], target: "x" };
    const { lines, targets } = laid([{ type: "table", columns: wide, rows: [row] }], 26);
    expect(lines.map((line) => line.replaceAll("\u00a0", " "))).toEqual([
      "the name",
      "  Alpha 123456",
      "  Beta 234567",
      "  Delta 456789",
    ]);
    expect(targets.map((target) => target?.target)).toEqual(["x", "x", "x", "x"]);
  });

  it("without rows says so", () => {
    expect(laid([{ type: "table", columns, rows: [], empty: "no steps yet" }]).lines).toEqual(["no steps yet"]);
  });
});

describe("a tree", () => {
  const items: TreeItem[] = [
    { depth: 0, label: "root", note: "3 entries" },
    { depth: 1, label: "a", open: { view: "branch", of: "a" } },
    { depth: 2, label: "a1" },
    { depth: 1, label: "b" },
    { depth: 2, label: "b1" },
    { depth: 0, label: "other" },
  ];

  it("has guides that end where the branches end", () => {
    const { lines, targets } = laid([{ type: "tree", items }]);
    expect(lines).toEqual(["root  3 entries", "├ a", "│ └ a1", "└ b", "  └ b1", "other"]);
    expect(targets[1]).toEqual({ open: { view: "branch", of: "a" }, target: null, block: 0, row: 1 });
    expect(laid([{ type: "tree", items }], 40, true).lines).toEqual([
      "root  3 entries",
      "| a",
      "| ` a1",
      "` b",
      "  ` b1",
      "other",
    ]);
  });

  it("cuts its labels before its notes", () => {
    const item: TreeItem = { depth: 0, label: "a rather long label", note: "2h ago" };
    expect(laid([{ type: "tree", items: [item] }], 20).lines).toEqual(["a rather lo…  2h ago"]);
  });

  it("believes no depth that a file claims", () => {
    const depths = [5, 1e9, -3, Number.NaN, 2, ...Array.from({ length: 3000 }, (_, index) => index)];
    const deep = depths.map((depth) => ({ depth, label: "item" }));
    const start = performance.now();
    const { lines } = laid([{ type: "tree", items: deep }], 24);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(lines.slice(0, 3)).toEqual(["item", "└ item", "item"]);
    expect(lines.at(-1)).toContain("item");
  });
});

describe("columns", () => {
  const fixed = (natural: number, least = 4) => ({ natural, least, flexible: false });
  const flexible = (natural: number, least = 4) => ({ natural, least, flexible: true });

  it.each([
    [[fixed(5), fixed(5)], 20, [5, 5]],
    [[fixed(5), flexible(5)], 20, [5, 13]],
    [[fixed(10), flexible(50)], 30, [10, 18]],
    [[fixed(10), flexible(50)], 16, [10, 4]],
    [[fixed(20), fixed(10), fixed(6)], 30, [10, 10, 6]],
    [[fixed(10), fixed(10)], 9, null],
  ])("%j in %i", (needs, room, expected) => {
    expect(fitColumns(needs, room)).toEqual(expected);
  });

  it("use the room exactly, and none is narrower than its least or wider than it needs", () => {
    const need = fc
      .record({
        natural: fc.integer({ min: 1, max: 80 }),
        least: fc.integer({ min: 1, max: 12 }),
        flexible: fc.boolean(),
      })
      .map((made) => ({ ...made, least: Math.min(made.least, made.natural) }));
    fc.assert(
      fc.property(fc.array(need, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 200 }), (needs, room) => {
        const least = needs.reduce((sum, { least }) => sum + least, 0) + 2 * (needs.length - 1);
        const widths = fitColumns(needs, room);
        expect(widths === null).toBe(least > room);
        if (widths === null) return;
        const total = widths.reduce((sum, width) => sum + width, 0) + 2 * (needs.length - 1);
        const natural = needs.reduce((sum, { natural }) => sum + natural, 0) + 2 * (needs.length - 1);
        const stretches = needs.some(({ flexible }) => flexible);
        expect(total).toBe(natural > room || stretches ? room : natural);
        for (const [index, width] of widths.entries()) {
          expect(width).toBeGreaterThanOrEqual(needs[index]?.least ?? 0);
          if (!needs[index]?.flexible) expect(width).toBeLessThanOrEqual(needs[index]?.natural ?? 0);
        }
      }),
    );
  });
});

describe("any document", () => {
  it("is sound whatever a file holds, at every width", () => {
    const tone = fc.constantFrom("strong" as const, "faint" as const, "good" as const, "warn" as const, "bad" as const);
    const column = fc.record({
      title: hostileText,
      align: fc.constantFrom("left" as const, "right" as const),
      flexible: fc.boolean(),
    });
    const block: fc.Arbitrary<Block> = fc.oneof(
      fc.record({ type: fc.constant("heading" as const), text: hostileText }),
      fc.record({ type: fc.constant("text" as const), text: hostileText, markdown: fc.boolean(), tone }),
      fc.record({
        type: fc.constant("fields" as const),
        rows: fc.array(fc.record({ label: hostileText, value: hostileText, tone })),
      }),
      fc.record({
        type: fc.constant("gauge" as const),
        label: hostileText,
        value: fc.double(),
        limit: fc.option(fc.double()),
        note: hostileText,
      }),
      fc.record({
        type: fc.constant("table" as const),
        columns: fc.array(column, { maxLength: 6 }),
        rows: fc.array(fc.record({ cells: fc.array(hostileText, { maxLength: 7 }), tone, target: hostileText }), {
          maxLength: 5,
        }),
      }),
      fc.record({
        type: fc.constant("tree" as const),
        items: fc.array(
          fc.record({ depth: fc.integer({ min: -2, max: 30 }), label: hostileText, note: hostileText, tone }),
          { maxLength: 12 },
        ),
      }),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 3 }), anyWidth, fc.boolean(), (blocks, width, ascii) => {
        laid(blocks, width, ascii);
      }),
      { numRuns: 300 },
    );
  });
});
