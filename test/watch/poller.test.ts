import { appendFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Poller, type PollTarget } from "../../src/watch/poller.ts";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";

function polling(everyMs = 15) {
  const told: string[] = [];
  const poller = new Poller((paths) => told.push(...paths), everyMs);
  onTestFinished(() => poller.close());
  const target = (path: string, depth = 0): PollTarget => ({ path, depth, matters: (one) => one.endsWith(".state") });
  /** Waits until a path is told that was not so far. */
  const hear = async (path: string): Promise<void> => {
    await until(() => told.includes(path));
    // What its discovery set off is over when nothing is told for some rounds.
    for (let quiet = -1; quiet !== told.length; ) {
      quiet = told.length;
      await new Promise((resolve) => setTimeout(resolve, everyMs * 8));
    }
    told.length = 0;
  };
  return { poller, told, target, hear };
}

describe("looking for changes by ourselves", () => {
  test("finds files that are there, made, grown, deleted, and those in directories below", async () => {
    const dir = temporaryDirectory();
    const below = makeDirectory(dir, "below");
    const deeper = makeDirectory(dir, "below", "deeper");
    writeFileSync(join(dir, "a.state"), "one");
    writeFileSync(join(deeper, "deep.state"), "");
    const { poller, told, target, hear } = polling();
    poller.add(target(dir, 1));
    await hear(join(dir, "a.state"));
    expect(poller.directories).toBe(2);

    writeFileSync(join(below, "b.state"), "");
    writeFileSync(join(below, "b.log"), "");
    await hear(join(below, "b.state"));
    appendFileSync(join(dir, "a.state"), "two");
    await hear(join(dir, "a.state"));
    rmSync(join(dir, "a.state"));
    await hear(join(dir, "a.state"));
    expect(told).toEqual([]);
  });

  test("a file that was quiet for long is looked at with the listing", async () => {
    const dir = temporaryDirectory();
    const file = join(dir, "a.state");
    writeFileSync(file, "one");
    const old = new Date(Date.now() - 86_400_000);
    utimesSync(file, old, old);
    const { poller, target, hear } = polling();
    poller.add(target(dir));
    await hear(file);
    writeFileSync(file, "other");
    await hear(file);
    rmSync(file);
    await hear(file);
  });

  test("a directory that is added while it is looking is listed at the next look, not rounds later", async () => {
    const [one, two] = [temporaryDirectory(), temporaryDirectory()];
    for (let n = 0; n < 300; n += 1) writeFileSync(join(one, `${n}.state`), "");
    writeFileSync(join(two, "a.state"), "");
    const { poller, told, target } = polling(60_000);
    poller.add(target(one));
    // The first look is at work on the files of `one` now.
    await new Promise((resolve) => setImmediate(resolve));
    poller.add(target(two));
    await until(() => told.length >= 301);
    expect(told).toContain(join(two, "a.state"));
  });

  test("the same directory's deletion takes all of its files, and they are found again", async () => {
    const dir = makeDirectory(temporaryDirectory(), "sessions");
    const file = join(dir, "a.state");
    writeFileSync(file, "one");
    const { poller, target, hear } = polling();
    poller.add(target(dir));
    await hear(file);
    rmSync(dir, { recursive: true });
    await hear(file);
    makeDirectory(dir);
    writeFileSync(file, "two");
    await hear(file);
  });
});
