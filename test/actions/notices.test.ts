import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { desktopNotice, noticeEnv, startProgram, terminalNotice } from "../../src/actions/notice-channels.ts";
import { Notices, type NoticesContext } from "../../src/actions/notices.ts";
import type { NoticesConfig } from "../../src/memory/config.ts";
import type { Notice } from "../../src/session/notice.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { sessionOf } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const LOUD: NoticesContext = { watching: null, snoozed: () => false, folded: () => false, scanning: false };

/** Plays the changes of a store, and keeps what reaches the terminal. */
function play(config: NoticesConfig = { terminal: "osc9" }, env: NodeJS.ProcessEnv = {}) {
  const written: string[] = [];
  const told = new Notices({ write: (text) => written.push(text), env, config, clock: () => NOW });
  let sessions = new Map<string, Snapshot>();
  const change = (context: Partial<NoticesContext>, ...changed: Snapshot[]): void => {
    const after = new Map([...sessions, ...changed.map((one) => [one.key, one] as const)]);
    told.sessions(sessions, after, { ...LOUD, ...context });
    sessions = after;
  };
  const look = (context: Partial<NoticesContext>): void => told.sessions(sessions, sessions, { ...LOUD, ...context });
  return { written, told, change, look, heard: () => written.splice(0).filter((text) => text !== "\u0007") };
}

let revision = 0;
const session = (id: string, status: Snapshot["status"], over: Partial<Snapshot> = {}): Snapshot => {
  revision += 1;
  const updatedAt = new Date(NOW - 5000 + revision).toISOString();
  return sessionOf(id, { title: id, status, messages: revision, updatedAt, ...over });
};

