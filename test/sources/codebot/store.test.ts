import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { formatEntry } from "../../../src/sources/codebot/entry.ts";
import { formatGoTime } from "../../../src/sources/codebot/go-time.ts";
import * as library from "../../../src/sources/codebot/index.ts";
import {
  displayText,
  ENTRY_KINDS,
  type GoalStateEntry,
  generateName,
  History,
  instantOf,
  type LLMCallEntry,
  Manager,
  type Message,
  NO_GOAL,
  PlanStore,
  parseEntry,
  projectId,
  RosterStore,
  readGoalState,
  readLLMCall,
  readMessage,
  SessionUnreadable,
  Store,
  TASK_STATUSES,
  TranscriptStore,
  UNSET_TIME,
} from "../../../src/sources/codebot/index.ts";
import { messageData } from "../../../src/sources/codebot/message.ts";
import {
  goalStateData,
  headerData,
  llmCallData,
  planStateData,
  readHeader,
  readPlanState,
} from "../../../src/sources/codebot/payloads.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { EXPECTED, pathOf } from "./expected.ts";
import { calls, header, text, user } from "./lines.ts";

const CALL: LLMCallEntry = {
  ...{
    provider: "anthropic",
    model: "m",
    inputTokens: 10,
    outputTokens: 2,
    cacheReadTokens: 4,
    cacheCreationTokens: 0,
  },
  ...{ totalTokens: 12, latencyMs: 5, stopReason: "stop", reasoningEffort: "low", cacheBreak: null },
};

function say(role: string, words: string, extra: Partial<Message> = {}): Message {
  return { role, content: [{ type: "text", text: words }], timestamp: "2026-08-01T10:00:00.5Z", ...extra };
}

test("every payload that Go wrote is written again byte for byte", () => {
  const write: Record<string, (data: unknown) => unknown> = {
    header: (data) => headerData(readHeader(data) ?? expect.fail()),
    message: (data) => messageData(readMessage(data) ?? expect.fail()),
    goal_state: (data) => goalStateData(readGoalState(data) ?? expect.fail()),
    llm_call: (data) => llmCallData(readLLMCall(data) ?? expect.fail()),
    plan_state: (data) => planStateData(readPlanState(data) ?? expect.fail()),
  };
  let lines = 0;
  for (const session of EXPECTED.sessions.filter((one) => one.opened_by_codebot_0_3)) {
    for (const raw of readFileSync(pathOf(session), "utf8").split("\n")) {
      const entry = parseEntry(raw);
      if (entry === null) continue;
      const data = write[entry.kind]?.(entry.data) ?? entry.data;
      expect(formatEntry({ ...entry, data })).toBe(`${raw}\n`);
      lines += 1;
    }
  }
  expect(lines).toBeGreaterThan(150);
});

test("a session is made, appended to with every kind of entry, and restored", () => {
  const directory = join(temporaryDirectory(), "projects", projectId("/proj/x"));
  const manager = new Manager(directory);
  expect(manager.list()).toEqual([]);
  expect(manager.mostRecent()).toBeNull();
  const store = manager.create("/proj/x");
  const { sessionId } = store.header();
  expect(basename(store.path())).toMatch(/^\d{4}-\d\d-\d\d_[0-9a-f]{8}\.jsonl$/u);
  const goal: GoalStateEntry = { ...NO_GOAL, objective: "ship", status: "active", createdAt: "2026-08-01T10:00:00Z" };
  store.appendModelChange("anthropic", "a/b");
  store.appendReasoningEffortChange("high");
  store.appendMessage(say("user", "before <the> & compaction\u2028"));
  store.appendPlanState("planning", "calm-mapping-river", "balanced");
  store.appendGoalState(goal);
  store.appendCompaction("summary", [say("assistant", "kept")]);
  store.appendMessage(say("user", "after"));
  store.appendLLMCall(CALL);
  store.setName("named");
  const snapshot = store.buildSnapshot();
  store.close();
  store.close();
  expect(() => store.setName("late")).toThrow(/closed/u);
  expect(snapshot.messages.map(displayText)).toEqual(["summary", "kept", "after"]);
  expect(snapshot).toMatchObject({
    ...{ provider: "anthropic", model: "a/b", reasoningEffort: "high", name: "named" },
    ...{ planPhase: "planning", planSlug: "calm-mapping-river", planPreMode: "balanced", goal },
  });
  const raw = readFileSync(store.path(), "utf8");
  expect(raw).toContain("before \\u003cthe\\u003e \\u0026 compaction\\u2028");
  expect(raw.split(UNSET_TIME)).toHaveLength(6);
  expect(manager.list()).toMatchObject([{ id: sessionId, name: "named", messageCount: 2, cwd: "/proj/x" }]);
  const again = manager.open(sessionId);
  expect(again.buildSnapshot()).toEqual(snapshot);
  again.close();
  expect(() => manager.open("ffffffff")).toThrow(/no session/u);
  expect(() => manager.open("../../x")).toThrow(/no session/u);
});

