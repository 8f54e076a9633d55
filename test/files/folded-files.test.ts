import { appendFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FileFold } from "../../src/files/fold.ts";
import { LocalFoldedFiles } from "../../src/files/folded-files.ts";
import { walkLines } from "../../src/files/lines.ts";
import { fileWork } from "../../src/files/open.ts";
import { temporaryDirectory } from "../support/temp.ts";

interface Counted {
  lines: string[];
}

/** Collects lines; a line `throw` is a fault of the fold. */
function collecting(version = 1): FileFold<Counted> & { running: number; most: number } {
  const fold = {
    name: "collecting",
    version,
    running: 0,
    most: 0,
    initial: () => ({ lines: [] as string[] }),
    *advance(state: Counted, bytes: Parameters<FileFold<Counted>["advance"]>[1], from: number) {
      fold.running += 1;
      fold.most = Math.max(fold.most, fold.running);
      try {
        // Long enough for a slice to end within: others get their turn.
        for (const until = performance.now() + 20; performance.now() < until; ) yield;
        return yield* walkLines(bytes, from, {
          line: (line) => {
            state.lines.push(line.toString());
            if (line.toString() === "throw") throw new Error("a fault in the fold");
          },
        });
      } finally {
        fold.running -= 1;
      }
    },
  };
  return fold;
}

function fileWith(text: string): string {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, text);
  return path;
}

const linesOf = async (files: LocalFoldedFiles, fold: FileFold<Counted>, path: string): Promise<string[]> => {
  const result = await files.advance(fold, path);
  if (!result.ok) throw new Error(result.message);
  return result.folded.state.lines;
};

describe("folded files", () => {
  test("calls for one file are answered one after another, each line taken in once", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    const path = fileWith("a\nb\n");
    const all = await Promise.all([1, 2, 3, 4].map(() => linesOf(files, fold, path)));
    expect(fold.most).toBe(1);
    for (const lines of all) expect(lines).toEqual(["a", "b"]);
  });

  test("calls for different files do not wait for each other", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    await Promise.all([fileWith("a\n"), fileWith("b\n")].map((path) => linesOf(files, fold, path)));
    expect(fold.most).toBe(2);
  });

  test("a throw in a fold drops its half-made state; the next call reads anew", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    const path = fileWith("a\n");
    expect(await linesOf(files, fold, path)).toEqual(["a"]);
    appendFileSync(path, "b\nthrow\n");
    await expect(files.advance(fold, path)).rejects.toThrow("a fault in the fold");
    writeFileSync(path, "a\nb\nc\n");
    expect(await linesOf(files, fold, path)).toEqual(["a", "b", "c"]);
  });

  test("one call's fault is not the next one's", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    const path = fileWith("throw\n");
    const [first, second] = await Promise.allSettled([files.advance(fold, path), files.advance(fold, path)]);
    expect([first.status, second.status]).toEqual(["rejected", "rejected"]);
    writeFileSync(path, "fine\n");
    expect(await linesOf(files, fold, path)).toEqual(["fine"]);
  });

  test("a state of another version of the fold is not used", async () => {
    const files = new LocalFoldedFiles();
    const path = fileWith("a\n");
    await linesOf(files, collecting(1), path);
    const newer = { ...collecting(2), initial: () => ({ lines: ["new"] }) };
    expect(await linesOf(files, newer, path)).toEqual(["new", "a"]);
  });

  test("what is forgotten is read from its beginning", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    const path = fileWith("a\n");
    await linesOf(files, fold, path);
    files.forget(path);
    fileWork.bytesRead = 0;
    await linesOf(files, fold, path);
    expect(fileWork.bytesRead).toBeGreaterThanOrEqual(2);
  });

  test("an append costs what was appended; a shrunken, replaced or rewritten file is read anew", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    const path = fileWith(`${"x".repeat(99)}\n`.repeat(2000));
    expect(await linesOf(files, fold, path)).toHaveLength(2000);

    fileWork.bytesRead = 0;
    appendFileSync(path, "more\n");
    expect(await linesOf(files, fold, path)).toHaveLength(2001);
    expect(fileWork.bytesRead).toBeLessThan(1024 * 16);

    truncateSync(path, 500);
    expect(await linesOf(files, fold, path)).toHaveLength(5);

    const other = `${path}.new`;
    writeFileSync(other, `${"y".repeat(99)}\n`.repeat(6));
    renameSync(other, path);
    expect(await linesOf(files, fold, path)).toEqual(Array(6).fill("y".repeat(99)));

    writeFileSync(path, `${"z".repeat(99)}\n`.repeat(7));
    expect(await linesOf(files, fold, path)).toEqual(Array(7).fill("z".repeat(99)));
  });

  test("an unfinished line is read again, never kept", async () => {
    const files = new LocalFoldedFiles();
    const fold = collecting();
    const path = fileWith("a\nhalf");
    expect(await linesOf(files, fold, path)).toEqual(["a"]);
    writeFileSync(path, "a\nothr");
    utimesSync(path, new Date(), new Date(Date.now() + 5000));
    expect(await linesOf(files, fold, path)).toEqual(["a"]);
    appendFileSync(path, " line\n");
    expect(await linesOf(files, fold, path)).toEqual(["a", "othr line"]);
  });

  test("a file that is not there is an answer, not an error", async () => {
    const result = await new LocalFoldedFiles().advance(collecting(), "/nowhere/file");
    expect(result).toEqual({ ok: false, kind: "gone", message: "no such file" });
  });
});
