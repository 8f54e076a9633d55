import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { advanceFile, type FileFold, type Folded, runNow } from "../../src/files/fold.ts";
import { walkLines } from "../../src/files/lines.ts";
import { fileWork } from "../../src/files/open.ts";
import { temporaryDirectory } from "../support/temp.ts";

interface Sizes {
  lines: number;
  last: number;
}

/** Counts lines and says where the last one begins. */
const counting: FileFold<Sizes> = {
  name: "counting",
  version: 1,
  initial: () => ({ lines: 0, last: 0 }),
  *advance(state, bytes, from) {
    return yield* walkLines(bytes, from, {
      line: (_line, offset) => {
        state.lines += 1;
        state.last = offset;
      },
    });
  },
  lastRecordAt: (state) => state.last,
};

function folded(path: string, before: Folded<Sizes> | null): Folded<Sizes> {
  const result = runNow(advanceFile(counting, path, before));
  if (!result.ok) throw new Error(result.message);
  return result.folded;
}

function overwrite(path: string, offset: number, bytes: string): void {
  const fd = openSync(path, "r+");
  writeSync(fd, bytes, offset);
  closeSync(fd);
}

describe("a rewrite in place", () => {
  test.each([
    ["the beginning of a short last record", 100, 0],
    ["the beginning of a last record of 50 KiB", 50 * 1024, 0],
    ["the middle of a last record of 50 KiB", 50 * 1024, 25 * 1024],
    ["the beginning of a last record of 5 MiB", 5 * 1024 * 1024, 0],
    ["the end of a last record of 5 MiB", 5 * 1024 * 1024, 5 * 1024 * 1024 - 10],
  ])("of %s is noticed", (_what, length, at) => {
    const path = join(temporaryDirectory(), "file");
    const first = `${"a".repeat(200_000)}\n`;
    writeFileSync(path, `${first}${"x".repeat(length)}\n`);
    const before = folded(path, null);
    expect(before.state.lines).toBe(2);
    overwrite(path, first.length + at, "\n");
    expect(folded(path, before).state.lines).toBe(3);
  });

  test("looking for one costs no more than the cap, however long the last record is", () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(path, `${"x".repeat(5 * 1024 * 1024)}\n`);
    const before = folded(path, null);
    writeFileSync(path, "y\n", { flag: "a" });
    fileWork.bytesRead = 0;
    expect(folded(path, before).state.lines).toBe(2);
    expect(fileWork.bytesRead).toBeLessThan(3 * 66 * 1024);
  });
});
