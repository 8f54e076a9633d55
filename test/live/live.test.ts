import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileWork } from "../../src/files/open.ts";
import { statefileSource } from "../../src/sources/statefile/source.ts";
import { BEGINNING, finished, records, turn, writeSession } from "../support/state-writer.ts";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";
import { until } from "../support/until.ts";
import { Followed, following } from "./live.ts";

const A = "statefile:aaaaaaaa";
const B = "statefile:bbbbbbbb";

describe("following sessions", () => {
  test("every byte of a burst of appends arrives, however the writes cut the records", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", BEGINNING);
    const at = await following([dir]);
    const turns = Array.from({ length: 40 }, (_, i) => turn(3 + i * 3, `prompt ${i}`, `reply ${i}`)).flat();
    const bytes = records(turns, 3);
    for (let from = 0, n = 0; from < bytes.length; n += 1) {
      const to = Math.min(bytes.length, from + 1 + ((n * 37) % 97));
      appendFileSync(path, bytes.subarray(from, to));
      from = to;
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await at.until(A, (one) => one?.messages === 40 && one.usage?.requests === 40);
    expect(at.sessions.get(A)).toMatchObject({ status: "idle", title: "prompt 0", damage: [] });
  });

  test("what is appended while the first reading is under way is not missed", async () => {
    const dir = temporaryDirectory();
    const paths = Array.from({ length: 400 }, (_, i) =>
      writeSession(dir, (0xa0000000 + i).toString(16), finished(`session ${i}`), 3600 + i),
    );
    const at = new Followed([dir]);
    const started = at.live.start(at.sink);
    // Each once, at any moment of reading and of setting up the watching.
    for (const [i, path] of paths.entries()) {
      appendFileSync(path, records(turn(6, "more", "ok"), 6));
      if (i % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await started;
    await until(
      () => [...at.sessions.values()].filter((one) => one.messages !== 2).length,
      (behind) => behind === 0 && at.sessions.size === 400,
      8000,
    );
  });

  test("nothing is watched before the first reading is over, and what happened meanwhile is told then", async () => {
    const dir = temporaryDirectory();
    const grows = writeSession(dir, "aaaaaaaa", finished("one"), 60);
    const goes = writeSession(dir, "bbbbbbbb", finished("two"), 60);
    const at = new Followed([dir]);
    const drawn = Promise.withResolvers<void>();
    const started = at.live.start({ ...at.sink, ready: () => drawn.promise });
    await until(() => at.sessions.size === 2);
    expect(at.live.facts()).toMatchObject({ mode: "watching", directories: 0 });
    appendFileSync(grows, records(turn(6, "more", "ok"), 6));
    rmSync(goes);
    writeSession(dir, "cccccccc", finished("three"));
    drawn.resolve();
    await started;
    await at.until(A, (one) => one?.messages === 2);
    await at.until(B, (one) => one === undefined);
    await at.until("statefile:cccccccc", (one) => one?.title === "three");
    expect(at.live.facts()?.directories).toBeGreaterThan(0);
  });

  test("what is appended right after the first reading is not missed", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", finished("one"));
    const at = await following([dir]);
    appendFileSync(path, records(turn(6, "two", "ok"), 6));
    await at.until(A, (one) => one?.messages === 2);
  });

  test("a session that is made, cut, replaced by rename, deleted and made again", async () => {
    const dir = temporaryDirectory();
    const at = await following([dir]);
    expect(at.sessions.size).toBe(0);
    const path = join(dir, "aaaaaaaa.state");
    writeFileSync(path, records(finished("made")));
    await at.until(A, (one) => one?.title === "made");

    truncateSync(path, records(BEGINNING).length);
    await at.until(A, (one) => one?.title === "aaaaaaaa" && one.messages === 0);

    writeFileSync(join(dir, "new.tmp"), records([...finished("replaced"), ...turn(6, "more", "ok")]));
    renameSync(join(dir, "new.tmp"), path);
    await at.until(A, (one) => one?.title === "replaced" && one.messages === 2);

    rmSync(path);
    await at.until(A, (one) => one === undefined);
    writeFileSync(path, records(finished("again")));
    await at.until(A, (one) => one?.title === "again");
  });

  test("a torn tail is a session as it stands, and whole when the rest comes", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", finished("one"));
    const at = await following([dir]);
    const more = records(turn(6, "two", "ok"), 6);
    appendFileSync(path, more.subarray(0, 50));
    await at.until(A, (one) => one?.damage.length === 1 && one.messages === 1);
    expect(at.sessions.get(A)?.damage[0]).toMatchObject({ bytes: 50, line: 6 });
    appendFileSync(path, more.subarray(50));
    await at.until(A, (one) => one?.damage.length === 0 && one.messages === 2);
  });

  test("an unchanged session is not told again and keeps its object", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", finished("one"));
    writeSession(dir, "bbbbbbbb", finished("two"));
    const at = await following([dir]);
    const before = at.sessions.get(B);
    for (let n = 0; n < 5; n += 1) {
      appendFileSync(path, records(turn(6 + n * 3, `more ${n}`, "ok"), 6 + n * 3));
      await at.until(A, (one) => one?.messages === 2 + n);
    }
    await at.live.recheck();
    expect(at.sessions.get(B)).toBe(before);
    expect(at.told.filter((key) => key === B)).toHaveLength(1);
  });

  test("an append to a large session reads what was appended, not the session", async () => {
    const dir = temporaryDirectory();
    const body = "x".repeat(20_000);
    const turns = Array.from({ length: 500 }, (_, i) => turn(3 + i * 3, `prompt ${i}`, body)).flat();
    const path = writeSession(dir, "aaaaaaaa", [...BEGINNING, ...turns]);
    expect(statSync(path).size).toBeGreaterThan(10_000_000);
    const at = await following([dir]);
    fileWork.bytesRead = 0;
    appendFileSync(path, records(turn(1503, "one more", "ok"), 1503));
    await at.until(A, (one) => one?.messages === 501);
    // The second look ~100 ms later is part of the cost.
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(fileWork.bytesRead).toBeLessThan(64 * 1024);
  });

  test("a directory that appears later, goes away with all its sessions, and comes back", async () => {
    const dir = join(temporaryDirectory(), "later");
    const at = await following([dir]);
    expect(at.problems.get("statefile")).toEqual([expect.objectContaining({ kind: "gone", path: dir })]);
    mkdirSync(dir);
    writeSession(dir, "aaaaaaaa", finished("one"));
    await at.until(A, (one) => one?.title === "one");
    expect(at.problems.get("statefile")).toEqual([]);
    rmSync(dir, { recursive: true });
    await at.until(A, (one) => one === undefined);
    mkdirSync(dir);
    writeSession(dir, "bbbbbbbb", finished("two"));
    await at.until(B, (one) => one?.title === "two");
  });

  test("by polling, the same", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", finished("one"), 60);
    const at = await following([dir], { poll: true });
    appendFileSync(path, records(turn(6, "two", "ok"), 6));
    await at.until(A, (one) => one?.messages === 2);
    expect(at.live.facts()).toMatchObject({ mode: "polling", directories: 1 });
  });

  test("links, FIFOs and directories with a session's name are problems, never a hang; the rest is read", async () => {
    const dir = temporaryDirectory();
    writeSession(dir, "aaaaaaaa", finished("one"));
    symlinkSync(join(dir, "aaaaaaaa.state"), join(dir, "11111111.state"));
    makeDirectory(dir, "22222222.state");
    execFileSync("mkfifo", [join(dir, "33333333.state")]);
    const at = await following([dir]);
    expect([...at.sessions.keys()]).toEqual([A]);
    const paths = at.problems.get("statefile")?.map((one) => `${one.kind} ${one.path.slice(dir.length + 1)}`);
    expect(paths).toEqual(["11111111", "22222222", "33333333"].map((id) => `not-regular ${id}.state`));
    execFileSync("mkfifo", [join(dir, "44444444.state")]);
    writeSession(dir, "bbbbbbbb", finished("two"));
    await at.until(B, (one) => one?.title === "two");
    expect([...at.sessions.keys()].sort()).toEqual([A, B]);
  });

  test("an empty file is a problem once it is too old to be on its way, and none when it is filled", async () => {
    const dir = temporaryDirectory();
    const at = await following([dir]);
    const path = join(dir, "aaaaaaaa.state");
    writeFileSync(path, "");
    await until(
      () => at.problems.get("statefile") ?? [],
      (problems) => problems.some((one) => one.kind === "empty"),
    );
    writeFileSync(path, records(finished("one")));
    await at.until(A, (one) => one?.title === "one");
    expect(at.problems.get("statefile")).toEqual([]);
  });

  test("a guess of work runs out by the clock alone", async () => {
    const dir = temporaryDirectory();
    const open = [...BEGINNING, { kind: "message", type: "text/plain", body: "hello" }];
    const path = writeSession(dir, "aaaaaaaa", open, 5 * 60 - 1);
    // The record's own time counts as well as the file's.
    expect(statSync(path).size).toBeGreaterThan(0);
    const at = await following([dir]);
    const seen = at.sessions.get(A);
    if (seen?.status === "working") await at.until(A, (one) => one?.status === "open");
    expect(at.sessions.get(A)).toMatchObject({ status: "open", certainty: "recorded" });
  });

  test("reading and following change nothing in the sessions' directory", async () => {
    const dir = temporaryDirectory();
    writeSession(dir, "aaaaaaaa", finished("one"));
    writeSession(dir, "bbbbbbbb", BEGINNING);
    const before = treeHash(dir);
    const at = await following([dir]);
    for (const key of [A, B]) {
      const reader = at.live.reader(key);
      const transcript = await reader.transcript(key);
      await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 50 });
      await transcript.page({ view: "context", at: { edge: "start" }, limit: 50 });
      transcript.close();
      for (const view of ["usage", "info"] as const) await reader.document(key, view);
      await reader.resume(key);
      await reader.fork?.plan(key, null);
    }
    await at.live.recheck();
    await at.live.close();
    expect(treeHash(dir)).toEqual(before);
  });
});

