import { describe, expect, test } from "vitest";
import { bytesOf } from "../../../src/files/fold.ts";
import { blankEntry } from "../../../src/session/entry.ts";
import { countLine, noLines, ordinalOf } from "../../../src/sources/jsonl/line-ordinals.ts";
import { lineAt, linesBackward, linesForward } from "../../../src/sources/jsonl/line-windows.ts";
import { type EntryView, inFileOrder, listedLines, NoSuchEntry, pageOf } from "../../../src/sources/jsonl/pages.ts";

const words = ["a", "", "ccc", "x".repeat(200_000), "dé", "\u2028", "last"];
const whole = Buffer.from(`${words.join("\n")}\ntorn`);
const end = whole.length - 4;

describe("windows of lines", () => {
  test("read forwards are the whole lines, and a torn tail is none", () => {
    const lines = [...linesForward(bytesOf(whole), 0, whole.length)];
    expect(lines.map((line) => line.bytes.toString())).toEqual(words);
    expect(lines.at(-1)?.end).toBe(end);
  });

  test("read backwards are the same lines", () => {
    const lines = [...linesBackward(bytesOf(whole), 0, end)];
    expect(lines.map((line) => line.bytes.toString()).reverse()).toEqual(words);
    expect(lines.map((line) => line.offset).reverse()).toEqual(
      [...linesForward(bytesOf(whole), 0, end)].map((line) => line.offset),
    );
  });

  test("stop where they are told to", () => {
    const second = [...linesForward(bytesOf(whole), 0, end)][2]?.offset ?? 0;
    expect([...linesBackward(bytesOf(whole), second, end)].at(-1)?.bytes.toString()).toBe("ccc");
    expect(lineAt(bytesOf(whole), second, end)?.bytes.toString()).toBe("ccc");
    expect(lineAt(bytesOf(whole), end, whole.length)).toBeNull();
  });

  test("the end of a file is read, not the whole", () => {
    const big = Buffer.from(`${"y".repeat(999)}\n`.repeat(5000));
    let read = 0;
    const counted = {
      size: big.length,
      read(at: number, length: number): Buffer {
        read += length;
        return big.subarray(at, at + length);
      },
    };
    let seen = 0;
    for (const line of linesBackward(counted, 0, big.length)) {
      seen += line.bytes.length > 0 ? 1 : 0;
      if (seen === 50) break;
    }
    expect(read).toBeLessThan(200_000);
  });
});

test("any line is numbered by the marks of every 256th", () => {
  const text = Buffer.from(Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join(""));
  const index = noLines();
  const offsets: number[] = [];
  for (const line of linesForward(bytesOf(text), 0, text.length)) {
    offsets.push(line.offset);
    countLine(index, line.offset);
  }
  expect(index.marks).toHaveLength(4);
  for (const at of [0, 1, 255, 256, 257, 511, 999])
    expect(ordinalOf(index, bytesOf(text), offsets[at] ?? 0)).toBe(at + 1);
});

/** Every line is as many entries as it is long. */
function view(text: string, offsets?: number[]): EntryView {
  const bytes = bytesOf(Buffer.from(text));
  const part = { bytes, from: 0, to: text.length };
  return {
    lines: offsets === undefined ? inFileOrder([part]) : listedLines(part, offsets),
    entries: ({ line }) =>
      [...line.bytes.toString()].map((_, i) => blankEntry({ ref: `${line.offset}/${i}`, n: 1, kind: "text" })),
    locate: (ref) => (ref === "3" ? [0, 3, 1] : null),
  };
}

describe("pages of entries", () => {
  const text = "ab\n\n\ncdef\ng\n";
  const all = ["0/0", "0/1", "5/0", "5/1", "5/2", "5/3", "10/0"];

  test.each([1, 2, 3, 5, 100])("of %i meet without gap or overlap in both directions", (limit) => {
    const one = view(text);
    const forward: string[] = [];
    let page = pageOf(one, { view: "timeline", at: { edge: "start" }, limit });
    for (;;) {
      forward.push(...page.entries.map((entry) => entry.ref));
      if (page.atEnd) break;
      page = pageOf(one, { view: "timeline", at: { after: page.after }, limit });
    }
    expect(forward).toEqual(all);
    const backward: string[] = [];
    page = pageOf(one, { view: "timeline", at: { edge: "end" }, limit });
    for (;;) {
      backward.unshift(...page.entries.map((entry) => entry.ref));
      if (page.atStart) break;
      page = pageOf(one, { view: "timeline", at: { before: page.before }, limit });
    }
    expect(backward).toEqual(all);
  });

  test("go on behind the last one when the file has grown", () => {
    const before = pageOf(view(text), { view: "timeline", at: { edge: "end" }, limit: 2 });
    const after = pageOf(view(`${text}hi\n`), { view: "timeline", at: { after: before.after }, limit: 9 });
    expect(after.entries.map((entry) => entry.ref)).toEqual(["12/0", "12/1"]);
  });

  test("of listed lines keep the list's order", () => {
    const page = pageOf(view(text, [10, 0]), { view: "context", at: { edge: "start" }, limit: 9 });
    expect(page.entries.map((entry) => entry.ref)).toEqual(["10/0", "0/0", "0/1"]);
  });

  test("refuse a cursor or a ref that is none", () => {
    for (const at of [{ after: "nonsense" }, { before: "1:2" }, { ref: "no" }]) {
      expect(() => pageOf(view(text), { view: "timeline", at, limit: 3 })).toThrow(NoSuchEntry);
    }
  });
});
