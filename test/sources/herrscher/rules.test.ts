import { describe, expect, it } from "vitest";
import { compareWorlds, type Daemon, judgeDaemon, type World } from "../../../src/sources/herrscher/daemon.ts";
import { type DaemonEvent, isBusy, type LiveSessions, takeEvent } from "../../../src/sources/herrscher/events.ts";
import {
  blankSession,
  costCapProblem,
  invocation,
  parseConfig,
  places,
  type Session,
  stillReached,
  tokenCapProblem,
  trippedCap,
} from "../../../src/sources/herrscher/index.ts";
import { planResume, type ResumePlace } from "../../../src/sources/herrscher/resume.ts";
import { blankFacts } from "../../../src/sources/herrscher/row.ts";
import { parseState } from "../../../src/sources/herrscher/state-file.ts";
import { judge, type StatusFacts } from "../../../src/sources/herrscher/status.ts";
import { noSums } from "../../../src/sources/herrscher/transcript-fold.ts";
import { NOON } from "./fake-daemon.ts";

describe("budgets as typed", () => {
  it.each([
    ["0", true],
    ["2.50", true],
    ["1000000", true],
    ["NaN", false],
    ["nan", false],
    ["Inf", false],
    ["+Inf", false],
    ["Infinity", false],
    ["-1", false],
    ["-0", false],
    ["1e3", false],
    ["1e400", false],
    ["9".repeat(400), false],
    ["0x10", false],
    ["1,5", false],
    [".5", false],
    ["5.", false],
    ["", false],
    [" 1", false],
    ["1\n", false],
    ["--force", false],
  ])("%j dollars: %j", (text, fine) => expect(costCapProblem(text) === null).toBe(fine));

  it.each([
    ["0", true],
    ["9007199254740993", true],
    ["18446744073709551615", true],
    ["18446744073709551616", false],
    ["9".repeat(400), false],
    ["-1", false],
    ["1.0", false],
    ["1e3", false],
    ["NaN", false],
    ["Inf", false],
    ["", false],
    ["12 ", false],
  ])("%j tokens: %j", (text, fine) => expect(tokenCapProblem(text) === null).toBe(fine));
});

describe("which cap trips", () => {
  const caps = (given: {
    costCap?: number;
    tokenCap?: number;
    cohortCostCap?: number;
    cohortTokenCap?: number;
  }): Session => {
    const { cohortTokenCap = 0, tokenCap = 0, ...rest } = given;
    return blankSession({ name: "a", ...rest, tokenCap: BigInt(tokenCap), cohortTokenCap: BigInt(cohortTokenCap) });
  };
  it.each([
    [{ costCap: 1 }, { cost: 1, tokens: 0 }, "cost"],
    [{ costCap: 1 }, { cost: 0.99, tokens: 0 }, null],
    [{ costCap: -1 }, { cost: 5, tokens: 0 }, null],
    [{ tokenCap: 5 }, { cost: 0, tokens: 5 }, "tokens"],
    [{ costCap: 1, tokenCap: 1 }, { cost: 2, tokens: 2 }, "cost"],
    [{ cohortCostCap: 10 }, { cost: 2, tokens: 2 }, "cohort_cost"],
    [{ cohortTokenCap: 20 }, { cost: 2, tokens: 2 }, "cohort_tokens"],
    [{ cohortCostCap: 10, tokenCap: 2 }, { cost: 2, tokens: 2 }, "tokens"],
    [{}, { cost: 99, tokens: 99 }, null],
  ])("%j with %j: %j", (given, own, reason) => {
    expect(trippedCap(caps(given), own, { cost: 10, tokens: 20 })).toBe(reason);
  });

  it("a sticky reason may no longer hold", () => {
    expect(stillReached("cost", caps({ costCap: 2 }), { cost: 0.5, tokens: 0 }, { cost: 9, tokens: 0 })).toBe(false);
    expect(
      stillReached("cohort_cost", caps({ cohortCostCap: 2 }), { cost: 0.5, tokens: 0 }, { cost: 9, tokens: 0 }),
    ).toBe(true);
    expect(stillReached("weather", caps({}), { cost: 0, tokens: 0 }, { cost: 0, tokens: 0 })).toBeNull();
  });
});