describe("notices", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());
  const wait = (): void => void vi.advanceTimersByTime(1500);

  test("are told a moment after the change, with one bell", () => {
    const { change, written } = play();
    change({}, session("a", "working"), session("b", "working"));
    change({}, session("a", "needs-input", { activity: "push?" }), session("b", "done"));
    vi.advanceTimersByTime(1499);
    expect(written).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(written).toEqual([
      "\u0007",
      "\u001b]9;Needs you: a: push?\u0007",
      "\u001b]9;Finished: b: Its result was not looked at yet.\u0007",
    ]);
  });

  test("of a storm are one", () => {
    const { change, written } = play();
    const ids = Array.from({ length: 28 }, (_, at) => `s${at}`);
    change({}, ...ids.map((id) => session(id, "working")));
    for (const id of ids) change({}, session(id, "failed"));
    wait();
    expect(written).toHaveLength(2);
    expect(written[1]).toContain("Sessions: 28 failed");
    vi.advanceTimersByTime(60_000);
    expect(written).toHaveLength(2);
  });

  test("are not made of what the first reading finds, nor of what flickers afterwards", () => {
    const { change, heard } = play();
    const found = [session("a", "needs-input"), session("b", "idle"), session("c", "done")] as const;
    change({ scanning: true }, ...found);
    wait();
    for (const one of found) change({}, { ...one, status: "working" });
    for (const one of found) change({}, { ...one });
    wait();
    expect(heard()).toEqual([]);
    change({}, session("a", "working"));
    change({}, session("a", "needs-input"));
    wait();
    expect(heard()).toHaveLength(1);
  });

  test("are not made of what was there before the first change heard of", () => {
    const { heard } = play();
    const { told, written } = play();
    const asks = session("a", "needs-input");
    const before = new Map([[asks.key, asks]]);
    const working = new Map([[asks.key, { ...asks, status: "working" as const }]]);
    told.sessions(before, working, LOUD);
    told.sessions(working, new Map([[asks.key, { ...asks }]]), LOUD);
    wait();
    expect([...heard(), ...written]).toEqual([]);
  });

  test("say nothing when it was over before they were told", () => {
    const { change, heard } = play();
    change({}, session("a", "working"));
    change({}, session("a", "done"));
    change({}, session("a", "working"));
    wait();
    expect(heard()).toEqual([]);
    change({}, session("a", "done"));
    wait();
    expect(heard()).toHaveLength(1);
  });

  test("of one turn are one, however its status flickers", () => {
    const turn = { extra: { counts: { human: 3 }, lastPrompt: "fix it" } };
    const { change, heard } = play();
    for (let flicker = 0; flicker < 5; flicker += 1) {
      change({}, session("a", "working", turn));
      change({}, session("a", "done", turn));
      wait();
    }
    expect(heard()).toHaveLength(1);
  });

  test("survive a failed look: it is neither a change nor the end of one", () => {
    const { change, heard } = play();
    const asks = session("a", "needs-input");
    change({}, session("a", "working"));
    change({}, asks);
    change({}, { ...asks, status: "unknown" });
    wait();
    expect(heard()).toHaveLength(1);
    change({}, { ...asks });
    wait();
    expect(heard()).toEqual([]);
  });

  test.each<[string, Partial<NoticesContext>]>([
    ["is on screen", { watching: "statefile:a" }],
    ["is snoozed", { snoozed: (key) => key === "statefile:a" }],
    ["is superseded", { folded: (key) => key === "statefile:a" }],
  ])("keep quiet about a session that %s, and about no other", (_, context) => {
    const { change, heard } = play();
    change(context, session("a", "working"), session("b", "working"));
    change(context, session("a", "needs-input"), session("b", "needs-input"));
    wait();
    expect(heard()).toEqual([expect.stringContaining("Needs you: b")]);
    // What was kept quiet is not told later.
    change({});
    wait();
    expect(heard()).toEqual([]);
  });

  test("keep quiet when the person looks there just in time, and speak up when they just looked away", () => {
    const { change, look, heard } = play();
    change({}, session("a", "working"), session("b", "working"));
    change({ watching: "statefile:b" }, session("a", "done"), session("b", "done"));
    look({ watching: "statefile:a" });
    wait();
    expect(heard()).toEqual([expect.stringContaining("Finished: b")]);
  });

  test("leave sub-agents alone", () => {
    const { change, heard } = play();
    change({}, session("a", "working", { hidden: true }));
    change({}, session("a", "needs-input", { hidden: true }));
    wait();
    expect(heard()).toEqual([]);
  });

  test("of a session that is gone by then are not told, and closing ends them all", () => {
    const { told, written } = play();
    const [working, asks] = [session("a", "working"), session("a", "needs-input")];
    told.sessions(new Map([[asks.key, working]]), new Map([[asks.key, asks]]), LOUD);
    told.sessions(new Map([[asks.key, asks]]), new Map(), LOUD);
    wait();
    told.sessions(new Map([[asks.key, working]]), new Map([[asks.key, asks]]), LOUD);
    told.close();
    wait();
    expect(written).toEqual([]);
  });

  test("use the channels of the config: by default the bell alone, and without it silence", () => {
    for (const [config, expected] of [
      [{}, ["\u0007"]],
      [{ bell: false }, []],
    ] as const) {
      const { change, written } = play(config);
      change({}, session("a", "working"));
      change({}, session("a", "done"));
      wait();
      expect(written).toEqual(expected);
    }
  });
});

const NOTICE: Notice = {
  key: "claude:1",
  kind: "needs-input",
  title: "Needs you: a;b",
  text: "push; <now> & \\033[0m?",
};

describe("the terminal's own notice", () => {
  test.each([
    ["osc9", {}, "\u001b]9;Needs you: a,b: push; <now> & \\033[0m?\u0007"],
    ["osc777", {}, "\u001b]777;notify;Needs you: a,b;push; <now> & \\033[0m?\u0007"],
    [
      "osc9",
      { TMUX: "/tmp/tmux-0/default,1,0" },
      "\u001bPtmux;\u001b\u001b]9;Needs you: a,b: push; <now> & \\033[0m?\u0007\u001b\\",
    ],
    ["off", {}, null],
  ] as const)("%s in %j", (how, env, expected) => {
    expect(terminalNotice(NOTICE, how, env)).toBe(expected);
  });

  test("cannot be broken out of", () => {
    const hostile = { ...NOTICE, title: "a\u0007b\u001b\\", text: "c\u009cd\n" };
    expect(terminalNotice(hostile, "osc9", {})).toBe("\u001b]9;a·b·\\: c·d\u0007");
  });
});

