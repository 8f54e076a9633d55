import { EventEmitter } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryDirectory } from "../support/temp.ts";
import { watching } from "./watching.ts";

/** A watcher whose system refuses: it only says what the test lets it say. */
class Refusing extends EventEmitter {
  closed = false;
  add(): void {}
  getWatched(): Record<string, string[]> {
    return {};
  }
  async close(): Promise<void> {
    this.closed = true;
  }
  fail(code: string, path: string): void {
    this.emit("error", Object.assign(new Error(`${code}: watch '${path}'`), { code, path }));
  }
}

const made: Refusing[] = [];
vi.mock("chokidar", () => ({
  watch: () => {
    const watcher = new Refusing();
    made.push(watcher);
    return watcher;
  },
}));

test.each(["ENOSPC", "EMFILE"])("%s turns to polling, says so once, and loses nothing", async (code) => {
  made.length = 0;
  const dir = temporaryDirectory();
  const file = join(dir, "a.state");
  writeFileSync(file, "one");
  const at = watching(dir);
  const [chokidar] = made;
  expect(at.watcher.facts().mode).toBe("watching");
  chokidar?.fail(code, dir);
  chokidar?.fail(code, join(dir, "below"));
  chokidar?.fail(code, "/elsewhere");
  expect(at.troubles).toHaveLength(1);
  expect(at.troubles[0]).toMatchObject({ kind: "watch-limit", message: expect.stringContaining(`(${code})`) });
  expect(at.troubles[0]?.message).toMatch(/every 2 s.*max_user_watches/u);
  expect(at.watcher.facts().mode).toBe("polling");
  expect(chokidar?.closed).toBe(true);
  await at.told(file);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const since = at.batches.length;
  appendFileSync(file, "two");
  await at.told(file, since);
  expect(made).toHaveLength(1);
});

test("after that, directories that are added or appear later are polled too", async () => {
  made.length = 0;
  const dir = temporaryDirectory();
  const at = watching(dir);
  made[0]?.fail("ENOSPC", dir);
  const later = join(dir, "later");
  at.watcher.add([{ path: later, depth: 0, matters: () => true }]);
  expect(at.watcher.facts().missing).toEqual([later]);
  mkdirSync(later);
  writeFileSync(join(later, "b.state"), "");
  await at.told(join(later, "b.state"));
  expect(made).toHaveLength(1);
});

test("a directory that may not be watched is said once, and the others stay watched", () => {
  made.length = 0;
  const at = watching(temporaryDirectory());
  made[0]?.fail("EACCES", "/root/secret");
  made[0]?.fail("EACCES", "/root/secret");
  made[0]?.fail("ENOENT", "/gone");
  expect(at.troubles).toEqual([
    { kind: "watch-error", path: "/root/secret", message: "/root/secret: not watched (EACCES)" },
  ]);
  expect(at.watcher.facts().mode).toBe("watching");
});
