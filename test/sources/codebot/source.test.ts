import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import { codebotSource } from "../../../src/sources/codebot/source.ts";
import type { SourceReader } from "../../../src/sources/source.ts";
import { ledgerOf, type UsageSession } from "../../../src/usage/ledger.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { EXPECTED, type ExpectedSession, ROOT } from "./expected.ts";
import {
  assistant,
  calls,
  DEEP,
  header,
  line,
  llmCall,
  NESTED,
  nested,
  text,
  result as toolResult,
  user,
  writeSession,
} from "./lines.ts";

const LATER = evidenceOf("2026-11-01T00:00:00Z");

function rootWith(...sessions: [string, string][]): string {
  const root = join(temporaryDirectory(), ".codebot");
  mkdirSync(root);
  for (const [id, content] of sessions) writeSession(root, id, content);
  return root;
}

const iso = (time: string) => new Date(Math.floor(Date.parse(time))).toISOString();

function row(session: ExpectedSession): Partial<Snapshot> {
  const { tokens, goal, plan, tasks, team } = session;
  return {
    ...{ id: session.id, key: `codebot:${session.id}`, path: join(ROOT, session.file), title: session.title },
    ...{ name: session.name || null, models: session.models, cwd: session.cwd, messages: session.message_count },
    ...{ createdAt: iso(session.created), updatedAt: iso(session.updated), native: session.status },
    usage: {
      ...{ requests: tokens.calls, input: tokens.input - tokens.cache_read, output: tokens.output },
      ...{ cacheRead: tokens.cache_read, cacheWrite: tokens.cache_write, cacheWrite1h: 0, reasoning: 0 },
      ...{ cost: null, costBasis: null },
    },
    goal:
      goal.status === "off"
        ? null
        : {
            ...{ status: goal.status, objective: goal.objective ?? "", tokensUsed: goal.tokens_used ?? 0 },
            tokenBudget: goal.token_budget || null,
          },
    plan: plan.recorded ? { phase: plan.phase, slug: plan.slug || null } : null,
    tasks: tasks && {
      ...{ total: tasks.total, pending: tasks.pending, inProgress: tasks.in_progress, completed: tasks.completed },
      blocked: tasks.items.filter((task) => task.blocked).length,
    },
    team: team && { name: team.team, members: team.members.map((member) => member.name) },
    damage: session.warnings.map(({ kind, line: at }) => expect.objectContaining({ kind, line: at ?? null })),
    extra: expect.objectContaining({
      ...{ version: session.version, branches: session.branches, contextMessages: session.context_message_count },
      ...{ syntheticResults: session.synthetic_tool_results ?? 0, projectDirectory: session.project_dir },
      nextClaimable: tasks?.next_claimable ?? null,
    }),
  };
}

test("every row agrees with what is expected, and reading changes nothing", async () => {
  const before = treeHash(ROOT);
  const { reader, seen } = await readSource(codebotSource, [ROOT], LATER);
  expect([...seen.snapshots.values()].map(({ id }) => id).sort()).toEqual(EXPECTED.sessions.map(({ id }) => id).sort());
  for (const session of EXPECTED.sessions) {
    const snapshot = seen.byId(session.id);
    expect(snapshot).toMatchObject(row(session));
    expect(snapshot.own).toEqual(snapshot.usage);
    for (const view of reader.views(snapshot.key)) {
      if (view !== "timeline" && view !== "context") await reader.document(snapshot.key, view);
    }
    await readAll(reader, snapshot.key, "timeline");
    await reader.requests(snapshot.key);
    await reader.resume(snapshot.key);
  }
  const said = seen.problems.map(({ path, message }) => `${path} ${message}`);
  for (const { file, reason } of EXPECTED.skipped_files) {
    expect(said.some((words) => words.startsWith(join(ROOT, file)) && words.endsWith(reason))).toBe(true);
  }
  for (const id of EXPECTED.orphan_task_dirs)
    expect(said.some((words) => words.includes(join("tasks", id)))).toBe(true);
  expect(said.some((words) => words.includes("history.jsonl") && words.includes("1 line"))).toBe(true);
  await reader.close();
  expect(treeHash(ROOT)).toEqual(before);
});

async function readAll(reader: SourceReader, key: string, view: "timeline" | "context" | "branch", of?: string) {
  const transcript = await reader.transcript(key);
  const page = await transcript.page({
    view,
    at: { edge: "start" },
    limit: 100_000,
    ...(of === undefined ? {} : { of }),
  });
  transcript.close();
  expect(page.total).toBe(page.entries.length);
  expect(new Set(page.entries.map(({ ref }) => ref)).size).toBe(page.entries.length);
  return page.entries;
}

test("the context view holds as many messages as codebot would restore", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  for (const session of EXPECTED.sessions) {
    const entries = await readAll(reader, `codebot:${session.id}`, "context");
    const messages = new Set(entries.map(({ ref }) => /^([^:]+:kept:\d+|[^:]+:synthetic:.+|[^:]+)/u.exec(ref)?.[1]));
    expect(messages.size).toBe(session.context_message_count);
    expect(entries.every((entry) => entry.inContext && !entry.forkable)).toBe(true);
    expect(entries.filter((entry) => entry.via === "synthetic")).toHaveLength(session.synthetic_tool_results ?? 0);
    expect(entries.filter((entry) => entry.via === "synthetic").every((entry) => entry.injected)).toBe(true);
  }
});