describe("programs", () => {
  /** A program that writes its arguments and environment down. */
  function recorder(name: string, ends = "") {
    const directory = temporaryDirectory();
    const out = join(directory, "out.json");
    const say = `JSON.stringify({ argv: process.argv.slice(2), key: process.env.FORKTAIL_KEY, status: process.env.FORKTAIL_STATUS, title: process.env.FORKTAIL_TITLE, text: process.env.FORKTAIL_TEXT })`;
    const script = `#!${process.execPath}\nrequire("node:fs").writeFileSync(${JSON.stringify(`${out}.new`)}, ${say});require("node:fs").renameSync(${JSON.stringify(`${out}.new`)}, ${JSON.stringify(out)});${ends}\n`;
    writeFileSync(join(directory, name), script);
    chmodSync(join(directory, name), 0o755);
    const said = async (): Promise<Record<string, unknown>> => {
      await until(() => existsSync(out));
      return JSON.parse(readFileSync(out, "utf8"));
    };
    return { directory, program: join(directory, name), said };
  }

  test("notify-send gets words as arguments, and none as markup", () => {
    const { directory, program } = recorder("notify-send");
    expect(desktopNotice(NOTICE, { PATH: directory }, "linux")).toEqual([
      program,
      "--app-name=forktail",
      "--urgency=critical",
      "--",
      "Needs you: a;b",
      "push; &lt;now&gt; &amp; \\\\033[0m?",
    ]);
    expect(desktopNotice(NOTICE, { PATH: temporaryDirectory() }, "linux")).toBeNull();
  });

  test("osascript gets words as arguments, and none as script", () => {
    const { directory, program } = recorder("osascript");
    const argv = desktopNotice({ ...NOTICE, text: '" & do shell script "id' }, { PATH: directory }, "darwin") ?? [];
    expect(argv[0]).toBe(program);
    expect(argv.slice(-2)).toEqual(["Needs you: a;b", '" & do shell script "id']);
    expect(argv.slice(1, -2).join(" ")).not.toContain("shell");
  });

  test("the person's command gets its own arguments and the notice in its environment", async () => {
    const { program, said } = recorder("phone");
    const { change } = play({ bell: false, command: [program, "--urgent", "$(id)"] }, process.env);
    change({}, session("a", "working"));
    change({}, session("a", "needs-input", { activity: "push `id`?" }));
    expect(await said()).toEqual({
      argv: ["--urgent", "$(id)"],
      key: "statefile:a",
      status: "needs-input",
      title: "Needs you: a",
      text: "push `id`?",
    });
  });

  test("a summary has no key, and no control byte reaches the environment", () => {
    const env = noticeEnv({ ...NOTICE, key: null, text: "a\u0000b" }, { PATH: "/bin" });
    expect(env).toMatchObject({ PATH: "/bin", FORKTAIL_KEY: "", FORKTAIL_TEXT: "a·b" });
  });

  test("that is missing or fails is said, and nothing else happens", async () => {
    const failures: string[] = [];
    startProgram(["/no/such/program"], {}, (why) => failures.push(why));
    startProgram(["with\u0000nul"], {}, (why) => failures.push(why));
    const { program } = recorder("bad", "process.exit(3)");
    startProgram([program], process.env, (why) => failures.push(why));
    await until(() => failures.length === 3);
    expect(failures.join("\n")).toMatch(/did not start/u);
    expect(failures.join("\n")).toMatch(/ended with code 3/u);
  });

  test("a channel that does not work is said once", async () => {
    const problems: string[] = [];
    let bells = 0;
    const told = new Notices({
      write: () => {
        bells += 1;
      },
      env: { PATH: temporaryDirectory() },
      config: { desktop: true, command: ["/no/such/program"] },
      clock: () => NOW,
      problem: (message) => problems.push(message),
    });
    const [working, asks, again] = [session("a", "working"), session("a", "needs-input"), session("a", "needs-input")];
    const map = (one: Snapshot) => new Map([[one.key, one]]);
    told.sessions(map(working), map(asks), LOUD);
    await until(() => problems.length === 2);
    told.sessions(map(asks), map(working), LOUD);
    told.sessions(map(working), map(again), LOUD);
    await until(() => bells === 2);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/notify-send/u);
    told.close();
  });
});