describe("faults stay where they are", () => {
  test("a reader that throws is a problem of its source, and reading goes on", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", finished("one"));
    symlinkSync(path, join(dir, "bbbbbbbb.state"));
    let failing = true;
    const broken: typeof statefileSource = {
      ...statefileSource,
      open: (roots, services) => {
        const reader = statefileSource.open(roots, services);
        const { apply } = reader;
        reader.apply = (...args) => {
          if (failing) throw new Error("a fault of ours\x1b[2J");
          return apply.apply(reader, args);
        };
        return reader;
      },
    };
    const at = await following([dir], { sources: [broken] });
    appendFileSync(path, records(turn(6, "two", "ok"), 6));
    const problems = () => at.problems.get("statefile") ?? [];
    const [other] = problems();
    await until(problems, (said) =>
      said.some((one) => one.kind === "reader-failed" && one.message.includes("a fault of ours")),
    );
    expect(problems()).toContainEqual(other);
    // To look at processes again mends nothing that could not be read.
    await at.live.recheck();
    expect(problems()).toHaveLength(2);
    failing = false;
    appendFileSync(path, records(turn(9, "three", "ok"), 9));
    await at.until(A, (one) => one?.messages === 3);
    expect(problems()).toEqual([other]);
  });

  test("nothing is told after it was closed", async () => {
    const dir = temporaryDirectory();
    const path = writeSession(dir, "aaaaaaaa", finished("one"));
    const at = await following([dir]);
    await at.live.close();
    const { length } = at.told;
    appendFileSync(path, records(turn(6, "two", "ok"), 6));
    await at.live.recheck();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(at.told).toHaveLength(length);
  });

  test("a key of no source that is read here is an error in words", async () => {
    const at = await following([temporaryDirectory()]);
    expect(() => at.live.reader("vim:1")).toThrow("vim:1: no source of that name is read here");
    expect(() => at.live.reader("nonsense")).toThrow("no source of that name");
  });
});