test("thinking over 200 code points is shortened in the file only", () => {
  const store = new Manager(temporaryDirectory()).create("/p");
  const thinking = "🤔".repeat(201);
  const message: Message = { role: "assistant", content: [{ type: "thinking", thinking }] };
  store.appendMessage(message);
  store.appendMessage({ role: "assistant", content: [{ type: "thinking", thinking: "🤔".repeat(200) }] });
  const [first, second] = store.buildSnapshot().messages;
  store.close();
  expect(message.content?.[0]?.thinking).toBe(thinking);
  expect(Array.from(first?.content?.[0]?.thinking ?? "")).toHaveLength(200);
  expect(first?.content?.[0]?.thinking).toBe(`${"🤔".repeat(199)}…`);
  expect(second?.content?.[0]?.thinking).toBe("🤔".repeat(200));
});

test("opening cuts a torn last line, and the next entry hangs on what was there", () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const manager = new Manager(join(root, "projects", "-proj-demo-ledger"));
  const store = manager.open("70000001");
  store.appendMessage(say("user", "go on"));
  const lines = readFileSync(store.path(), "utf8").trimEnd().split("\n");
  store.close();
  expect(parseEntry(lines.at(-1) ?? "")).toMatchObject({ parentId: "0cbc2430" });
  expect(manager.open("70000001").buildSnapshot().messages).toHaveLength(5);
});

test("opening writes the LF that a whole last line lacks", () => {
  const path = join(temporaryDirectory(), "2026-08-01_aaaaaaaa.jsonl");
  writeFileSync(path, text(header(), user("a", "h0", "hi")) + user("b", "a", "ho"));
  const store = Store.open(path);
  store.appendMessage(say("user", "x"));
  store.close();
  expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(4);
});

test.each([
  ["a malformed line", text(header(), "{", user("a", "h0", "x")), /line 2: malformed/u],
  ["an entry without an id", text(header(), user("", "h0", "x")), /line 2: entry without an id/u],
  ["another version", text(header("aaaaaaaa", { version: 2 })), /version 2/u],
  ["no header", text(user("a", "h0", "x")), /no header/u],
])("a session with %s is not opened, and not changed", (_name, content, message) => {
  const path = join(temporaryDirectory(), "2026-08-01_aaaaaaaa.jsonl");
  writeFileSync(path, content);
  expect(() => Store.open(path)).toThrow(SessionUnreadable);
  expect(() => Store.open(path)).toThrow(message);
  expect(readFileSync(path, "utf8")).toBe(content);
});

test.each([
  ["a missing parent", text(header(), user("a", "gone", "x")), /gone is not in the session/u],
  ["a circle", text(header(), user("a", "b", "x"), user("b", "a", "y")), /circle/u],
  ["no way to the header", text(header(), user("a", "", "x")), /without reaching the header/u],
])("a chain with %s has no snapshot", (_name, content, message) => {
  const path = join(temporaryDirectory(), "2026-08-01_aaaaaaaa.jsonl");
  writeFileSync(path, content);
  const store = Store.open(path);
  expect(() => store.buildSnapshot()).toThrow(message);
  store.close();
});