test("a compaction is a divider in the timeline, and summary with kept messages in the context", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const timeline = await readAll(reader, "codebot:d15ea5e0", "timeline");
  const dividers = timeline.filter((entry) => entry.kind === "compaction");
  expect(dividers.map((entry) => entry.text?.split("\n")[0])).toEqual([
    "context compacted — 2 kept",
    "context compacted — 2 kept",
  ]);
  expect(dividers[1]?.text).toContain("- csv/iter.go, import.go");
  expect(timeline.filter((entry) => entry.kind === "message")).toHaveLength(4);
  const context = await readAll(reader, "codebot:d15ea5e0", "context");
  expect(context.map(({ kind, injected, via }) => [kind, injected, via])).toEqual([
    ["compaction", true, null],
    ["message", true, "kept"],
    ["text", false, "kept"],
    ["message", false, null],
    ["text", false, null],
  ]);
});

test("messages become entries of the kinds they are", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const entries = await readAll(reader, "codebot:7f00a1e2", "timeline");
  expect(entries[0]).toMatchObject({ kind: "start", ref: "h0", n: 1 });
  expect(entries[1]).toMatchObject({ kind: "message", ref: "f997a514", injected: true });
  expect(entries[2]).toMatchObject({ ref: "f997a514:1", injected: false, forkable: false });
  expect(entries[2]?.text).toBe("Find why `import` drops rows with an empty memo & fix it");
  const thinking = entries.find((entry) => entry.kind === "thinking");
  expect(thinking?.text).toHaveLength(200);
  const results = entries.filter((entry) => entry.kind === "result");
  expect(results[0]?.text).toBe('internal/importer/map.go:41: if row.Memo == "" { continue }');
  expect(results[1]?.text).toContain("// <- drops a row");
  expect(results[3]).toMatchObject({ result: { for: "toolu_01Hk3d", exit: 1, isError: true } });
  expect(results[3]?.text).toContain("--- FAIL: TestMapRow");
  expect(entries.find((entry) => entry.media)?.media).toEqual({ type: "image/png", bytes: 48 });
  const step = entries.find((entry) => entry.kind === "step");
  expect(step).toMatchObject({ model: "anthropic/claude-sonnet-4-5", usage: { input: 11820, cacheWrite: 11200 } });
  expect(entries.filter((entry) => entry.kind !== "step").every((entry) => entry.usage === null)).toBe(true);
  expect(entries.find((entry) => entry.kind === "call")?.call).toMatchObject({ id: "toolu_01Hk3a", name: "grep" });
});

async function timelineOf(...lines: string[]) {
  const root = rootWith(["aaaaaaaa", text(...lines)]);
  const { reader } = await readSource(codebotSource, [root], LATER);
  const timeline = await readAll(reader, "codebot:aaaaaaaa", "timeline");
  const context = await readAll(reader, "codebot:aaaaaaaa", "context");
  // What cannot be printed would cost the whole transcript.
  JSON.stringify([timeline, context], null, 2);
  return timeline;
}

test.each([
  [
    "numbers as they were written",
    '{"id":12345678901234567890,"f":1.0}',
    '{\n  "id": 12345678901234567890,\n  "f": 1.0\n}',
  ],
  ["what Go escaped as it is meant", '{"a":"\\u003cb\\u003e"}', '{\n  "a": "<b>"\n}'],
  ["the output of a command alone", '{"output":"ok\\n","exit_code":0}', "ok\n"],
  ["a text that is JSON as that text", '"{\\"a\\":1}"', '{"a":1}'],
  ["what is nested ever so deep as it stands", DEEP, DEEP],
  ["what is nested a little too deep as it stands", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, null],
  ["what is no JSON as it stands", '{"a":', '{"a":'],
])("a result shows %s", async (_name, raw, shown) => {
  const entries = await timelineOf(header(), calls("a", "h0", "t"), toolResult("b", "a", "t", raw));
  expect(entries.at(-1)?.text).toBe(shown ?? raw);
});

test.each([
  ["that were no JSON are the text the model wrote", { args: null, args_invalid: true, args_raw_text: '{"a' }, '{"a'],
  ["that were repaired are the text the model wrote", { args: {}, args_invalid: true, args_raw_text: '{"a' }, '{"a'],
  ["are shown as they are", { args: { a: [1] }, args_raw_text: "" }, { a: [1] }],
  ["may be missing", {}, null],
  ["that are nested ever so deep are text", { args: NESTED }, DEEP],
])("arguments %s", async (_name, args, shown) => {
  const content = [{ type: "toolCall", tool_call: { id: "t", name: "bash", ...args } }];
  const call = nested(line("message", "a", "h0", { role: "assistant", content, stop_reason: "toolUse" }));
  const entries = await timelineOf(header(), call);
  expect(entries.at(-1)?.call).toEqual({ id: "t", name: "bash", args: shown });
});

test("a version 5 marker whose numbers are no numbers costs nothing", async () => {
  const at = { timestamp: "2026-08-01T10:00:01Z" };
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const markers = ["keep", "at"].map((key) =>
    JSON.stringify({ kind: key === "keep" ? "rewind" : "checkpoint", ...at, data: { [key]: NESTED } }).replace(
      JSON.stringify(NESTED),
      deep,
    ),
  );
  const entries = await timelineOf(header("aaaaaaaa", { version: 5 }), ...markers);
  expect(entries.map(({ text }) => text).slice(1)).toEqual(["rewound: 0 messages kept", "checkpoint at message 0"]);
});

