import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CountsFile, isStale, readCounts } from "../../src/memory/counts-file.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

describe("the counts file", () => {
  test("is written whole, for its owner alone, in a directory made for it", async () => {
    const directory = join(temporaryDirectory(), "state");
    const file = new CountsFile(directory);
    file.update({ "needs-input": 2, done: 1 }, NOW);
    await file.close();
    expect(readCounts(directory)).toEqual({ at: NOW, counts: { "needs-input": 2, done: 1 } });
    expect(readdirSync(directory)).toEqual(["counts.json"]);
    expect(statSync(join(directory, "counts.json")).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test("gathers a burst: the first change at once, the last one in the end", async () => {
    const directory = temporaryDirectory();
    const file = new CountsFile(directory);
    file.update({ working: 1 }, NOW);
    await until(() => readCounts(directory)?.counts.working === 1);
    for (let count = 2; count <= 50; count += 1) file.update({ working: count }, NOW + count);
    expect(readCounts(directory)?.counts.working).toBe(1);
    await file.close();
    expect(readCounts(directory)).toEqual({ at: NOW + 50, counts: { working: 50 } });
  });

  test("that cannot be written disturbs nobody", async () => {
    const directory = join(temporaryDirectory(), "file");
    writeFileSync(directory, "in the way");
    const file = new CountsFile(directory);
    file.update({ working: 1 }, NOW);
    await file.close();
    expect(readFileSync(directory, "utf8")).toBe("in the way");
  });
});

describe("while forktail runs", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  test("the file stays fresh without a change, and grows old when it stopped", async () => {
    const directory = temporaryDirectory();
    let time = NOW;
    const file = new CountsFile(directory, () => time);
    file.update({ working: 1 }, NOW);
    for (let round = 0; round < 4; round += 1) {
      time += 25_000;
      vi.advanceTimersByTime(25_000);
    }
    await file.close();
    const known = readCounts(directory);
    expect(known).toEqual({ at: NOW + 100_000, counts: { working: 1 } });
    vi.advanceTimersByTime(100_000);
    expect(readCounts(directory)).toEqual(known);
    expect(known && [isStale(known, known.at + 60_000), isStale(known, known.at + 60_001)]).toEqual([false, true]);
    expect(known && isStale(known, known.at - 60_001)).toBe(true);
  });
});

describe("a file that is not ours", () => {
  test.each([
    ["empty", ""],
    ["cut", '{"schema":1,"at":"2026-11-20T12:0'],
    ["not an object", "7"],
    ["without counts", '{"at":"2026-11-20T12:00:00.000Z"}'],
    ["without a time", '{"at":"late","counts":{}}'],
    ["too large", `{"at":"2026-11-20T12:00:00.000Z","counts":{}}${" ".repeat(5000)}`],
  ])("says nothing: %s", (_, text) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "counts.json"), text);
    expect(readCounts(directory)).toBeNull();
  });

  test("loses only the counts that are none", () => {
    const directory = temporaryDirectory();
    const counts = '{"done":2,"failed":-1,"working":1.5,"idle":"3","constructor":1,"unheard-of":4}';
    writeFileSync(join(directory, "counts.json"), `{"at":"2026-11-20T12:00:00.000Z","counts":${counts}}`);
    expect(readCounts(directory)).toEqual({ at: NOW, counts: { done: 2 } });
  });

  test("is not followed through a link, and a FIFO does not hang the status bar", () => {
    const linked = temporaryDirectory();
    writeFileSync(join(linked, "other"), '{"at":"2026-11-20T12:00:00.000Z","counts":{"done":1}}');
    symlinkSync(join(linked, "other"), join(linked, "counts.json"));
    expect(readCounts(linked)).toBeNull();
    const fifo = temporaryDirectory();
    execFileSync("mkfifo", [join(fifo, "counts.json")]);
    expect(readCounts(fifo)).toBeNull();
  });
});