describe("leads and delegates", () => {
  const tree = (text: string) =>
    places(
      text.split(" ").map((pair) => {
        const [name = "", parent = ""] = pair.split("<");
        return { name, parent };
      }),
    );
  it.each([
    ["a b<a c<b d<a", "c", { root: "a", depth: 2, cohort: ["a", "b", "c", "d"], children: [], drawnUnder: "b" }],
    ["a b<a c<b d<a", "a", { root: "a", depth: 0, children: ["b", "d"], drawnUnder: null, parentExists: null }],
    ["a<gone", "a", { root: "a", depth: 0, cohort: ["a"], parentExists: false, drawnUnder: null }],
    ["a<a b<a", "a", { root: "a", depth: 0, cohort: ["a", "b"], children: ["b"], drawnUnder: null }],
    ["a<b b<a c<b", "a", { root: "b", depth: 1, cohort: ["a", "b", "c"], drawnUnder: null }],
    ["a<b b<a c<b", "b", { root: "a", depth: 1, cohort: ["a", "b", "c"], drawnUnder: "a" }],
    ["x<b a<c b<a c<b", "c", { drawnUnder: "b" }],
    ["x<b a<c b<a c<b", "a", { drawnUnder: null }],
    ["x<b a<c b<a c<b", "x", { drawnUnder: "b" }],
    ["a b<a a<b", "a", { root: "a", children: ["b"], drawnUnder: null }],
  ])("%s: %s", (text, name, wanted) => expect(tree(text).get(name)).toMatchObject(wanted));

  it("no drawing ever goes round", () => {
    const found = tree("a<e b<a c<b d<c e<d f<f g<a h<gone");
    for (const name of found.keys()) {
      let at: string | null = name;
      for (let steps = 0; at !== null; steps += 1) {
        expect(steps).toBeLessThan(9);
        at = found.get(at)?.drawnUnder ?? null;
      }
    }
  });
});

describe("vendor, model and effort", () => {
  it.each([
    [{ cmd: "claude" }, "claude", null, null],
    [{ cmd: "/opt/bin/codex --model=gpt -c model_reasoning_effort=high" }, "codex", "gpt", "high"],
    [{ cmd: "cursor-agent --model composer-2.5" }, "cursor", "composer-2.5", null],
    [{ cmd: "claude --model a --effort low", modelID: "b", vendor: "codex" }, "codex", "b", "low"],
    [{ cmd: "answer.sh" }, null, null, null],
    [{ cmd: "" }, null, null, null],
    [{ cmd: "claude --model" }, "claude", null, null],
  ])("%j", (given, vendor, model, effort) => {
    expect(invocation(blankSession({ name: "a", ...given }))).toEqual({ vendor, model, effort });
  });
});

describe("status, in the order of the format", () => {
  const daemon = (state: Daemon["state"]): Daemon => ({ state, pid: 1, world: "ours", why: ["seen"] });
  const facts = (session: Partial<Session>, rest: Partial<StatusFacts> = {}): StatusFacts => ({
    session: blankSession({ name: "a", ...session }),
    usable: true,
    damage: [],
    legacy: false,
    sums: noSums(),
    own: { cost: 0, tokens: 0 },
    cohort: { cost: 0, tokens: 0 },
    compacted: false,
    daemon: daemon("up"),
    live: null,
    feed: null,
    now: NOON,
    ...rest,
  });
  const asked = (ts: string) => ({ ...noSums(), entries: 1, lastRole: "user", lastAt: ts, task: "do it" });
  const live = (busy: boolean) => {
    const sessions: LiveSessions = new Map();
    return takeEvent(sessions, event({ t: busy ? "human" : "abandoned", turnID: "1" }), NOON);
  };
  it.each([
    [
      "archived before all",
      facts({ archived: true, pausedReason: "cost" }, { live: live(true) }),
      "archived",
      "archived",
      "recorded",
    ],
    ["paused before live", facts({ pausedReason: "tokens" }, { live: live(true) }), "paused", "paused", "recorded"],
    [
      "paused while down",
      facts({ pausedReason: "tokens" }, { daemon: daemon("down") }),
      "paused",
      "paused",
      "recorded",
    ],
    ["daemon down", facts({}, { daemon: daemon("down") }), "stopped", "running", "recorded"],
    ["not known", facts({}, { daemon: daemon("unknown") }), "unknown", "running", "guess"],
    ["being asked", facts({}, { daemon: null }), "unknown", "running", "guess"],
    ["busy", facts({}, { live: live(true) }), "working", "running", "recorded"],
    ["idle", facts({}, { live: live(false), sums: asked("2026-08-05T16:09:00Z") }), "idle", "running", "recorded"],
    ["asked lately", facts({}, { sums: asked("2026-08-05T16:00:00Z") }), "working", "running", "guess"],
    ["asked long ago", facts({}, { sums: asked("2026-08-05T15:00:00Z") }), "idle", "running", "guess"],
    [
      "asked by a clock a little ahead",
      facts({}, { sums: asked("2026-08-05T16:10:30Z") }),
      "working",
      "running",
      "guess",
    ],
    ["asked in a time to come", facts({}, { sums: asked("2099-01-01T00:00:00Z") }), "idle", "running", "guess"],
    ["asked at no time", facts({}, { sums: asked("") }), "idle", "running", "guess"],
    ["never run", facts({}), "idle", "running", "guess"],
    ["a damaged row", facts({}, { usable: false, damage: ["the row has no name"] }), "unknown", null, "guess"],
  ])("%s", (_name, given, status, native, certainty) => {
    const found = judge(given);
    expect(found).toMatchObject({ status, native, certainty });
    expect(found.why.length).toBeGreaterThan(0);
    expect(judge({ ...given, now: given.now + 1000 }).why).toEqual(found.why);
  });

  it.each([
    ["a cap still reached", { costCap: 2 }, { cost: 3 }, {}, null],
    ["a cap that is gone", {}, { cost: 3 }, {}, "no such cap is set any more: the daemon may let turns run"],
    [
      "less than the cap",
      { costCap: 2 },
      { cost: 1 },
      {},
      "the cap is no longer reached: the daemon may let turns run",
    ],
    [
      "less than the cap after a compaction",
      { costCap: 2 },
      { cost: 1 },
      { compacted: true },
      "the cap is no longer reached (the transcript was compacted): the daemon may let turns run",
    ],
  ])("paused with %s", (_name, row, own, rest, word) => {
    const found = judge(facts({ pausedReason: "cost", ...row }, { own: { tokens: 0, ...own }, ...rest }));
    expect(found.why.slice(1)).toEqual(word === null ? [] : [word]);
  });

  it("a guess by the clock says when it runs out", () => {
    const found = judge(facts({}, { sums: asked("2026-08-05T16:00:00Z") }));
    expect(found.until).toBe(Date.parse("2026-08-05T16:30:00Z"));
  });
});

