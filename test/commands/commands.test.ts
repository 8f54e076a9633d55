import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../src/session/entry.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { VERSION } from "../../src/version.ts";
import { expected, sessionsDirectory } from "../sources/statefile/expected.ts";
import { BEGINNING, finished, records, turn, turnWithCall, writeSession } from "../support/state-writer.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";
import { until } from "../support/until.ts";
import { CommandLine } from "./cli.ts";

/** Design §4, word for word and in its order. */
const SNAPSHOT_KEYS = [
  ..."key source id root path title name agent models cwd project".split(" "),
  ..."status native certainty why activity createdAt updatedAt messages usage own context parent panes".split(" "),
  ..."tasks goal plan team budget resume can damage".split(" "),
];
const USAGE_KEYS = "requests input output cacheRead cacheWrite cacheWrite1h reasoning cost costBasis".split(" ");
/** Design §5. */
const ENTRY_KEYS = [
  ..."ref n kind role time text media call result usage model via".split(" "),
  ..."inContext forkable branch injected".split(" "),
];
/** Long after the fixtures were copied: a file that was made this second may not be a session yet. */
const LATER = { FORKTAIL_NOW: "2027-01-01T00:00:00Z" };
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

interface Listing {
  schema: number;
  sessions: Snapshot[];
  problems: { source: string; path: string; kind: string; message: string }[];
}

function two(): CommandLine {
  const dir = temporaryDirectory();
  writeSession(dir, "aaaaaaaa", [
    ...BEGINNING,
    ...turn(3, "one", "1"),
    ...turn(6, "two", "2"),
    ...turn(9, "three", "3"),
  ]);
  writeSession(dir, "bbbbbbbb", [...BEGINNING, ...turnWithCall(3, "look", "ls", "a\nb\n", 0)]);
  return new CommandLine(dir);
}

describe("list", () => {
  test("has exactly the documented fields, newest first, for every session of the fixtures", async () => {
    const line = new CommandLine(sessionsDirectory(), LATER);
    const listing = await line.json<Listing>("list");
    expect(listing.schema).toBe(1);
    expect(listing.sessions.map((one) => one.id)).toEqual(expected.order_newest_updated_first);
    for (const one of listing.sessions) {
      expect(Object.keys(one).sort()).toEqual([...SNAPSHOT_KEYS].sort());
      expect(one).toMatchObject({ key: `statefile:${one.id}`, source: "statefile", root: line.sessions });
      for (const usage of [one.usage, one.own]) if (usage) expect(Object.keys(usage)).toEqual(USAGE_KEYS);
      for (const time of [one.createdAt, one.updatedAt]) if (time !== null) expect(time).toMatch(STAMP);
      for (const damage of one.damage) expect(Object.keys(damage).sort()).toEqual(["bytes", "kind", "line"]);
      if (one.resume) expect(Object.keys(one.resume)).toEqual(["argv", "cwd"]);
      if (one.parent) expect(Object.keys(one.parent)).toEqual(["key", "relation"]);
      expect(["recorded", "guess"]).toContain(one.certainty);
      expect(one.why.length).toBeGreaterThan(0);
    }
    for (const problem of listing.problems) {
      expect(Object.keys(problem)).toEqual(["source", "path", "kind", "message"]);
      expect(problem.message).not.toMatch(/[\x00-\x1f\x7f-\x9f]/u);
    }
  });

  test("in words is one line a session, without a control byte", async () => {
    const { code, stdout, stderr } = await new CommandLine(sessionsDirectory(), LATER).run("list");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((text) => text.includes("statefile:")).length).toBeGreaterThanOrEqual(36);
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/u);
  });

  test("a reader that has seen enough is no error", async () => {
    const line = new CommandLine(sessionsDirectory());
    const cli = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));
    const args = [cli, "list", "--json", "--root", `statefile=${line.sessions}`];
    const child = spawn(process.execPath, args, { env: line.env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stderr.on("data", (data) => {
      said += String(data);
    });
    child.stdout.once("data", () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, said]).toEqual([0, ""]);
  });

  test("browse without a terminal prints the same, as JSON too", async () => {
    const line = two();
    expect((await line.run()).stdout).toBe((await line.run("list")).stdout);
    expect(await line.json("browse")).toEqual(await line.json("list"));
  });
});

