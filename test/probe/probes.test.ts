import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { now } from "../../src/probe/clock.ts";
import { flockOn, parseLocks } from "../../src/probe/locks.ts";
import { paneOfProcess } from "../../src/probe/pane-of-process.ts";
import { processesFromFile, processesFromProc, processTable } from "../../src/probe/processes.ts";
import { takeEvidence } from "../../src/probe/take.ts";
import { listPanes, parsePanes } from "../../src/probe/tmux.ts";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";

test("FORKTAIL_NOW fixes the clock; nonsense in it does not", () => {
  expect(now({ FORKTAIL_NOW: "2026-09-01T00:00:00Z" })).toBe(Date.parse("2026-09-01T00:00:00Z"));
  for (const env of [{}, { FORKTAIL_NOW: "noon" }]) expect(Math.abs(now(env) - Date.now())).toBeLessThan(2000);
});

test("held locks are read from the kernel's table; those that wait hold nothing", () => {
  const locks = parseLocks(
    [
      "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF",
      "1: -> FLOCK  ADVISORY  WRITE 99 08:01:5678 0 EOF",
      "2: POSIX  ADVISORY  READ  -1 fd:00:42 1073741826 1073742335",
      "3: OFDLCK ADVISORY  WRITE 7 00:2d:9 0 EOF",
      "garbage",
    ].join("\n"),
  );
  expect(locks).toEqual([
    { kind: "FLOCK", pid: 1234, device: "08:01", inode: 5678 },
    { kind: "POSIX", pid: -1, device: "fd:00", inode: 42 },
    { kind: "OTHER", pid: 7, device: "00:2d", inode: 9 },
  ]);
  expect(flockOn(locks, 5678)?.pid).toBe(1234);
  expect(flockOn(locks, 42)).toBeNull();
});

describe("processes", () => {
  /** A /proc of one process. */
  function procWith(stat: string): string {
    const root = temporaryDirectory();
    writeFileSync(join(makeDirectory(root, "12"), "stat"), stat);
    makeDirectory(root, "self");
    return root;
  }

  test.each([
    ["sh", "12 (sh) S 1 12 12 34817 12 0 0 0 0 0 0 0 0 0 20 0 1 0 998877 0", "sh", 1, "/dev/pts/1"],
    ["brackets", "12 (a) b (c)) S 7 12 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 998877 0", "a) b (c)", 7, null],
  ])("a name of %s does not confuse the fields", async (_what, stat, comm, ppid, tty) => {
    expect((await processesFromProc(procWith(stat))).all).toMatchObject([
      { pid: 12, comm, ppid, tty, startTicks: "998877", argv: [], cwd: null, locksHeld: [] },
    ]);
  });

  test.each(["", "12", "12 (sh", "12 (sh) S", "12 )sh( S 1 1 1"])("%j is no process", async (stat) => {
    expect((await processesFromProc(procWith(stat))).all).toEqual([]);
  });

  test("we ourselves are among them, with our parent", async () => {
    const me = (await processesFromProc()).byPid.get(process.pid);
    expect(me).toMatchObject({ pid: process.pid, ppid: process.ppid, cwd: process.cwd() });
  });

  test("a file may stand for the table; one that is no table is told", async () => {
    const path = join(temporaryDirectory(), "processes.json");
    writeFileSync(path, JSON.stringify({ processes: [{ pid: 5, comm: "claude", startTicks: 9, cwd: "/x" }] }));
    expect((await processesFromFile(path)).byPid.get(5)).toMatchObject({
      argv: ["claude"],
      startTicks: "9",
      tty: null,
    });
    writeFileSync(path, '{"processes": [{"pid": "five"}]}');
    await expect(processesFromFile(path)).rejects.toThrow();
    const evidence = await takeEvidence(["processes"], { FORKTAIL_PROCESSES: path });
    expect(evidence.processes).toBeNull();
    expect(evidence.failures).toEqual([{ probe: "processes", message: expect.any(String) }]);
  });
});

describe("tmux panes", () => {
  const line = ["%3", "main", "1", "0", "77", "/dev/pts/4", "0", "1", "111", "primary", "claude", "/home/a\tb"].join(
    "\t",
  );

  test("one line a pane; a path may hold a tab", () => {
    const { panes, sessions } = parsePanes(`${line}\n\n%4\tother\n`);
    expect(panes[0]).toEqual({
      id: "%3",
      session: "main",
      window: 1,
      index: 0,
      pid: 77,
      tty: "/dev/pts/4",
      dead: false,
      inMode: true,
      visible: true,
      role: "primary",
      command: "claude",
      cwd: "/home/a\tb",
    });
    expect([...sessions]).toEqual(["main", "other"]);
  });

  test("the pane of a process is the one on its terminal, else that of an ancestor, never of a loop", () => {
    const tmux = parsePanes(line);
    const table = processTable(
      [
        { pid: 77, ppid: 1, tty: null },
        { pid: 80, ppid: 77, tty: null },
        { pid: 90, ppid: 91, tty: null },
        { pid: 91, ppid: 90, tty: null },
        { pid: 95, ppid: 1, tty: "/dev/pts/4" },
      ].map((one) => ({ ...one, startTicks: null, comm: "", argv: [], cwd: null, locksHeld: [] })),
    );
    const paneOf = (pid: number): string | null => {
      const one = table.byPid.get(pid);
      return one ? (paneOfProcess(one, table, tmux)?.id ?? null) : null;
    };
    expect([77, 80, 90, 95].map(paneOf)).toEqual(["%3", "%3", null, "%3"]);
  });

  test("a tmux that is missing is a failure in words; a server that does not run is none", async () => {
    const evidence = await takeEvidence(["tmux"], { PATH: "/nowhere" });
    expect(evidence.tmux).toBeNull();
    expect(evidence.failures).toEqual([{ probe: "tmux", message: "tmux is not installed, or not on PATH" }]);
    const env = { PATH: "/usr/bin:/bin:/usr/local/bin", TMUX_TMPDIR: temporaryDirectory() };
    expect(await listPanes(2000, env)).toEqual({ panes: [], sessions: new Set(), server: false });
  });
});

test("only what is asked for is looked at", async () => {
  const evidence = await takeEvidence([], { PATH: "/nowhere" });
  expect(evidence).toMatchObject({ tmux: null, processes: null, locks: null, failures: [] });
});