function event(given: Partial<DaemonEvent>): DaemonEvent {
  return {
    session: "a",
    t: "",
    who: "",
    text: "",
    done: false,
    cost: null,
    tokens: null,
    incarnation: "",
    turnID: "",
    coordination: null,
    ...given,
  };
}

describe("busy and idle", () => {
  it.each([
    ["a turn", ["human 1", "chunk 1", "reply 1"], [true, true, false]],
    ["we came in the middle", ["chunk 1", "reply 1"], [true, false]],
    ["a late chunk", ["human 1", "reply 1", "chunk 1", "status 1"], [true, false, false, false]],
    ["a reset", ["human 1", "reset 1", "abandoned 1"], [true, true, false]],
    ["a notice of the host", ["status"], [false]],
    ["paused at the end", ["human 1", "reply 1", "paused 1", "paused"], [true, false, false, false]],
    ["a seed beside a turn", ["human 1", "seed 2", "reply 2", "reply 1"], [true, true, true, false]],
    ["a reply that was lost", ["human 1", "human 2", "reply 2"], [true, true, false]],
    ["an end without a turn id", ["human 1", "reply"], [true, false]],
    ["an unknown event", ["weather 1"], [false]],
  ])("%s", (_name, lines, busy) => {
    const sessions: LiveSessions = new Map();
    const seen = lines.map((line) => {
      const [t = "", turnID = ""] = line.split(" ");
      const given =
        t === "seed" ? event({ t: "human", who: "seed", turnID }) : event({ t, turnID, done: t === "reply" });
      return isBusy(takeEvent(sessions, given, 0));
    });
    expect(seen).toEqual(busy);
  });
});

describe("whose daemon it is", () => {
  const rows = (...pairs: string[]) => {
    const sessions = pairs.map((pair) => ({ name: pair.split("=")[0], incarnation: pair.split("=")[1] }));
    return parseState(JSON.stringify({ sessions })).rows ?? [];
  };
  const listed = (...pairs: string[]) =>
    pairs.map((pair) => ({
      name: pair.split("=")[0] ?? "",
      incarnation: pair.split("=")[1] ?? "",
      coordination: null,
    }));
  it.each([
    [["a=1"], ["a=1"], "ours"],
    [["a=1"], ["a=1", "new=2"], "ours"],
    [["a=1", "b=2"], ["a=1"], "ours"],
    [["a=1"], ["a=2"], "other"],
    [["a=1", "b=2"], ["a=1", "b=3"], "other"],
    [["a=1"], ["b=1"], "other"],
    [["a=1"], [], "other"],
    [[], ["a=1"], "other"],
    [[], [], "untold"],
    [["a"], ["a"], "untold"],
    [["a"], ["a=1"], "other"],
  ])("%j against %j: %s", (ours, theirs, world) => {
    expect(compareWorlds(rows(...ours), listed(...theirs))).toBe(world);
  });

  it.each<[boolean | null, boolean | null, boolean, World, Daemon["state"]]>([
    [true, true, true, "none", "up"],
    [true, true, true, "other", "up"],
    [false, false, true, "none", "down"],
    [false, false, true, "refused", "down"],
    [false, false, true, "other", "down"],
    [false, false, true, "silent", "unknown"],
    [false, false, true, "ours", "up"],
    [false, null, false, "ours", "up"],
    [false, null, false, "untold", "up"],
    [false, false, true, "untold", "down"],
    [null, true, true, "silent", "up"],
    [null, true, true, "refused", "down"],
    [null, true, true, "none", "down"],
    [null, false, true, "silent", "unknown"],
    [null, true, true, "other", "down"],
  ])("lock held %j, pid alive %j, lock file %j, socket %s: %s", (held, pidAlive, file, world, state) => {
    expect(judgeDaemon({ held, pid: 5, pidAlive }, file, { world, why: "", listed: [] }).state).toBe(state);
  });
});

