import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  BadState,
  blankSession,
  boundGateways,
  DaemonHoldsRoot,
  InvalidSessionName,
  isLegacy,
  loadState,
  newState,
  participantsPath,
  SessionNameTaken,
  slugName,
  transcriptPath,
} from "../../../src/sources/herrscher/index.ts";
import { copyOfFixture, fixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { until } from "../../support/until.ts";

const NO_LOCKS = { env: { TMPDIR: "/nowhere" }, locks: async () => [] };

function stateIn(json: string): string {
  const path = join(temporaryDirectory(), "state.json");
  writeFileSync(path, json);
  return path;
}

describe("names", () => {
  it.each([
    ["../evil", false],
    ["a/b", false],
    ["", false],
    [".hidden", false],
    ["-a", false],
    ["a\0b", false],
    ["a\n", false],
    ["A_b-9", true],
    ["x".repeat(64), true],
    ["x".repeat(65), false],
    ["é", false],
  ])("%j becomes a path: %j", (name, valid) => {
    const make = [() => transcriptPath("/r", name), () => participantsPath("/r", name)];
    for (const path of make) {
      if (valid) expect(path()).toMatch(/^\/r\/(transcripts|participants)\/[^/]+$/u);
      else expect(path).toThrow(InvalidSessionName);
    }
  });

  it.each([
    ["Cap One!", "cap-one"],
    ["__x__", "x"],
    ["Ünï", "n"],
    ["a".repeat(70), "a".repeat(64)],
    ["!!!", ""],
  ])("the program makes a name of %j: %j", (typed, slug) => expect(slugName(typed)).toBe(slug));
});

describe("state", () => {
  it.each(["main", "cwd-mode", "fresh"])("%s is written again byte for byte", async (root) => {
    const dir = copyOfFixture("herrscher", root);
    await loadState(join(dir, "state.json"), NO_LOCKS).save();
    const now = readFileSync(join(dir, "state.json"), "utf8");
    expect(now).toBe(readFileSync(fixture("herrscher", root, "state.json"), "utf8"));
    expect(statSync(join(dir, "state.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("reading writes nothing, though the program would", () => {
    const dir = copyOfFixture("herrscher", "legacy");
    const before = treeHash(dir);
    const sessions = loadState(join(dir, "state.json"), NO_LOCKS).snapshotSessions();
    expect(sessions.map((session) => session.id)).toEqual([
      "s_alpha",
      "s_legacy-bot",
      "s_legacy-forum",
      "s_no-channel",
    ]);
    expect(treeHash(dir)).toEqual(before);
  });

  it("the text of numbers beyond 2^53 and keys nobody knows survive a change", async () => {
    const path = stateIn(`{"home":{"id":"1","type":"category","extra":7},"future":[1e400,9007199254740993],"sessions":[
      {"name":"a","channelID":"c<&>","type":"text","cmd":"","token_cap":18446744073709551615,"cost_cap":2.50,
       "odd":{"deep":12345678901234567890.10}}, 42, {"name":"b","cost_cap":"wrong"}]}`);
    const state = loadState(path, NO_LOCKS);
    expect(state.findSession("a")?.tokenCap).toBe(18446744073709551615n);
    await state.setArchived("a", true);
    const text = readFileSync(path, "utf8");
    for (const kept of [
      "18446744073709551615",
      "9007199254740993",
      "1e400",
      "12345678901234567890.10",
      "2.50",
      '"extra": 7',
      '"c\\u003c\\u0026\\u003e"',
      '"archived": true',
      "\n    42,\n",
      '"cost_cap": "wrong"',
    ]) {
      expect(text).toContain(kept);
    }
  });

  it("an unknown key of any name survives a change", async () => {
    const path = stateIn(
      '{"home":{"id":"1","__proto__":[1]},"__proto__":{"a":1},"sessions":[{"name":"a","__proto__":2}]}',
    );
    await loadState(path, NO_LOCKS).setArchived("a", true);
    const text = readFileSync(path, "utf8").replace(/\s+/gu, "");
    expect(text).toContain('"home":{"id":"1","__proto__":[1],"type":""}');
    expect(text).toContain('"archived":true,"__proto__":2}');
    expect(text).toContain('],"__proto__":{"a":1}}');
  });

  it("a missing file is an empty state, and null sessions stay null until there is one", async () => {
    const path = join(temporaryDirectory(), "deep", "state.json");
    const state = loadState(path, NO_LOCKS);
    await state.setHome({ id: "terminal", type: "terminal" });
    expect(readFileSync(path, "utf8")).toBe(readFileSync(fixture("herrscher", "fresh", "state.json"), "utf8"));
    await state.addSession(blankSession({ name: "one" }));
    await state.removeSession("one");
    expect(readFileSync(path, "utf8")).toContain('"sessions": []');
  });

  it.each([["[]"], ["{"], ['{"sessions":{}}'], [""]])("%j is not a state", (text) => {
    expect(() => loadState(stateIn(text), NO_LOCKS)).toThrow(BadState);
  });

  it("a new session gets an id and an incarnation of its own; a taken name is refused", async () => {
    const state = newState(join(temporaryDirectory(), "state.json"), NO_LOCKS);
    await state.addSession(blankSession({ name: "other", id: "s_one" }));
    await state.addSession(blankSession({ name: "one" }));
    await expect(state.addSession(blankSession({ name: "one" }))).rejects.toBeInstanceOf(SessionNameTaken);
    await expect(state.addSession(blankSession({ name: "../up" }))).rejects.toBeInstanceOf(InvalidSessionName);
    const one = state.findSession("one");
    expect(one?.id).toBe("s_one_2");
    expect(one?.incarnation).toMatch(/^inc_[A-Z2-7]{26}$/u);
    await state.removeSession("one");
    await state.addSession(blankSession({ name: "one" }));
    expect(state.findSession("one")?.incarnation).not.toBe(one?.incarnation);
  });

  it("a save gives missing and repeated incarnations their own", async () => {
    const path = stateIn(
      '{"home":{"id":"","type":""},"sessions":[{"name":"a","incarnation":"inc_X"},{"name":"b","incarnation":"inc_X"},{"name":"c"}]}',
    );
    await loadState(path, NO_LOCKS).save();
    const made = loadState(path, NO_LOCKS)
      .snapshotSessions()
      .map((session) => session.incarnation);
    expect(made[0]).toBe("inc_X");
    expect(new Set(made).size).toBe(3);
  });

  it("every operation is what the next load finds", async () => {
    const path = join(temporaryDirectory(), "state.json");
    const state = newState(path, NO_LOCKS);
    await state.addSession(blankSession({ name: "a", resumeToken: "old", channelID: "1" }));
    await state.setWorkspace("/w");
    await state.setSource("/s");
    await state.setInstanceID("studio");
    await state.setStatusMessageID("9");
    await state.setBudget("a", {
      costCap: 1.5,
      tokenCap: 10,
      cohortCostCap: 0,
      cohortTokenCap: 2n ** 60n,
      pausedReason: "cost",
    });
    await state.setArchived("a", true);
    const loaded = loadState(path, NO_LOCKS);
    expect([loaded.workspaceRoot(), loaded.sourceDir(), loaded.instanceID, loaded.statusMessageID]).toEqual([
      "/w",
      "/s",
      "studio",
      "9",
    ]);
    expect(loaded.qualifiedName("a")).toBe("studio__a");
    const budgeted = { costCap: 1.5, tokenCap: 10n, cohortTokenCap: 2n ** 60n, pausedReason: "cost", archived: true };
    expect(loaded.findSession("a")).toMatchObject(budgeted);
    await state.setPausedReason("a", "");
    expect(await state.setBackendTarget("a", "codex", "codex", "gpt")).toBe(true);
    expect(await state.setBackendTarget("ghost", "codex", "codex", "gpt")).toBe(false);
    const target = { vendor: "codex", cmd: "codex", modelID: "gpt", resumeToken: "", pausedReason: "" };
    expect(loadState(path, NO_LOCKS).findSession("a")).toMatchObject(target);
  });

  it("writes only on change, and an unknown name is no error", async () => {
    const path = join(temporaryDirectory(), "state.json");
    const state = newState(path, NO_LOCKS);
    await state.addSession(blankSession({ name: "a" }));
    await state.setResumeToken("a", "t");
    const { ino } = statSync(path);
    await state.setResumeToken("a", "t");
    await state.setArchived("a", false);
    await state.setResumeToken("ghost", "t");
    await state.setBudget("ghost", { costCap: 1, tokenCap: 0, cohortCostCap: 0, cohortTokenCap: 0, pausedReason: "" });
    expect(statSync(path).ino).toBe(ino);
    await state.setResumeToken("a", "u");
    expect(statSync(path).ino).not.toBe(ino);
  });

  it.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [1, -1],
    [1, 2 ** 64],
    [1, 1.5],
  ])("a budget of %d dollars and %d tokens is refused and changes nothing", async (costCap, tokenCap) => {
    const state = newState(join(temporaryDirectory(), "state.json"), NO_LOCKS);
    await state.addSession(blankSession({ name: "a" }));
    const budget = { costCap, tokenCap, cohortCostCap: 0, cohortTokenCap: 0, pausedReason: "" };
    await expect(state.setBudget("a", budget)).rejects.toBeInstanceOf(RangeError);
    expect(state.findSession("a")).toMatchObject({ costCap: 0, tokenCap: 0n });
  });

  it("defaults fill what is not set, in memory only", async () => {
    const path = stateIn('{"home":{"id":"1","type":"forum"},"repo":"/legacy","sessions":null}');
    const before = readFileSync(path, "utf8");
    const state = loadState(path, NO_LOCKS);
    expect(state.workspaceRoot()).toBe("/legacy");
    state.applyDefaults({ id: "2", type: "category" }, "/w", "/s");
    expect([state.home.id, state.workspaceRoot(), state.sourceDir()]).toEqual(["1", "/w", "/s"]);
    expect(readFileSync(path, "utf8")).toBe(before);
    await state.save();
    expect(loadState(path, NO_LOCKS).workspaceRoot()).toBe("/w");
  });

  it("a legacy session has a channel but no gateways", () => {
    expect(isLegacy(blankSession({ name: "a", channelID: "1" }))).toBe(true);
    expect(isLegacy(blankSession({ name: "a" }))).toBe(false);
    expect(boundGateways(blankSession({ name: "a", channelID: "1" }))).toBeNull();
    expect(boundGateways(blankSession({ name: "a", gateways: ["terminal"] }))).toEqual(["terminal"]);
  });
});

describe("while a daemon holds the root", () => {
  it("a held lock refuses every write, and the refused change is taken back", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const inode = statSync(join(dir, ".state.json.lock")).ino;
    const locks = async () => [{ kind: "FLOCK" as const, pid: 77, device: "08:01", inode }];
    const before = treeHash(dir);
    const state = loadState(join(dir, "state.json"), { ...NO_LOCKS, locks });
    await expect(state.setArchived("main", true)).rejects.toMatchObject({ name: "DaemonHoldsRoot", pid: 77 });
    expect(state.findSession("main")?.archived).toBe(false);
    expect(treeHash(dir)).toEqual(before);
  });

  it.skipIf(process.platform !== "linux")("a lock the kernel knows of is seen", async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, "transcripts"));
    writeFileSync(join(dir, "state.json"), '{"home":{"id":"","type":""},"sessions":[{"name":"a"}]}');
    const lock = join(dir, ".state.json.lock");
    writeFileSync(lock, "1");
    const holder = spawn("flock", ["--no-fork", lock, "cat"], { stdio: ["pipe", "ignore", "ignore"] });
    onTestFinished(() => void holder.kill());
    const state = loadState(join(dir, "state.json"), { env: { TMPDIR: dir } });
    await until(async () => {
      const refused = await state.save().then(
        () => null,
        (error: unknown) => error,
      );
      return refused instanceof DaemonHoldsRoot;
    });
    holder.stdin.end();
    await until(() =>
      state.save().then(
        () => true,
        () => false,
      ),
    );
  });
});
