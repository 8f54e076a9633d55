import { describe, expect, test } from "vitest";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import type { Tail } from "../../../src/sources/by-process/tail.ts";
import { findLive, isAlive, isClaude, type Live } from "../../../src/sources/claude/liveness.ts";
import type { Registered } from "../../../src/sources/claude/registry.ts";
import { type Case, judge } from "../../../src/sources/claude/status.ts";

const process = (over: Partial<Process> = {}): Process => ({
  pid: 7,
  ppid: 1,
  startTicks: "100",
  tty: null,
  comm: "claude",
  argv: ["claude"],
  cwd: "/work/pot",
  locksHeld: [],
  ...over,
});
const registered = (over: Partial<Registered> = {}): Registered => ({
  pid: 7,
  sessionId: "s",
  procStart: "100",
  status: "idle",
  waitingFor: null,
  statusAt: 1,
  kind: "interactive",
  entrypoint: "cli",
  path: "/r/7.json",
  ...over,
});
const tail = (state: Tail["state"], over: Partial<Tail> = {}): Tail => ({
  state,
  evidence: "the tail",
  text: state === "error" ? "API Error: 529" : null,
  time: 0,
  calls: [],
  ...over,
});
const call = { id: "t", name: "Bash", summary: "Bash npm test", question: null };
const question = { id: "q", name: "AskUserQuestion", summary: "AskUserQuestion", question: "Which port?" };
const live = (over: Partial<Registered> = {}): Live => ({
  process: process(),
  registered: registered(over),
  evidence: "alive",
  guess: false,
  openTwice: [],
});
const byFolder: Live = { ...live(), registered: null, evidence: "in its folder", guess: true };
const base: Case = { tail: tail("over"), live: null, stale: [], processesKnown: true, archived: false, seen: true };

describe("a status", () => {
  test.each<[string, Partial<Case>, string, string, string]>([
    [
      "registry busy",
      { live: live({ status: "busy" }), tail: tail("open", { calls: [call] }) },
      "working",
      "working",
      "recorded",
    ],
    ["registry shell", { live: live({ status: "shell" }) }, "working", "working", "recorded"],
    ["registry idle, unseen", { live: live(), seen: false }, "done", "waiting-user", "recorded"],
    ["registry idle, seen", { live: live() }, "idle", "waiting-user", "recorded"],
    ["registry idle after a silent end", { live: live(), tail: tail("open") }, "idle", "waiting-user", "recorded"],
    ["registry idle after an error", { live: live(), tail: tail("error") }, "failed", "waiting-user", "recorded"],
    [
      "a permission prompt",
      { live: live({ status: "waiting", waitingFor: "permission prompt" }) },
      "needs-input",
      "waiting-approval",
      "recorded",
    ],
    [
      "a dialog",
      { live: live({ status: "waiting", waitingFor: "dialog open" }) },
      "needs-input",
      "waiting-user",
      "recorded",
    ],
    [
      "waiting for it does not say what",
      { live: live({ status: "waiting" }) },
      "needs-input",
      "waiting-user",
      "recorded",
    ],
    [
      "a question without answer",
      { live: live({ status: "busy" }), tail: tail("open", { calls: [question] }) },
      "needs-input",
      "waiting-user",
      "recorded",
    ],
    ["a word nobody knows", { live: live({ status: "dreaming" }) }, "unknown", "unknown", "guess"],
    ["no word, turn over", { live: live({ status: null }) }, "idle", "waiting-user", "recorded"],
    ["no word, turn open", { live: live({ status: null }), tail: tail("open") }, "working", "working", "guess"],
    ["a process in its folder, turn open", { live: byFolder, tail: tail("open") }, "working", "working", "guess"],
    ["a process in its folder, turn over", { live: byFolder }, "idle", "waiting-user", "guess"],
    ["no process, turn over", {}, "idle", "idle", "recorded"],
    ["no process, turn open", { tail: tail("open", { calls: [call] }) }, "interrupted", "interrupted", "guess"],
    ["no process, a question", { tail: tail("open", { calls: [question] }) }, "interrupted", "interrupted", "guess"],
    ["no process, an error", { tail: tail("error") }, "failed", "error", "recorded"],
    ["no process, interrupted", { tail: tail("interrupted") }, "interrupted", "interrupted", "recorded"],
    ["a registry of a dead process", { stale: [registered({ status: "busy" })] }, "idle", "idle", "recorded"],
    ["archived", { archived: true }, "archived", "idle", "recorded"],
    ["archived but running", { archived: true, live: live({ status: "busy" }) }, "working", "working", "recorded"],
    [
      "processes out of sight, registry there",
      { processesKnown: false, stale: [registered()] },
      "unknown",
      "unknown",
      "guess",
    ],
    ["processes out of sight, turn open", { processesKnown: false, tail: tail("open") }, "unknown", "unknown", "guess"],
    ["processes out of sight, turn over", { processesKnown: false }, "idle", "idle", "recorded"],
  ])("with %s", (_, over, status, native, certainty) => {
    const made = judge({ ...base, ...over });
    expect({ status: made.status, native: made.native, certainty: made.certainty }).toEqual({
      status,
      native,
      certainty,
    });
    expect(made.why.length).toBeGreaterThan(1);
  });

  test("says what it waits for, what failed and what runs", () => {
    const waiting = {
      live: live({ status: "waiting", waitingFor: "permission prompt" }),
      tail: tail("open", { calls: [call] }),
    };
    expect(judge({ ...base, ...waiting }).activity).toBe("permission prompt: Bash npm test");
    expect(judge({ ...base, live: live({ status: "busy" }), tail: tail("open", { calls: [question] }) }).activity).toBe(
      "Which port?",
    );
    expect(judge({ ...base, tail: tail("error") }).activity).toBe("API Error: 529");
    expect(judge({ ...base, live: live({ status: "shell" }) }).activity).toBe("a background shell is running");
  });

  test("hostile words of a registry never reach the screen", () => {
    const made = judge({ ...base, live: live({ status: "waiting", waitingFor: "\u001b]0;x\u0007permission\u202e" }) });
    expect([made.activity, ...made.why].join("")).not.toMatch(/[\u0000-\u001f\u202e]/u);
  });
});