test("state changes are markers, a legacy one is marked as such", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const words = (await readAll(reader, "codebot:c0ffee11", "timeline")).filter((entry) => entry.kind === "marker");
  expect(words.map((entry) => entry.text)).toEqual([
    "renamed: Summarise CHANGELOG.md in three bullets",
    "model: openai/gpt-5",
    "effort: high",
    "effort: xhigh (legacy: codebot 0.3 does not read it)",
    "model: openrouter/qwen/qwen3-coder",
    "effort: provider's default",
    "effort: max",
  ]);
});

test("pages join without a gap, from either end, and keep their entries", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const whole = await readAll(reader, "codebot:7f00a1e2", "timeline");
  const transcript = await reader.transcript("codebot:7f00a1e2");
  const forward = [];
  let page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 7 });
  for (;;) {
    expect(page.entries.length).toBeLessThanOrEqual(7);
    forward.push(...page.entries);
    if (page.atEnd) break;
    page = await transcript.page({ view: "timeline", at: { after: page.after }, limit: 7 });
  }
  expect(forward).toEqual(whole);
  const backward = [];
  page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 5 });
  for (;;) {
    backward.unshift(...page.entries);
    if (page.atStart) break;
    page = await transcript.page({ view: "timeline", at: { before: page.before }, limit: 5 });
  }
  expect(backward).toEqual(whole);
  const again = await transcript.page({ view: "timeline", at: { ref: "dd767698" }, limit: 3 });
  expect(again.entries[0]?.ref).toBe("dd767698");
  expect(again.entries[0]).toBe(forward.find((entry) => entry.ref === "dd767698"));
  const clipped = await transcript.page({ view: "timeline", at: { ref: "f997a514:1" }, limit: 1, textLimit: 4 });
  expect(clipped.entries[0]).toMatchObject({ text: "Find", clipped: 52 });
});

test("a timeline that follows a growing file says what a new one says, and keeps its entries", async () => {
  const step = [
    user("a", "h0", "go"),
    assistant("b", "a", "yes"),
    calls("c", "b", "t1", "t2"),
    toolResult("d", "c", "t2"),
    toolResult("e", "d", "t1"),
    assistant("f", "e", "done"),
    line("compaction", "g", "f", { summary: "s", messages: [JSON.parse(calls("x", "", "t9")).data] }),
    toolResult("i", "g", "t9"),
    user("j", "i", "next"),
    toolResult("k", "j", "late"),
    calls("l", "k", "late"),
    user("m", "f", "another branch"),
    assistant("n", "m", "ok"),
  ];
  const root = rootWith(["aaaaaaaa", text(header())]);
  const path = join(root, "projects", "-proj-x", "2026-08-01_aaaaaaaa.jsonl");
  const { reader } = await readSource(codebotSource, [root], LATER);
  const followed = await reader.transcript("codebot:aaaaaaaa");
  const everything = { view: "timeline", at: { edge: "start" }, limit: 1000 } as const;
  let before = (await followed.page(everything)).entries;
  for (const one of step) {
    appendFileSync(path, text(one));
    const { entries } = await followed.page(everything);
    expect(entries).toEqual(await readAll(reader, "codebot:aaaaaaaa", "timeline"));
    expect(entries.filter((entry) => before.includes(entry)).length).toBeGreaterThan(0);
    before = entries;
  }
});

test("branches can be walked: every leaf opens its own path", async () => {
  const { reader, seen } = await readSource(codebotSource, [ROOT], LATER);
  const document = await reader.document("codebot:b4a9c7d1", "branches");
  const tree = document.blocks.find((block) => block.type === "tree");
  const items = tree?.type === "tree" ? tree.items : [];
  expect(items.map(({ depth, target }) => [depth, target])).toEqual([
    [0, undefined],
    [1, "1771667f"],
    [1, "f21c9965"],
    [1, "f22012d4"],
  ]);
  expect(items[1]?.label).toBe("Go with banker's rounding");
  const other = await readAll(reader, "codebot:b4a9c7d1", "branch", "1771667f");
  expect(other.at(-1)).toMatchObject({ ref: "1771667f", branch: false, inContext: true });
  expect(other[1]).toMatchObject({ text: "Design the rounding rules", branch: true });
  const timeline = await readAll(reader, "codebot:b4a9c7d1", "timeline");
  expect(timeline.map(({ ref }) => ref)).not.toContain("1771667f");
  expect(seen.byId("b4a9c7d1").can).toContain("promote");
});

test("version 5 is one log: what was rewound is off the branch and out of the context", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const timeline = await readAll(reader, "codebot:5f5f5f5f", "timeline");
  const rewound = timeline.filter((entry) => !entry.branch).map((entry) => entry.text);
  expect(rewound).toEqual(["wrong question", "An answer that was rewound."]);
  const context = await readAll(reader, "codebot:5f5f5f5f", "context");
  expect(context).toHaveLength(5);
  expect(context[2]).toMatchObject({ injected: true });
  expect((await reader.fork?.plan("codebot:5f5f5f5f", null))?.allowed).toBe(false);
});