describe("resume", () => {
  const place: ResumePlace = { dir: "/r", isDefault: true, program: "/bin/herrscher" };
  const plan = (
    session: Record<string, unknown>,
    state: Daemon["state"],
    rest: Partial<ResumePlace> = {},
    daemonCwd: string | null = null,
    world: World = "ours",
  ) => {
    const row = parseState(JSON.stringify({ sessions: [{ name: "a", dir: "/d", resumeToken: "tok", ...session }] }))
      .rows?.[0];
    if (row === undefined) throw new Error("no row");
    return planResume(
      { ...blankFacts(row), daemon: { state, pid: 1, world, why: [] }, daemonCwd },
      { ...place, ...rest },
    );
  };
  it.each([
    ["live", plan({ vendor: "claude" }, "up"), ["herrscher"], null],
    [
      "live elsewhere",
      plan({ vendor: "claude" }, "up", { isDefault: false }),
      ["env", "HERRSCHER_STATE_DIR=/r", "herrscher"],
      null,
    ],
    ["archived", plan({ vendor: "claude", archived: true }, "up"), ["claude", "--resume", "tok"], "/d"],
    ["daemon down", plan({ vendor: "codex" }, "down"), ["codex", "resume", "tok"], "/d"],
    ["cursor", plan({ vendor: "cursor" }, "down"), ["cursor-agent", "--resume", "tok"], "/d"],
    ["vendor from cmd", plan({ cmd: "claude -p" }, "down"), ["claude", "--resume", "tok"], "/d"],
    ["a worktree", plan({ vendor: "claude", dir: "", worktree: "/w" }, "down"), ["claude", "--resume", "tok"], "/w"],
    [
      "a relative directory",
      plan({ vendor: "claude", dir: "x", archived: true }, "up", {}, "/home"),
      ["claude", "--resume", "tok"],
      "/home/x",
    ],
  ])("%s", (_name, found, argv, cwd) => {
    expect(found).toMatchObject({ ok: true, command: { argv, cwd } });
    if (found.ok && argv[0] !== "herrscher" && argv[0] !== "env")
      expect(found.notes.join()).toMatch(/forks the conversation/u);
  });

  it.each([
    ["no token", plan({ vendor: "claude", resumeToken: "" }, "down")],
    ["a token that is a flag", plan({ vendor: "claude", resumeToken: "--yolo" }, "down")],
    ["one-shot", plan({ vendor: "claude", backend: "oneshot" }, "down")],
    ["no vendor", plan({ cmd: "answer.sh" }, "down")],
    ["an unknown vendor", plan({ vendor: "constructor" }, "down")],
    ["a relative directory of nobody", plan({ vendor: "claude", dir: "x" }, "down")],
    ["no directory", plan({ vendor: "claude", dir: "" }, "down")],
    ["not known whether live", plan({ vendor: "claude" }, "unknown")],
    ["live without the program", plan({ vendor: "claude" }, "up", { program: null })],
    ["somebody else's socket", plan({ vendor: "claude" }, "up", {}, null, "other")],
    ["a bad name", plan({ vendor: "claude", name: "../x" }, "down")],
  ])("not offered: %s", (_name, found) =>
    expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(/./u) }),
  );
});

describe("config.json", () => {
  it("knows whole-line comments only", () => {
    expect(parseConfig('// c\n{"cmd":"a // b", // no\n"x":1}')).toBeNull();
    for (const none of ["[]", "null", "7", '"x"', ""]) expect(parseConfig(none)).toBeNull();
    expect(parseConfig('{"sessionMaxIdleDays":14,"skills":{"enabled":true,"roots":["/a"]}}')).toMatchObject({
      sessionMaxIdleDays: 14,
      skills: { enabled: true, roots: ["/a"] },
    });
    expect(parseConfig('{"sessionMaxIdleDays":"14","skills":[]}')).toEqual(parseConfig("{}"));
    expect(parseConfig('  // c\n{"cmd":"a // b","home":{"id":"1"}}')).toMatchObject({
      cmd: "a // b",
      home: { id: "1", type: "" },
    });
  });
});