describe("a registered process", () => {
  test.each<[string, Partial<Registered>, Partial<Process>, boolean]>([
    ["with its start time", {}, {}, true],
    ["with another start time", {}, { startTicks: "999" }, false],
    ["with another start time although it is a claude", { procStart: "1" }, { startTicks: "2", comm: "claude" }, false],
    ["without a start time, a claude", { procStart: null }, {}, true],
    ["without a start time, something else", { procStart: null }, { comm: "postgres", argv: ["postgres"] }, false],
    ["with a date as start, a claude", { procStart: "Fri Nov 20 11:00:00 2026" }, {}, true],
    ["with a date as start, something else", { procStart: "Fri Nov 20" }, { comm: "vim", argv: ["vim"] }, false],
    ["where ticks are not known, a claude", {}, { startTicks: null }, true],
    ["that is gone", { pid: 8 }, {}, false],
  ])("%s", (_, one, other, alive) => {
    expect(isAlive(registered(one), processTable([process(other)])) !== null).toBe(alive);
  });

  test.each([
    [["claude"], "claude", true],
    [["/usr/local/bin/claude", "--resume", "x"], "node", true],
    [["node", "/lib/node_modules/@anthropic-ai/claude-code/cli.js"], "node", true],
    [["node", "server.js"], "node", false],
    [["vim", "claude.md"], "vim", false],
    [[], "", false],
  ])("%j is a claude: %s", (argv, comm, is) => {
    expect(isClaude(process({ argv, comm }))).toBe(is);
  });
});

describe("who runs what", () => {
  const seats = [
    { id: "old", cwd: "/work/pot", updatedAt: 1 },
    { id: "new", cwd: "/work/pot", updatedAt: 2 },
    { id: "else", cwd: "/work/cup", updatedAt: 3 },
  ];

  test("the freshest of two registry files for one session counts", () => {
    const two = [
      registered({ pid: 7, sessionId: "new", statusAt: 5, status: "idle" }),
      registered({ pid: 8, sessionId: "new", statusAt: 9, status: "busy" }),
    ];
    for (const order of [two, [...two].reverse()]) {
      const found = findLive(() => seats, order, true, processTable([process(), process({ pid: 8 })]));
      expect(found.get("new")?.registered?.status).toBe("busy");
    }
  });

  test("an id on the command line is proof", () => {
    for (const argv of [
      ["claude", "--resume", "old"],
      ["claude", "-r", "old"],
      ["claude", "--session-id=old"],
    ]) {
      expect(findLive(() => seats, [], true, processTable([process({ argv })])).get("old")).toMatchObject({
        guess: false,
      });
    }
    const fork = ["claude", "--resume", "old", "--fork-session"];
    expect(findLive(() => seats, [], true, processTable([process({ argv: fork })])).has("old")).toBe(false);
  });

  test("a folder is a guess, and none where a registry is written", () => {
    const table = processTable([process()]);
    expect(findLive(() => seats, [], false, table).get("new")).toMatchObject({ guess: true });
    expect(findLive(() => seats, [], false, table).has("old")).toBe(false);
    expect(findLive(() => seats, [], true, table).size).toBe(0);
  });

  test("a process that started after a session was last written does not run it", () => {
    const at = (startedAt: number) => findLive(() => seats, [], false, processTable([process({ startedAt })]));
    expect(at(2).has("new")).toBe(true);
    expect(at(3).size).toBe(0);
  });
});