test("a member's conversation is a branch, repaired, also after it was dismissed", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const checker = await readAll(reader, "codebot:7ea37ea3", "branch", "member:checker");
  expect(checker.map(({ kind, via }) => [kind, via])).toEqual([
    ["message", null],
    ["call", null],
    ["result", "synthetic"],
  ]);
  expect(checker[1]?.usage).toMatchObject({ input: 3900, cacheWrite: 3800 });
  expect(await readAll(reader, "codebot:7ea37ea3", "branch", "member:old-hand")).toHaveLength(2);
  const transcript = await reader.transcript("codebot:7ea37ea3");
  for (const of of ["member:nobody", "member:../../../history", "zz"]) {
    await expect(transcript.page({ view: "branch", of, at: { edge: "end" }, limit: 1 })).rejects.toThrow();
  }
  const requests = await reader.requests("codebot:7ea37ea3");
  expect(requests.map(({ by }) => by)).toEqual([null, null, null, "checker", "old-hand", "scribe", "scribe"]);
});

function printed(document: { blocks: readonly unknown[] }): string {
  return JSON.stringify(document.blocks);
}

test("the documents say what the spec asks for", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const usage = printed(await reader.document("codebot:0badcafe", "usage"));
  expect(usage).toContain(
    "cache −18.9k (90 %): dynamic system block and tool set changed (likely MCP/plan-mode toggle)",
  );
  expect(usage).toContain("cache −22.3k (98 %, expected)");
  const tasks = printed(await reader.document("codebot:7ea37ea3", "tasks"));
  expect(tasks).toContain("4 Refresh screenshots");
  expect(tasks).toContain("3, 99 (gone)");
  expect(tasks).toContain("Running the upgrade matrix");
  const plan = await reader.document("codebot:91a977aa", "plan");
  expect(plan.blocks.find((block) => block.type === "text")).toMatchObject({ markdown: true });
  expect(printed(plan)).toContain("Add redirects");
  const goal = await reader.document("codebot:60a1b0d9", "goal");
  expect(goal.blocks.find((block) => block.type === "gauge")).toMatchObject({
    value: 51100,
    limit: 50000,
    note: "0 left",
  });
  expect(printed(goal)).toContain("goal budget_limited");
  const team = printed(await reader.document("codebot:7ea37ea3", "team"));
  expect(team).toContain("old-hand");
  expect(team).toContain("dismissed");
  const history = await reader.document("codebot:c0ffee11", "history");
  const table = history.blocks.find((block) => block.type === "table");
  expect(table?.type === "table" ? table.rows.map((one) => one.cells[1]) : []).toEqual(
    EXPECTED.history.recall_newest_first["/proj/demo/site"],
  );
  expect(printed(await reader.document("codebot:70000001", "info"))).toContain("torn_tail");
});

test("a call opens in the timeline, or on the branch it was made on", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const document = await reader.document("codebot:b4a9c7d1", "usage");
  const table = document.blocks.findLast((block) => block.type === "table");
  expect(table?.type === "table" ? table.rows.map((one) => one.open) : []).toEqual([
    { view: "timeline", ref: "0082e209" },
    { view: "branch", of: "1771667f", ref: "05e9a52e" },
    { view: "timeline", ref: "f22012d4" },
  ]);
});

test("a second scan tells everything anew, and what is gone", async () => {
  const root = rootWith(["aaaaaaaa", text(header())], ["bbbbbbbb", text(header("bbbbbbbb"))]);
  const { reader } = await readSource(codebotSource, [root], LATER);
  rmSync(join(root, "projects", "-proj-x", "2026-08-01_aaaaaaaa.jsonl"));
  const changed: string[] = [];
  const removed: string[] = [];
  for await (const delta of reader.scan(LATER)) {
    changed.push(...delta.changed.map(({ key }) => key));
    removed.push(...delta.removed);
  }
  expect(removed).toEqual(["codebot:aaaaaaaa"]);
  expect(changed).toEqual(["codebot:bbbbbbbb"]);
});

test("codebot -c resumes the newest of a directory, -r with the id any other", async () => {
  const { reader, seen } = await readSource(codebotSource, [ROOT], LATER);
  for (const session of EXPECTED.sessions) {
    const newest = EXPECTED.sessions.find(
      (one) => one.project_dir === session.project_dir && one.version === session.version,
    );
    const answer = await reader.resume(`codebot:${session.id}`);
    const argv = ["codebot", newest?.id === session.id ? "-c" : "-r"];
    expect(answer).toMatchObject({ ok: true, command: { argv, cwd: session.cwd } });
    expect(seen.byId(session.id).resume).toEqual({ argv, cwd: session.cwd });
    if (answer.ok && argv[1] === "-r") expect(answer.notes.join()).toContain(session.id);
  }
});

test("a session that codebot refuses is not resumed, and the reason is said", async () => {
  const root = rootWith(
    ["aaaaaaaa", text(header("aaaaaaaa"), "{", user("a", "h0", "hi"))],
    ["bbbbbbbb", text(header("bbbbbbbb", { version: 2 }), user("a", "h0", "hi"))],
    ["cccccccc", text(header("cccccccc", { cwd: "/elsewhere" }), user("a", "h0", "hi"))],
    ["dddddddd", text(header("eeeeeeee"), user("a", "h0", "hi"))],
  );
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  const reasons = await Promise.all(["aaaaaaaa", "bbbbbbbb", "cccccccc"].map((id) => reader.resume(`codebot:${id}`)));
  expect(reasons.map((answer) => (answer.ok ? "" : answer.reason))).toEqual([
    "codebot refuses to open it: line 2 is malformed; fork it: the copy leaves such lines out",
    "codebot does not open session version 2",
    "codebot looks for sessions of /elsewhere in -elsewhere, but this file lies in -proj-x",
  ]);
  expect(seen.byId("cccccccc").damage.map(({ kind }) => kind)).toEqual(["header_cwd"]);
  // The file's name is what codebot opens it by; the header that lies is flagged.
  expect(seen.byId("dddddddd").damage.map(({ kind }) => kind)).toEqual(["header_id"]);
});