test("the preview of the list counts bytes as codebot does", () => {
  const directory = temporaryDirectory();
  const long = `${"a".repeat(76)}é and more`;
  writeFileSync(join(directory, "2026-08-01_aaaaaaaa.jsonl"), text(header(), user("a", "h0", long)));
  expect(new Manager(directory).list()[0]?.firstMessage).toBe(`${"a".repeat(76)}\ufffd...`);
});

test("the first message passes over injected ones, and takes the last text of the others", () => {
  const directory = temporaryDirectory();
  const store = new Manager(directory).create("/p");
  store.appendMessage(say("user", "reminder", { metadata: { injected: true } }));
  store.appendMessage({ role: "user", content: [{ type: "image", image: {} }] });
  store.appendMessage({
    role: "user",
    content: [{ type: "text", text: "before" }, { type: "text", text: "asked" }, { type: "text" }],
  });
  store.close();
  expect(new Manager(directory).list()[0]).toMatchObject({ firstMessage: "asked", messageCount: 3 });
});

test("the roster keeps members by name, and clearing it removes the file", () => {
  const directory = join(temporaryDirectory(), "team");
  const store = new RosterStore();
  const member = {
    name: "scribe",
    agentType: "general",
    color: "",
    initialPrompt: "",
    description: "",
    depth: 0,
    kind: "",
  };
  store.upsertMember(member);
  expect(store.snapshot().members).toHaveLength(1);
  store.setDir(directory);
  store.setTeam("crew", "about");
  store.upsertMember({ ...member, name: "checker", depth: 1 });
  store.upsertMember({ ...member, color: "blue" });
  store.removeMember("nobody");
  const again = new RosterStore();
  again.setDir(directory);
  expect(again.snapshot()).toMatchObject({
    team: "crew",
    members: [{ name: "scribe", color: "blue" }, { name: "checker" }],
  });
  again.removeMember("scribe");
  expect(again.snapshot().members.map(({ name }) => name)).toEqual(["checker"]);
  again.clear();
  expect(() => statSync(join(directory, "roster.json"))).toThrow();
});

const SCRIBE = {
  ...{ name: "scribe", agentType: "general", color: "", initialPrompt: "" },
  ...{ description: "", depth: 0, kind: "" },
};

test("a directory without a roster has no team, whatever the one before had", () => {
  const [first, second] = [temporaryDirectory(), join(temporaryDirectory(), "missing")];
  const store = new RosterStore();
  store.setDir(first);
  store.setTeam("crew");
  store.upsertMember(SCRIBE);
  store.setDir(second);
  expect(store.snapshot()).toEqual({ team: "", description: "", members: [] });
  store.upsertMember({ ...SCRIBE, name: "checker" });
  const again = new RosterStore();
  again.setDir(second);
  expect(again.snapshot().members.map(({ name }) => name)).toEqual(["checker"]);
  again.setDir(first);
  expect(again.snapshot()).toMatchObject({ team: "crew", members: [SCRIBE] });
});

test("a roster that cannot be read is not written over: the directory before stays", () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()];
  writeFileSync(join(second, "roster.json"), "[");
  const store = new RosterStore();
  store.setDir(first);
  expect(() => store.setDir(second)).toThrow(/is not a roster/u);
  store.upsertMember(SCRIBE);
  expect(readFileSync(join(second, "roster.json"), "utf8")).toBe("[");
  expect(readFileSync(join(first, "roster.json"), "utf8")).toContain("scribe");
});

test("members without a name are left out of a roster", () => {
  const members = [{ name: "" }, { agent_type: "x" }, { name: 7 }, { name: "ok" }, null];
  expect(library.readRoster(JSON.stringify({ team: "t", members }))?.members.map(({ name }) => name)).toEqual(["ok"]);
});

