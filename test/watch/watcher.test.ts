import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";
import { awake, watching } from "./watching.ts";

const touch = (path: string): void => writeFileSync(path, "");

describe("a watched directory", () => {
  test("tells of files that are made, grow, shrink, are replaced and deleted", async () => {
    const dir = temporaryDirectory();
    const at = watching(dir);
    await awake(at, dir, touch);
    const file = join(dir, "a.state");
    const steps: [string, () => void][] = [
      ["made", () => writeFileSync(file, "one\n")],
      ["grown", () => appendFileSync(file, "two\n")],
      ["cut", () => truncateSync(file, 4)],
      [
        "replaced",
        () => {
          writeFileSync(join(dir, "b.tmp"), "new\n");
          renameSync(join(dir, "b.tmp"), file);
        },
      ],
      ["grown after that", () => appendFileSync(file, "more\n")],
      ["deleted", () => rmSync(file)],
      ["made again", () => writeFileSync(file, "again\n")],
    ];
    for (const [step, change] of steps) {
      // The second look after the last change must not be taken for this one's.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const since = at.batches.length;
      change();
      await at.told(file, since).catch(() => expect.fail(`not told: ${step}`));
    }
    expect(at.troubles).toEqual([]);
    expect(at.watcher.facts()).toMatchObject({ mode: "watching", missing: [] });
  });

  test("a burst of appends is few batches, and the last is looked at after the last byte", async () => {
    const dir = temporaryDirectory();
    const at = watching(dir);
    await awake(at, dir, touch);
    const file = join(dir, "a.state");
    let lastTold = 0;
    const before = at.batches.length;
    for (let n = 0; n < 200; n += 1) {
      appendFileSync(file, `line ${n}\n`);
      if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const done = performance.now();
    await until(() => {
      if (at.batches.at(-1)?.includes(file)) lastTold = performance.now();
      return lastTold > done && at.batches.length > before;
    });
    expect(at.batches.length - before).toBeLessThan(40);
  });

  test("says nothing of files that do not matter, nor below the depth that does", async () => {
    const dir = temporaryDirectory();
    makeDirectory(dir, "one", "two");
    const at = watching(dir, { depth: 1, matters: (path) => path.endsWith(".state") || path.includes("awake") });
    await awake(at, join(dir, "one"), touch);
    writeFileSync(join(dir, "a.log"), "");
    writeFileSync(join(dir, "one", "two", "deep.state"), "");
    writeFileSync(join(dir, "one", "b.state"), "");
    await at.told(join(dir, "one", "b.state"));
    const told = at.batches.flat();
    expect(told.filter((path) => path.endsWith("a.log") || path.endsWith("deep.state"))).toEqual([]);
  });

  test("what is made or grows while it is looked at the first time is told, what was there before is not", async () => {
    const dir = temporaryDirectory();
    const old = join(dir, "old.state");
    const grown = join(dir, "grown.state");
    const made = join(dir, "made.state");
    for (const path of [old, grown]) touch(path);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const at = watching(dir);
    writeFileSync(grown, "more\n");
    touch(made);
    await at.watcher.ready();
    await at.told(grown);
    await at.told(made);
    expect(at.batches.flat()).not.toContain(old);
    expect(at.batches.flat()).not.toContain(dir);
  });

  test("a directory made later below it is watched too", async () => {
    const dir = temporaryDirectory();
    const at = watching(dir, { depth: 1 });
    await awake(at, dir, touch);
    mkdirSync(join(dir, "later"));
    const file = join(dir, "later", "a.state");
    writeFileSync(file, "one");
    await at.told(file);
  });

  test("links are not followed: what lies behind one is not ours to watch", async () => {
    const dir = temporaryDirectory();
    const elsewhere = temporaryDirectory();
    symlinkSync(elsewhere, join(dir, "link"));
    const at = watching(dir, { depth: 2 });
    await awake(at, dir, touch);
    writeFileSync(join(elsewhere, "a.state"), "x");
    writeFileSync(join(dir, "b.state"), "x");
    await at.told(join(dir, "b.state"));
    expect(at.batches.flat().some((path) => path.includes("a.state"))).toBe(false);
  });

  test("one that is not there yet is waited for, and reported as a whole when it appears", async () => {
    const dir = join(temporaryDirectory(), "parent", "sessions");
    const at = watching(dir);
    expect(at.watcher.facts().missing).toEqual([dir]);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "a.state"), "was there first");
    await at.told(dir);
    expect(at.watcher.facts().missing).toEqual([]);
    await awake(at, dir, touch);
    const since = at.batches.length;
    appendFileSync(join(dir, "a.state"), "more");
    await at.told(join(dir, "a.state"), since);
  });

  test("one that is deleted and made again is watched again", async () => {
    const dir = makeDirectory(temporaryDirectory(), "sessions");
    writeFileSync(join(dir, "a.state"), "one");
    const at = watching(dir);
    await awake(at, dir, touch);
    rmSync(dir, { recursive: true });
    await at.told(dir);
    const since = at.batches.length;
    mkdirSync(dir);
    writeFileSync(join(dir, "b.state"), "two");
    await at.told(dir, since);
    const later = at.batches.length;
    await until(
      () => {
        appendFileSync(join(dir, "b.state"), "more");
        return at.batches.slice(later).flat().includes(join(dir, "b.state"));
      },
      Boolean,
      8000,
    );
  });

  test("tells nothing after it was closed", async () => {
    const dir = temporaryDirectory();
    const at = watching(dir);
    await awake(at, dir, touch);
    writeFileSync(join(dir, "a.state"), "x");
    await at.watcher.close();
    const { length } = at.batches;
    writeFileSync(join(dir, "b.state"), "x");
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(at.batches.length).toBe(length);
  });
});

describe("polling", () => {
  test("tells the same, without a watcher", async () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, "a.state"), "one");
    symlinkSync(join(dir, "a.state"), join(dir, "link.state"));
    const at = watching(dir, { poll: true });
    await at.told(join(dir, "a.state"));
    expect(at.watcher.facts()).toMatchObject({ mode: "polling", directories: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const since = at.batches.length;
    appendFileSync(join(dir, "a.state"), "two");
    await at.told(join(dir, "a.state"), since);
    expect(at.batches.flat().some((path) => path.includes("link"))).toBe(false);
  });
});