test("a line for which codebot refuses a session is found however much damage comes first", async () => {
  const bad = Array.from({ length: 101 }, (_, n) => line("message", `u${n}`, "h0", { role: "user", content: "bad" }));
  const start = (id: string) => [header(id), user("a", "h0", "hi"), ...bad];
  const root = rootWith(
    ["aaaaaaaa", text(...start("aaaaaaaa"), "{bad", assistant("b", "a", "ho"))],
    ["bbbbbbbb", text(...start("bbbbbbbb"), user("", "a", "nobody"), "{bad", assistant("b", "a", "ho"))],
    ["cccccccc", `${text(...start("cccccccc"))}[1]`],
    ["dddddddd", text(...start("dddddddd"), assistant("b", "gone", "ho"))],
  );
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  const reasons: string[] = [];
  for (const id of ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"]) {
    const answer = await reader.resume(`codebot:${id}`);
    reasons.push(answer.ok ? "" : answer.reason.replace(/;.*/u, ""));
    expect(seen.byId(id).resume).toBeNull();
  }
  expect(reasons).toEqual([
    "codebot refuses to open it: line 104 is malformed",
    "codebot refuses to open it: line 104 is an entry without an id",
    "codebot refuses to open it: line 104 is malformed",
    "codebot refuses to open it: line 104 leads to an entry that is not there",
  ]);
});

/** A file that claims 3 GiB and has none. */
function oversized(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  truncateSync(path, 3 * 1024 ** 3);
}

describe.each([
  ["plan", "plans/a-b-c.md", { tasks: { total: 1 }, team: { members: ["m"] } }, /too large/u],
  ["task", "tasks/aaaaaaaa/2.json", { tasks: { total: 1 }, team: { members: ["m"] } }, /not a task/u],
  ["mark", "tasks/aaaaaaaa/.highwatermark", { tasks: { total: 1 }, team: { members: ["m"] } }, /highest id/u],
  ["roster", "tasks/aaaaaaaa/team/roster.json", { tasks: { total: 1 }, team: null }, /too large/u],
])("a %s that is far too large", (_name, place, row, message) => {
  async function opened() {
    const plan = line("plan_state", "c", "b", { phase: "planning", slug: "a-b-c" });
    const root = rootWith(
      ["aaaaaaaa", text(header(), user("a", "h0", "hi"), assistant("b", "a", "ho"), plan)],
      ["bbbbbbbb", text(header("bbbbbbbb"))],
    );
    mkdirSync(join(root, "tasks", "aaaaaaaa", "team"), { recursive: true });
    writeFileSync(join(root, "tasks", "aaaaaaaa", "1.json"), '{"id":"1","subject":"s","status":"pending"}');
    writeFileSync(join(root, "tasks", "aaaaaaaa", "team", "roster.json"), '{"team":"t","members":[{"name":"m"}]}');
    oversized(join(root, place));
    return { root, ...(await readSource(codebotSource, [root], LATER)) };
  }

  test("costs that file only, and is told", async () => {
    const { root, reader, seen } = await opened();
    expect([...seen.snapshots.keys()].sort()).toEqual(["codebot:aaaaaaaa", "codebot:bbbbbbbb"]);
    expect(seen.byId("aaaaaaaa")).toMatchObject({ ...row, plan: { slug: "a-b-c" }, extra: { planFile: null } });
    expect(seen.problems.map(({ path }) => path)).toEqual([join(root, place)]);
    expect(seen.problems[0]?.message).toMatch(message);
    for (const view of ["tasks", "plan", "info", "usage"] as const) await reader.document("codebot:aaaaaaaa", view);
  });

  test("is taken back when it is small again", async () => {
    const { root, reader, seen } = await opened();
    rmSync(join(root, place));
    seen.take(await reader.apply([join(root, place)], LATER));
    expect(seen.problems).toEqual([]);
  });
});

test("a plan that cannot be read is a problem as long as a session is linked to it", async () => {
  const plan = (id: string, parent: string, slug: string) =>
    line("plan_state", id, parent, { phase: "planning", slug });
  const linked = [user("a", "h0", "hi"), plan("b", "a", "a-b-c")];
  const ids = ["aaaaaaaa", "bbbbbbbb", "cccccccc"];
  const root = rootWith(...ids.map((id): [string, string] => [id, text(header(id), ...linked)]));
  const path = join(root, "plans", "a-b-c.md");
  mkdirSync(path, { recursive: true });
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  expect(seen.problems).toMatchObject([{ path, kind: "not-regular" }]);
  expect(printed(await reader.document("codebot:aaaaaaaa", "plan"))).toContain("cannot be read");
  const [one = "", another = "", last = ""] = ids.map((id) => seen.byId(id).path);
  const isTold = async (changed: string) => {
    seen.take(await reader.apply([changed], LATER));
    return seen.problems.some((problem) => problem.path === path);
  };
  appendFileSync(one, text(plan("c", "b", "other")));
  expect(await isTold(one)).toBe(true);
  rmSync(another);
  expect(await isTold(another)).toBe(true);
  writeFileSync(last, "no session\n");
  expect(await isTold(last)).toBe(false);
});