describe("show", () => {
  test("prints the session and its entries with exactly the documented fields", async () => {
    const line = two();
    const shown = await line.json<{ schema: number; session: Snapshot; entries: Entry[] }>(
      "show",
      "statefile:bbbbbbbb",
    );
    expect(Object.keys(shown)).toEqual(["schema", "session", "entries"]);
    expect(shown.session.id).toBe("bbbbbbbb");
    expect(shown.entries.map((one) => one.kind)).toEqual(
      "start config message thinking call step result text step".split(" "),
    );
    for (const [at, entry] of shown.entries.entries()) {
      expect(Object.keys(entry).sort()).toEqual([...ENTRY_KEYS].sort());
      expect(entry).toMatchObject({ n: at + 1, ref: String(at + 1) });
      if (entry.time !== null) expect(entry.time).toMatch(STAMP);
      if (entry.call) expect(Object.keys(entry.call)).toEqual(["id", "name", "args"]);
      if (entry.result) {
        expect(Object.keys(entry.result).sort()).toEqual(["exit", "for", "fullOutput", "isError", "truncated"]);
      }
    }
  });

  test("the context is in the model's order, with the next upto", async () => {
    const line = new CommandLine(sessionsDirectory());
    for (const id of ["8b3a7629", "cc9bf5a0", "85fd5a36"]) {
      const shown = await line.json<{ entries: Entry[]; nextUpto: number }>("show", id, "--context");
      expect(shown.entries.map((one) => one.n)).toEqual(expected.sessions[id]?.build);
      expect(shown.nextUpto).toBe(expected.sessions[id]?.next_upto);
    }
  });

  test("other views are documents; one that there is not says which there are", async () => {
    const line = two();
    expect(await line.json("show", "aaaaaaaa", "--view", "usage")).toMatchObject({
      schema: 1,
      key: "statefile:aaaaaaaa",
      view: "usage",
      document: { blocks: expect.any(Array) },
    });
    const wrong = await line.run("show", "aaaaaaaa", "--view", "dreams");
    expect(wrong).toEqual({
      code: 2,
      stdout: "",
      stderr: "forktail: --view dreams: this session has timeline, context, usage, info\n",
    });
  });

  test("in words holds what was said, cleaned", async () => {
    const dir = temporaryDirectory();
    writeSession(dir, "aaaaaaaa", finished("do it\x1b]0;pwned\x07", "done\x1b[2J"));
    const { stdout } = await new CommandLine(dir).run("show", "aaaaaaaa");
    expect(stdout).toContain("do it");
    expect(stdout).toContain("done");
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/u);
  });
});