test("a roster that Go wrote comes back byte for byte", () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const path = join(root, "tasks", "7ea37ea3", "team", "roster.json");
  const before = readFileSync(path, "utf8").trimEnd();
  const store = new RosterStore();
  store.setDir(join(root, "tasks", "7ea37ea3", "team"));
  store.setTeam("default", "release crew");
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("a transcript is appended unshortened, repaired when loaded, and healed at its torn end", () => {
  const directory = join(temporaryDirectory(), "transcripts");
  const store = new TranscriptStore(directory);
  expect(store.load("scribe")).toEqual([]);
  const thinking = "x".repeat(500);
  store.append("scribe", [{ role: "assistant", content: [{ type: "thinking", thinking }] }]);
  store.append("scribe", [JSON.parse(calls("a", "h0", "t1")).data]);
  appendFileSync(join(directory, "scribe.jsonl"), '{"role":"tool","con');
  const loaded = store.load("scribe");
  expect(loaded).toHaveLength(3);
  expect(loaded[0]?.content?.[0]?.thinking).toBe(thinking);
  expect(loaded[2]?.metadata).toMatchObject({ tool_call_id: "t1", interrupted: true, is_error: true });
  store.append("scribe", [say("user", "go on")]);
  expect(store.load("scribe")).toHaveLength(4);
  appendFileSync(join(directory, "scribe.jsonl"), "{}x\n");
  expect(() => store.load("scribe")).toThrow(/line 4/u);
  expect(() => store.append("../evil", [say("user", "x")])).toThrow(/name/u);
  expect(() => new TranscriptStore("").append("scribe", [say("user", "x")])).not.toThrow();
});

test("what is appended to a transcript never joins the line that a crash left unfinished", () => {
  const directory = temporaryDirectory();
  const store = new TranscriptStore(directory);
  const whole = JSON.stringify(say("user", "whole"));
  const words = () => store.load("scribe").map(displayText);
  const ends: [string, string[]][] = [
    [`${whole}\n{"role":"assi`, ["whole", "next"]],
    [`${whole}\n${whole}`, ["whole", "whole", "next"]],
    [`${whole}\n  `, ["whole", "next"]],
    ['{"role":"assi', ["next"]],
  ];
  for (const [content, expected] of ends) {
    writeFileSync(join(directory, "scribe.jsonl"), content);
    store.append("scribe", [say("user", "next")]);
    expect(words()).toEqual(expected);
  }
});

test("what is far too large is not read: plans and rosters say so", () => {
  const directory = temporaryDirectory();
  for (const name of ["big.md", "roster.json"]) {
    writeFileSync(join(directory, name), "");
    truncateSync(join(directory, name), 3 * 1024 ** 3);
  }
  expect(() => new PlanStore(directory).load("big")).toThrow(/too large/u);
  expect(() => new RosterStore().setDir(directory)).toThrow(/too large/u);
});

test("plans are listed by their last change, within a second too, and only those that can be loaded", () => {
  const directory = temporaryDirectory();
  const store = new PlanStore(directory);
  for (const name of ["a", "b", "c", ".hid", "back\\slash"]) writeFileSync(join(directory, `${name}.md`), "x");
  const second = 1_790_000_000;
  for (const [name, fraction] of [
    ["a", 0.2],
    ["b", 0.8],
    ["c", 0.5],
  ] as const) {
    utimesSync(join(directory, `${name}.md`), second + fraction, second + fraction);
  }
  expect(store.list()).toEqual(["b", "c", "a"].map((name) => ({ name, modTime: second })));
  for (const { name } of store.list()) expect(store.load(name)).toBe("x");
});

test("plans are saved whole, private, and listed newest first", () => {
  const store = new PlanStore(join(temporaryDirectory(), "plans"));
  expect(store.load("nothing")).toBe("");
  store.save("one", "# One\n");
  store.save("two", "# Two\n");
  expect(store.load("one")).toBe("# One\n");
  expect(statSync(store.path("one")).mode & 0o777).toBe(0o600);
  expect(
    store
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["one", "two"]);
  store.delete("one");
  store.delete("one");
  expect(store.list().map(({ name }) => name)).toEqual(["two"]);
  expect(() => store.save("../evil", "x")).toThrow(/name/u);
});

test("the history belongs to a project, and a prompt said again moves to the front", () => {
  const path = join(temporaryDirectory(), ".codebot", "history.jsonl");
  const history = new History(path, "/a", "11111111");
  history.add("one & <two>");
  history.add("");
  history.add("three");
  history.setSessionID("22222222");
  history.add("one & <two>");
  new History(path, "/b").add("elsewhere");
  expect(history.len()).toBe(2);
  expect([history.get(0), history.get(1), history.get(2), history.get(-1)]).toEqual(["one & <two>", "three", "", ""]);
  const again = new History(path, "/a");
  expect([again.get(0), again.get(1), again.len()]).toEqual(["one & <two>", "three", 2]);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatch(
    /^\{"display":"one \\u0026 \\u003ctwo\\u003e","pastedContents":\{\},"timestamp":\d+,"project":"\/a","sessionId":"11111111"\}$/u,
  );
  for (let n = 0; n < 600; n++) appendFileSync(path, `${JSON.stringify({ display: `p${n}`, project: "/a" })}\n`);
  expect(new History(path, "/a").len()).toBe(500);
});

test.each([
  ["torn", '{"display":"to'],
  ["whole", '{"display":"old","pastedContents":{},"timestamp":1,"project":"/a"}'],
])("a prompt that comes after a %s last line without its LF is recalled", (name, last) => {
  const path = join(temporaryDirectory(), "history.jsonl");
  writeFileSync(path, last);
  new History(path, "/a").add("new");
  expect(readFileSync(path, "utf8").startsWith(`${last}\n{`)).toBe(true);
  const again = new History(path, "/a");
  expect([again.get(0), again.get(1)]).toEqual(["new", name === "whole" ? "old" : ""]);
});

test("nothing is appended to what is no regular file", () => {
  const directory = temporaryDirectory();
  execFileSync("mkfifo", [join(directory, "scribe.jsonl")]);
  expect(() => new TranscriptStore(directory).append("scribe", [say("user", "x")])).toThrow(/not a regular file/u);
});

test("the words of the format are constants, each also in the list of its kind", () => {
  const named = (prefix: string) =>
    Object.entries(library).flatMap(([name, value]) =>
      name.startsWith(prefix) && typeof value === "string" ? [[name, value]] : [],
    );
  const words = (prefix: string, all: readonly string[]) =>
    all.map((word) => [`${prefix}${word.toUpperCase()}`, word]).sort();
  expect(named("ENTRY_").sort()).toEqual(words("ENTRY_", ENTRY_KINDS));
  expect(named("TASK_").sort()).toEqual(words("TASK_", TASK_STATUSES));
});

test("names are an adjective, a gerund and a noun, and seldom the same", () => {
  const names = Array.from({ length: 100 }, generateName);
  for (const name of names) expect(name).toMatch(/^[a-z]+-[a-z]+ing-[a-z]+$/u);
  expect(new Set(names).size).toBeGreaterThan(90);
});

test.each([
  ["/proj/demo/ledger", "-proj-demo-ledger"],
  ["/proj/demo-ledger", "-proj-demo-ledger"],
  ["/proj/demo/über-app 数据", "-proj-demo-ber-app-"],
  ["C:\\a", "C-a"],
])("%s is kept in %s", (cwd, directory) => {
  expect(projectId(cwd)).toBe(directory);
});

test("times keep nine digits, trim zeros, and year 1 is unset", () => {
  expect(formatGoTime(Date.UTC(2026, 0, 2, 3, 4, 5, 120))).toBe("2026-01-02T03:04:05.12Z");
  expect(formatGoTime(Date.UTC(2026, 0, 2, 3, 4, 5), 7)).toBe("2026-01-02T03:04:05.000000007Z");
  expect(instantOf("2026-01-02T03:04:05.123456789+08:00")).toEqual({
    ms: Date.UTC(2026, 0, 1, 19, 4, 5, 123),
    nanos: 456789,
  });
  expect(instantOf(UNSET_TIME)).toBeNull();
  expect(instantOf("yesterday")).toBeNull();
});