test("a conversation of a member that is far too large is read line by line", async () => {
  const root = rootWith(["aaaaaaaa", text(header())]);
  const path = join(root, "tasks", "aaaaaaaa", "team", "transcripts", "m.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  const said = JSON.stringify({ role: "user", content: [{ type: "text", text: "x".repeat(1_000_000) }] });
  for (let n = 0; n < 20; n++) appendFileSync(path, text(said));
  const { reader } = await readSource(codebotSource, [root], LATER);
  expect(await readAll(reader, "codebot:aaaaaaaa", "branch", "member:m")).toHaveLength(20);
});

test("files that are no regular files are left alone and told", async () => {
  const root = rootWith(["aaaaaaaa", text(header())]);
  const project = join(root, "projects", "-proj-x");
  symlinkSync("/etc/hostname", join(project, "2026-08-01_bbbbbbbb.jsonl"));
  mkdirSync(join(project, "2026-08-01_cccccccc.jsonl"));
  writeFileSync(join(project, ".2026-08-01_dddddddd.jsonl.ab.tmp"), text(header("dddddddd")));
  const { seen } = await readSource(codebotSource, [root], LATER);
  expect([...seen.snapshots.keys()]).toEqual(["codebot:aaaaaaaa"]);
  expect(seen.problems.map(({ kind }) => kind)).toEqual(["not-regular"]);
});

test("two files of one id are two sessions with two keys", async () => {
  const root = rootWith(["aaaaaaaa", text(header())]);
  writeSession(root, "aaaaaaaa", text(header(), user("a", "h0", "other")), "-proj-y");
  const { seen } = await readSource(codebotSource, [root], LATER);
  expect([...seen.snapshots.keys()].sort()).toEqual([
    "codebot:aaaaaaaa",
    "codebot:aaaaaaaa@-proj-y/2026-08-01_aaaaaaaa.jsonl",
  ]);
});

test("a missing directory is normal, unless it was asked for", async () => {
  const missing = join(temporaryDirectory(), "nothing");
  const { seen } = await readSource(codebotSource, [missing], LATER);
  expect(seen.problems).toMatchObject([{ path: missing, kind: "gone" }]);
  expect(codebotSource.defaultRoots({ HOME: "/home/x" })).toEqual(["/home/x/.codebot"]);
  expect(codebotSource.defaultRoots({})).toEqual([]);
});

const TURN = [header(), user("a", "h0", "go"), calls("b", "a", "t")];

test("an unfinished turn is work while it is fresh, longer when a codebot runs there, then interrupted", async () => {
  const root = rootWith(["aaaaaaaa", text(...TURN)]);
  const at = (time: string, here = false) =>
    evidenceOf(
      time,
      processTable(
        here
          ? [
              {
                pid: 7,
                ppid: 1,
                startTicks: "1",
                tty: null,
                comm: "codebot",
                argv: ["/bin/codebot"],
                cwd: "/proj/x",
                locksHeld: [],
              },
            ]
          : [],
      ),
    );
  const { reader, seen } = await readSource(codebotSource, [root], at("2026-08-01T10:00:30Z"));
  expect(seen.byId("aaaaaaaa")).toMatchObject({
    status: "working",
    native: "interrupted",
    certainty: "guess",
    activity: "bash ls",
  });
  const delta = reader.tick(at("2026-08-01T10:02:02Z"));
  expect(delta.changed).toMatchObject([
    { status: "interrupted", certainty: "recorded", why: ["1 call has no result"] },
  ]);
  expect(delta.recheckAt).toBeNull();
  expect(reader.tick(at("2026-08-01T10:02:03Z", true)).changed).toMatchObject([{ status: "working" }]);
  expect(reader.tick(at("2026-08-01T10:40:00Z", true)).changed).toMatchObject([{ status: "interrupted" }]);
});

test.each([
  ["blocked", "needs-input"],
  ["paused", "paused"],
  ["budget_limited", "paused"],
  ["usage_limited", "paused"],
  ["complete", "idle"],
])("a goal that is %s makes an idle session %s", async (status, expected) => {
  const goal = { objective: "ship", status, blocked_reason: "no key" };
  const root = rootWith([
    "aaaaaaaa",
    text(header(), user("a", "h0", "go"), assistant("b", "a", "done"), line("goal_state", "c", "b", goal)),
  ]);
  const { seen } = await readSource(codebotSource, [root], LATER);
  expect(seen.byId("aaaaaaaa")).toMatchObject({ status: expected, native: "idle" });
});

test("while a writer appends, the row follows, and a line in the making is not called torn", async () => {
  const root = rootWith(["aaaaaaaa", text(header(), user("a", "h0", "go"))]);
  const path = join(root, "projects", "-proj-x", "2026-08-01_aaaaaaaa.jsonl");
  const now = Date.parse("2026-08-01T12:00:00Z");
  const at = (ms: number) => ({ ...LATER, now: now + ms });
  const { reader, seen } = await readSource(codebotSource, [root], at(0));
  const next = assistant("b", "a", "done");
  appendFileSync(path, next.slice(0, 40));
  const unfinished = await reader.apply([path], at(10));
  expect(unfinished.changed).toEqual([]);
  expect(unfinished.recheckAt).toBe(now + 1010);
  appendFileSync(path, `${next.slice(40)}\n`);
  seen.take(await reader.apply([path], at(20)));
  expect(seen.byId("aaaaaaaa")).toMatchObject({ messages: 2, damage: [], native: "idle" });
  appendFileSync(path, "{");
  seen.take(await reader.apply([path], at(30)));
  expect(seen.byId("aaaaaaaa").damage).toEqual([]);
  seen.take(reader.tick(at(1030)));
  expect(seen.byId("aaaaaaaa").damage).toMatchObject([{ kind: "torn_tail", line: 4, bytes: 1 }]);
  truncateSync(path, Buffer.byteLength(text(header(), user("a", "h0", "go"))));
  seen.take(await reader.apply([path], at(1040)));
  expect(seen.byId("aaaaaaaa")).toMatchObject({ messages: 1, damage: [], native: "interrupted" });
  rmSync(path);
  seen.take(await reader.apply([path], at(1050)));
  expect(seen.snapshots.size).toBe(0);
});

test("a new file is not called empty before it had time to become a session", async () => {
  const root = rootWith(["aaaaaaaa", text(header())]);
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  const path = writeSession(root, "bbbbbbbb", "");
  const first = await reader.apply([path], LATER);
  expect(first).toMatchObject({ changed: [], problems: null, recheckAt: LATER.now + 1000 });
  appendFileSync(path, text(header("bbbbbbbb")));
  seen.take(await reader.apply([path], LATER));
  expect(seen.byId("bbbbbbbb").native).toBe("empty");
  const empty = writeSession(root, "cccccccc", "");
  await reader.apply([empty], LATER);
  seen.take(reader.tick({ ...LATER, now: LATER.now + 1000 }));
  expect(seen.problems).toMatchObject([{ path: empty, kind: "skipped" }]);
});

test("a session that becomes the newest changes how the others are resumed", async () => {
  const root = rootWith(["aaaaaaaa", text(header())], ["bbbbbbbb", text(header("bbbbbbbb"), user("a", "h0", "x"))]);
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  expect(seen.byId("bbbbbbbb").resume?.argv[1]).toBe("-c");
  const path = join(root, "projects", "-proj-x", "2026-08-01_aaaaaaaa.jsonl");
  appendFileSync(path, text(user("a", "h0", "x", "2026-08-02T00:00:00Z")));
  const delta = await reader.apply([path], LATER);
  seen.take(delta);
  expect(delta.changed).toHaveLength(2);
  expect(seen.byId("aaaaaaaa").resume?.argv[1]).toBe("-c");
  expect(seen.byId("bbbbbbbb").resume?.argv[1]).toBe("-r");
});

test("tasks that move by rename, rosters and plans change their session's row", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  const directory = join(root, "tasks", "7ea37ea3");
  const task = JSON.parse(readFileSync(join(directory, "2.json"), "utf8"));
  writeFileSync(join(directory, ".task-1.tmp"), JSON.stringify({ ...task, status: "completed" }));
  const [, tasks] = reader.watched();
  expect(tasks?.matters(join(directory, ".task-1.tmp"))).toBe(false);
  renameSync(join(directory, ".task-1.tmp"), join(directory, "2.json"));
  expect(tasks?.matters(join(directory, "2.json"))).toBe(true);
  seen.take(await reader.apply([join(directory, "2.json")], LATER));
  expect(seen.byId("7ea37ea3").tasks).toEqual({ total: 6, pending: 4, inProgress: 0, completed: 2, blocked: 1 });
  writeFileSync(join(root, "plans", "witty-hiking-lantern.md"), "# Another title\n");
  const delta = await reader.apply([join(root, "plans", "witty-hiking-lantern.md")], LATER);
  expect(delta.changed.map(({ id }) => id)).toEqual(["91a977aa"]);
  rmSync(directory, { recursive: true });
  seen.take(await reader.apply([directory], LATER));
  expect(seen.byId("7ea37ea3")).toMatchObject({ tasks: null, team: null });
});