describe("fork, revert, undo", () => {
  test("fork makes a new session from the prefix; the original's bytes and time stay", async () => {
    const line = two();
    const before = treeHash(line.sessions);
    const made = await line.json<{ fork: { id: string; key: string; path: string }; of: string }>(
      ...["fork", "aaaaaaaa", "--before", "6"],
    );
    expect(made.of).toBe("statefile:aaaaaaaa");
    const original = readFileSync(join(line.sessions, "aaaaaaaa.state"));
    const copy = readFileSync(made.fork.path);
    expect(original.subarray(0, copy.length).equals(copy)).toBe(true);
    const { entries } = await line.json<{ entries: Entry[] }>("show", made.fork.key);
    expect(entries).toHaveLength(5);
    expect(treeHash(line.sessions)["./aaaaaaaa.state"]).toBe(before["./aaaaaaaa.state"]);
    const { sessions } = await line.json<Listing>("list");
    expect(sessions.find((one) => one.id === made.fork.id)?.parent).toEqual({
      key: "statefile:aaaaaaaa",
      relation: "fork",
    });
  });

  test.each([
    ["1", /must keep start and config/u],
    ["4", /record 4 is a text, not a message/u],
    ["99", /there is no record 99/u],
    ["six", /six is not a record number/u],
  ])("a fork before %s is refused with the reason, and makes nothing", async (ref, reason) => {
    const line = two();
    const before = treeHash(line.sessions);
    const { code, stdout, stderr } = await line.run("fork", "aaaaaaaa", "--before", ref);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(reason);
    expect(stderr.trimEnd()).not.toContain("\n");
    expect(treeHash(line.sessions)).toEqual(before);
  });

  test("a fork while the writer appends is the prefix as it was cut", async () => {
    const line = two();
    const path = join(line.sessions, "aaaaaaaa.state");
    // Far more than the writer can write meanwhile, however slow the machine is.
    const more = Array.from({ length: 6000 }, (_, n) => turn(12 + n * 3, `more ${n}`, "x".repeat(500))).flat();
    const rest = join(temporaryDirectory(), "rest");
    writeFileSync(rest, records(more, 12));
    const script = `
      const { openSync, readFileSync, writeSync } = require("node:fs");
      const bytes = readFileSync(process.argv[1]);
      const to = openSync(process.argv[2], "a");
      let at = 0;
      const go = () => { at += writeSync(to, bytes.subarray(at, at + 331)); if (at < bytes.length) setTimeout(go, 1); };
      go();`;
    const writer = spawn(process.execPath, ["-e", script, rest, path], { stdio: "ignore" });
    try {
      const prefix = readFileSync(path);
      const cut =
        records(turn(3, "one", "1"), 3).length + records([{ ...BEGINNING[0], id: "aaaaaaaa", kind: "start" }]).length;
      for (let round = 0; round < 3; round += 1) {
        const { fork } = await line.json<{ fork: { path: string } }>("fork", "aaaaaaaa", "--before", "9");
        const copy = readFileSync(fork.path);
        expect(prefix.subarray(0, copy.length).equals(copy)).toBe(true);
        expect(copy.length).toBeGreaterThan(cut);
      }
      expect(writer.exitCode).toBeNull();
    } finally {
      writer.kill("SIGKILL");
    }
  });

  test("revert folds the original away, undo brings it back; no file of either is touched", async () => {
    const line = two();
    const ids = async (...more: string[]): Promise<string[]> =>
      (await line.json<Listing>("list", ...more)).sessions.map((one) => one.id).sort();
    const made = await line.json<{ revert: { id: string; path: string } }>("revert", "aaaaaaaa", "--before", "9");
    const after = treeHash(line.sessions);
    expect(await ids()).toEqual(["bbbbbbbb", made.revert.id].sort());
    expect(await ids("--all")).toEqual(["aaaaaaaa", "bbbbbbbb", made.revert.id].sort());
    expect(await line.json("undo", "aaaaaaaa")).toMatchObject({
      undone: { original: "statefile:aaaaaaaa", withdrawn: true },
    });
    expect(await ids()).toEqual(["aaaaaaaa", "bbbbbbbb"]);
    expect(treeHash(line.sessions)).toEqual(after);
    const again = await line.run("undo");
    expect(again).toEqual({ code: 1, stdout: "", stderr: "forktail: there is no revert to undo\n" });
  });

  test("undo keeps a copy that has gone on", async () => {
    const line = two();
    const made = await line.json<{ revert: { id: string; path: string; key: string } }>(
      ...["revert", "aaaaaaaa", "--before", "9"],
    );
    writeFileSync(made.revert.path, records(turn(9, "another way", "ok"), 9), { flag: "a" });
    const { stdout } = await line.run("undo");
    expect(stdout).toContain("has gone on since and stays in the list");
    expect((await line.json<Listing>("list")).sessions.map((one) => one.id)).toContain(made.revert.id);
  });

  test("a directory that cannot be written is one line and nothing made", async () => {
    const line = two();
    rmSync(join(line.env.HOME ?? "", "memory"), { recursive: true, force: true });
    const before = readdirSync(line.sessions);
    // A file where our memory's directory would be made.
    writeFileSync(join(line.env.HOME ?? "", "memory"), "");
    const { code, stderr } = await line.run("revert", "aaaaaaaa", "--before", "9");
    expect(code).toBe(1);
    expect(stderr.split("\n")).toHaveLength(2);
    expect(before.every((name) => readdirSync(line.sessions).includes(name))).toBe(true);
  });
});

describe("resume", () => {
  test("--print says the command, and beside it what is missing", async () => {
    const line = two();
    expect(await line.run("resume", "aaaaaaaa", "--print")).toEqual({
      code: 0,
      stdout: "mainplane chat aaaaaaaa\n",
      stderr: "forktail: note: mainplane is not on PATH: install it, or copy the command with y\n",
    });
    expect(await line.json("resume", "aaaaaaaa", "--print")).toEqual({
      schema: 1,
      key: "statefile:aaaaaaaa",
      resume: { argv: ["mainplane", "chat", "aaaaaaaa"], cwd: null },
    });
    expect(await line.run("resume", "aaaaaaaa")).toMatchObject({ code: 1, stdout: "" });
  });

  test("runs the program in place and ends as it ended", async () => {
    const bin = temporaryDirectory();
    writeFileSync(join(bin, "mainplane"), '#!/bin/sh\necho "mainplane $*"\nexit 7\n');
    chmodSync(join(bin, "mainplane"), 0o755);
    const line = two();
    line.env.PATH = `${bin}:/usr/bin:/bin`;
    expect(await line.run("resume", "bbbbbbbb")).toEqual({ code: 7, stdout: "mainplane chat bbbbbbbb\n", stderr: "" });
  });
});