test("only what belongs to sessions is watched", async () => {
  const { reader } = await readSource(codebotSource, [ROOT], LATER);
  const matters = (path: string) => reader.watched().some((one) => one.matters(join(ROOT, path)));
  for (const path of ["history.jsonl", "plans/a.md", "projects/p/2026-08-01_aaaaaaaa.jsonl", "tasks/aaaaaaaa/1.json"]) {
    expect(matters(path)).toBe(true);
  }
  for (const path of [
    "settings.json",
    "audit.log",
    "snapshot/p/HEAD",
    "projects/p/aaaaaaaa/undo-stack.json",
    "plans/a.md.tmp",
  ]) {
    expect(matters(path)).toBe(false);
  }
});

test("a copied beginning is counted once: it belongs to the session that was created first", async () => {
  const old = [user("a", "h0", "go"), llmCall("b", "a", 100, 40, 10)];
  const root = rootWith(["aaaaaaaa", text(header(), ...old, llmCall("c", "b", 7, 0, 1))]);
  const fork = header("bbbbbbbb", { created: "2026-08-02T10:00:00Z" });
  writeSession(root, "bbbbbbbb", text(fork, ...old, llmCall("d", "b", 5, 0, 2)));
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  expect(seen.byId("bbbbbbbb")).toMatchObject({
    parent: { key: "codebot:aaaaaaaa", relation: "fork" },
    usage: { requests: 2, input: 65, cacheRead: 40, output: 12 },
    own: { requests: 1, input: 5, cacheRead: 0, output: 2 },
  });
  expect(seen.byId("aaaaaaaa")).toMatchObject({ parent: null, own: { requests: 2, input: 67, output: 11 } });
  const [first, second] = await Promise.all(["aaaaaaaa", "bbbbbbbb"].map((id) => reader.requests(`codebot:${id}`)));
  expect(first?.[0]?.key).toBe(second?.[0]?.key);
  rmSync(join(root, "projects", "-proj-x", "2026-08-01_aaaaaaaa.jsonl"));
  seen.take(await reader.apply([join(root, "projects", "-proj-x", "2026-08-01_aaaaaaaa.jsonl")], LATER));
  expect(seen.byId("bbbbbbbb")).toMatchObject({ parent: null, own: { requests: 2 } });
});