test("watch prints one JSON line for everything that changes, and ends at a signal", async () => {
  const line = two();
  const child = line.start("watch", "--json");
  const lines: Record<string, unknown>[] = [];
  let rest = "";
  child.stdout?.on("data", (data) => {
    const parts = (rest + String(data)).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part));
  });
  await until(() => lines.some((one) => one.scanned === true));
  expect(lines.filter((one) => "session" in one)).toHaveLength(2);
  writeSession(line.sessions, "cccccccc", finished("new"));
  const sessionIn = (one: Record<string, unknown>): Snapshot | undefined => one.session as Snapshot | undefined;
  await until(() => lines.some((one) => sessionIn(one)?.id === "cccccccc"));
  for (const one of lines) {
    const session = sessionIn(one);
    if (session) expect(Object.keys(session).sort()).toEqual([...SNAPSHOT_KEYS].sort());
  }
  rmSync(join(line.sessions, "cccccccc.state"));
  await until(() => lines.some((one) => one.removed === "statefile:cccccccc"));
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test("demo without a terminal prints its own sessions once, and leaves nothing behind", async () => {
  const line = two();
  const temporary = temporaryDirectory();
  line.env.TMPDIR = temporary;
  const { code, stdout, stderr } = await line.bare("demo");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.split("\n").filter((text) => text.includes("statefile:")).length).toBeGreaterThan(5);
  // Node keeps its compiled code there.
  expect(readdirSync(temporary).filter((name) => name !== "node-compile-cache")).toEqual([]);
  expect(readdirSync(line.env.HOME ?? "")).toEqual([]);
});

test("doctor says where it looks, what it sees and what is wrong", async () => {
  const line = new CommandLine(sessionsDirectory(), LATER);
  const report = await line.json<Record<string, unknown>>("doctor");
  expect(report).toMatchObject({ schema: 1, version: VERSION, troubles: [] });
  expect(report.roots).toContainEqual({
    source: "statefile",
    title: "Mainplane",
    path: line.sessions,
    there: true,
    asked: true,
    sessions: 36,
  });
  const { code, stdout } = await line.run("doctor");
  expect(code).toBe(0);
  expect(stdout).toContain(`Mainplane: ${line.sessions}: 36 sessions`);
  const nowhere = await new CommandLine(join(line.sessions, "nowhere")).run("doctor");
  expect(nowhere.stdout).toContain("NOT THERE");
  expect(nowhere.code).toBe(0);
});

test("commands that only read change nothing in the sessions' directory", async () => {
  const line = new CommandLine(sessionsDirectory());
  const before = treeHash(line.sessions);
  for (const args of [
    ["list", "--all"],
    ["list", "--json"],
    ["show", "c5536e71"],
    ["show", "c5536e71", "--context", "--json"],
    ["show", "c5536e71", "--view", "info"],
    ["resume", "c5536e71", "--print"],
    ["doctor"],
    [],
  ]) {
    expect((await line.run(...args)).code, args.join(" ")).toBe(0);
  }
  expect(treeHash(line.sessions)).toEqual(before);
});

describe("the command line itself", () => {
  test("--version and --help", async () => {
    const line = new CommandLine("/nowhere");
    expect(await line.bare("--version")).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
    const help = await line.bare("--help");
    expect(help.code).toBe(0);
    for (const command of "browse list show fork revert undo resume watch doctor demo".split(" ")) {
      expect(help.stdout).toMatch(new RegExp(`^ +${command}\\b`, "mu"));
    }
  });

  test.each<[string[], number, RegExp]>([
    [["lst"], 2, /unknown|too many/u],
    [["list", "--colour"], 2, /unknown option '--colour'/u],
    [["show"], 2, /missing required argument/u],
    [["revert", "aaaaaaaa"], 2, /--before/u],
    [["resume", "aaaaaaaa", "--in", "tab"], 2, /split, window, here/u],
    [["list", "--root", "nonsense"], 2, /say it as --root SOURCE=DIR/u],
    [["list", "--root", "vim=/x"], 2, /there is no source vim/u],
    [["show", "not a key"], 2, /not a session key/u],
    [["show", "statefile:99999999"], 1, /there is no session statefile:99999999/u],
    [["undo", "statefile:aaaaaaaa"], 1, /not part of a revert/u],
    [["list", "--config", "/dev/null/x"], 1, /cannot be read/u],
  ])("%j ends with %d and one line that says what to do", async (args, code, said) => {
    const ended = await two().run(...args);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
    expect(ended.stderr).toMatch(said);
    expect(ended.stderr).toMatch(/^forktail: [^\n]+\n$/u);
  });

  test("a bad config is told with its line", async () => {
    const line = two();
    mkdirSync(join(line.env.HOME ?? "", ".config", "forktail"), { recursive: true });
    writeFileSync(join(line.env.HOME ?? "", ".config", "forktail", "config.json"), '{\n  "ascii": 1\n}');
    const { code, stderr } = await line.run("list");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^forktail: .*config\.json:2: ascii: [^\n]+\n$/u);
  });

  test("an id in two roots has to be said as a key", async () => {
    const [one, other] = [two(), two()];
    const more = ["--root", `statefile=${other.sessions}`];
    const { code, stderr } = await one.run("show", "aaaaaaaa", ...more);
    expect(code).toBe(2);
    expect(stderr).toContain("is the id of 2 sessions; say which: ");
    expect(stderr).toContain("statefile@2:aaaaaaaa");
    expect((await one.run("show", "statefile@2:aaaaaaaa", ...more)).code).toBe(0);
  });
});