const SPENT = {
  ...{ provider: "p", model: "m", input: 1000, output: 10, cache_read: 400, cache_write: 0 },
  ...{ total_tokens: 1010, cost: { total: 0.25 } },
};

test.each([
  ["before the call's own line", 2, []],
  ["before the call's own line, and went on", 2, [llmCall("z", "b", 7, 0, 3)]],
  ["behind the call's own line", 3, []],
  ["behind a later turn", 5, []],
] as const)("a request that was copied is counted once where the copy ends %s", async (_name, kept, more) => {
  const lines = [
    user("a", "h0", "go"),
    assistant("b", "a", "yes", { usage: SPENT }),
    llmCall("c", "b", 1000, 400, 10),
    user("d", "c", "next"),
    assistant("e", "d", "done"),
  ];
  const root = rootWith(["aaaaaaaa", text(header(), ...lines)]);
  const fork = header("bbbbbbbb", { created: "2026-08-02T10:00:00Z" });
  writeSession(root, "bbbbbbbb", text(fork, ...lines.slice(0, kept), ...more));
  const { reader, seen } = await readSource(codebotSource, [root], LATER);
  const sessions: UsageSession[] = [];
  for (const snapshot of seen.snapshots.values()) {
    sessions.push({ snapshot, requests: await reader.requests(snapshot.key) });
  }
  const options = { by: "session", since: null, until: null, timezone: "UTC" } as const;
  const { total, duplicates } = ledgerOf(sessions, options, null);
  expect(total).toMatchObject({ requests: 1 + more.length, cost: 0.25, output: 10 + 3 * more.length });
  // What went on has calls of its own: only those count in it (codebot.md §7).
  expect(duplicates).toBe(more.length === 0 ? 1 : 0);
  const copied = sessions
    .find(({ snapshot }) => snapshot.id === "bbbbbbbb")
    ?.requests.map((one) => one.copied === true);
  expect(copied).toEqual([more.length === 0]);
  expect(seen.byId("bbbbbbbb").own).toMatchObject({ requests: more.length });
  expect(seen.byId("aaaaaaaa").own).toMatchObject({ requests: 1 });
});

test("without a call's own line the usage of messages counts, never the copies a compaction keeps", async () => {
  const usage = {
    provider: "p",
    model: "m",
    input: 10,
    output: 2,
    cache_read: 4,
    cache_write: 1,
    cost: { total: 0.5 },
  };
  const kept = { role: "assistant", content: [], usage };
  const root = rootWith([
    "aaaaaaaa",
    text(
      header(),
      assistant("a", "h0", "x", { usage }),
      line("compaction", "b", "a", { summary: "s", messages: [kept] }),
    ),
  ]);
  const { seen } = await readSource(codebotSource, [root], LATER);
  expect(seen.byId("aaaaaaaa").usage).toMatchObject({
    ...{ requests: 1, input: 6, output: 2, cacheRead: 4, cacheWrite: 1, cost: 0.5, costBasis: "recorded" },
  });
});

test("hostile text never reaches a title, an activity or a reason as it is", async () => {
  const evil = "\u001b]0;owned\u0007 a\u202eb\nnext";
  const root = rootWith(["aaaaaaaa", text(header(), user("a", "h0", evil))]);
  const { seen } = await readSource(codebotSource, [root], LATER);
  const { title, activity, why } = seen.byId("aaaaaaaa");
  for (const words of [title, activity ?? "", ...why]) expect(words).not.toMatch(/[\u0000-\u001f\u202e]/u);
  expect(title).toBe("·]0;owned· ab next");
});

test("the files that its calls edited within the last hour are told, below the session's own directory", async () => {
  const editing = (id: string, parent: string, file_path: string, time: string) => {
    const call = { type: "toolCall", tool_call: { id: `c-${id}`, name: "edit", args: { file_path } } };
    return line("message", id, parent, { role: "assistant", content: [call], stop_reason: "toolUse" }, time);
  };
  const content = text(
    header("aaaaaaaa"),
    editing("a", "h0", "early.go", "2026-08-01T10:00:00Z"),
    editing("b", "a", "map.go", "2026-08-01T12:30:00Z"),
    editing("c", "b", "/opt/pot.go", "2026-08-01T13:00:00Z"),
    calls("d", "c", "c9"),
  );
  const root = rootWith(["aaaaaaaa", content]);
  const { seen } = await readSource(codebotSource, [root], LATER);
  expect(seen.byId("aaaaaaaa").extra.edits).toEqual(["/proj/x/map.go", "/opt/pot.go"]);
});
