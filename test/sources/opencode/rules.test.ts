import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import { opencodeRoots, placeOf } from "../../../src/sources/opencode/places.ts";
import { opencodeProgram } from "../../../src/sources/opencode/program.ts";
import { OpencodeReader } from "../../../src/sources/opencode/reader.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { forkTitle } from "../../../src/sources/opencode/titles.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource, rootsOf, Seen, servicesFor } from "../../support/read-source.ts";
import {
  addMessage,
  addSession,
  addSession2,
  addTurn,
  addVersion2,
  newDatabase,
  type Row2,
  type Turn,
} from "./database.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);
const running = { pid: 5, ppid: null, startTicks: "1", tty: null, comm: "opencode", locksHeld: [] };

describe("how a session ends", () => {
  const open: Turn = { prompt: "Do", reply: null };
  const tool = (name: string, status: string, input?: unknown, error?: string): Turn => ({
    prompt: "Do",
    reply: "",
    tool: { name, status, input, error },
  });
  test.each<[string, Turn, string, string]>([
    ["a finished reply", { prompt: "Do", reply: "Done" }, "idle", "waiting-user"],
    ["a reply that is not finished", open, "interrupted", "working"],
    ["a call that runs", tool("bash", "running", { command: "make" }), "interrupted", "working"],
    ["a call that is over", tool("bash", "completed"), "idle", "waiting-user"],
    ["a rejected permission", tool("bash", "error"), "idle", "waiting-user"],
    ["a reply that ended in calls", { ...tool("bash", "completed"), finish: "tool-calls" }, "interrupted", "working"],
    [
      "a reply that ended in a failed call",
      { ...tool("bash", "error"), finish: "tool-calls" },
      "interrupted",
      "working",
    ],
    [
      "a call that the person refused",
      { ...tool("bash", "error", {}, "The user rejected permission to use this tool call."), finish: "tool-calls" },
      "idle",
      "waiting-user",
    ],
    [
      "a call that the person refused, saying what to do instead",
      {
        ...tool(
          "bash",
          "error",
          {},
          "The user rejected permission to use this tool with the following feedback: rebase",
        ),
        finish: "tool-calls",
      },
      "interrupted",
      "working",
    ],
    [
      "a call whose own words speak of a refusal",
      { ...tool("bash", "error", {}, "! [rejected] main -> main (fetch first)"), finish: "tool-calls" },
      "interrupted",
      "working",
    ],
    ["a reply cut at the model's limit", { prompt: "Do", reply: "Don", finish: "length" }, "idle", "waiting-user"],
    [
      "an abort",
      { ...open, reply: "", error: { name: "MessageAbortedError", message: "-" } },
      "interrupted",
      "interrupted",
    ],
    ["an error", { ...open, reply: "", error: { name: "APIError", message: "no credit" } }, "error", "error"],
  ])("%s", async (_, turn, dead, live) => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [turn]);
    database.close();
    const table = processTable([{ ...running, argv: ["opencode"], cwd: "/work/pot" }]);
    expect((await readSource(opencodeSource, [root], evidence)).seen.byId("ses_a").native).toBe(dead);
    expect((await readSource(opencodeSource, [root], evidenceOf(NOW, table))).seen.byId("ses_a").native).toBe(live);
  });

  test.each([
    ["stop", "idle"],
    ["tool-calls", "interrupted"],
  ])("a reply of version 2 that ended with %s", async (finish, native) => {
    const { root, database } = await newDatabase();
    addVersion2(database);
    addSession2(database, "ses_a", [
      { type: "user", seq: 0 },
      { seq: 1, data: { finish } },
    ]);
    database.close();
    expect((await readSource(opencodeSource, [root], evidence)).seen.byId("ses_a").native).toBe(native);
  });

  test("a question to the person waits for the person as long as the process lives", async () => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [tool("question", "running", { questions: [{ question: "Green or black?" }] })]);
    database.close();
    const table = processTable([{ ...running, argv: ["opencode", "-s", "ses_a"], cwd: null }]);
    const { seen } = await readSource(opencodeSource, [root], evidenceOf(NOW, table));
    expect(seen.byId("ses_a")).toMatchObject({ status: "needs-input", activity: "Green or black?", can: [] });
  });
});

describe("while we watch", () => {
  const part = (output: string) =>
    JSON.stringify({ type: "tool", tool: "bash", callID: "c0", state: { status: "completed", input: {}, output } });

  test("rows that are written in place are followed, and other sessions are left as they are", async () => {
    const { root, path, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Do", reply: "", tool: { name: "bash", status: "running" } }]);
    addSession(database, "ses_b", [{ prompt: "Be", reply: "Been" }]);
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a").native).toBe("interrupted");
    const transcript = await reader.transcript("opencode:ses_a");
    const first = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 9 });
    database
      .prepare("update part set data = ?, time_updated = time_updated + 1 where id = 'prt_msg_ses_a_0b_1'")
      .run(part("made"));
    database
      .prepare(
        "update message set data = json_set(data, '$.time.completed', 1), time_updated = time_updated + 1 where id = 'msg_ses_a_0b'",
      )
      .run();
    const delta = await reader.apply([`${path}-wal`], evidence);
    seen.take(delta);
    expect(delta.changed.map((one) => one.id)).toEqual(["ses_a"]);
    expect(seen.byId("ses_a").native).toBe("idle");
    const second = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 9 });
    expect(second.entries.at(-1)).toMatchObject({ kind: "result", text: "made" });
    expect(second.entries[0]).toBe(first.entries[0]);
    expect((await reader.apply([path], evidence)).changed).toEqual([]);
    addTurn(database, "ses_b", 1, Date.parse(NOW), { prompt: "More", reply: "Most" });
    seen.take(await reader.apply([`${path}-wal`], evidence));
    expect(seen.byId("ses_b").messages).toBe(4);
    database.exec("delete from session where id = 'ses_a'; delete from message where session_id = 'ses_a'");
    expect((await reader.apply([`${path}-wal`], evidence)).removed).toEqual(["opencode:ses_a"]);
    database.close();
    rmSync(path);
    expect((await reader.apply([path], evidence)).removed).toEqual(["opencode:ses_b"]);
  });

  test("a session whose file is half written stays as it was, and that is said", async () => {
    const root = join(copyOfFixture("opencode"), "home", ".local/share/opencode");
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    const before = seen.byId("ses_1ZmcHenF5ZtAAgREFv3JpzL41A");
    const whole = readFileSync(before.path, "utf8");
    writeFileSync(before.path, whole.slice(0, 30));
    const torn = await reader.apply([before.path], evidence);
    expect(torn).toMatchObject({ removed: [], problems: [{ kind: "torn", path: before.path }] });
    seen.take(torn);
    expect(seen.byId(before.id)).toMatchObject({ title: before.title, messages: before.messages });
    writeFileSync(before.path, whole);
    expect(await reader.apply([before.path], evidence)).toMatchObject({ removed: [], problems: [] });
  });

  test("a session of the JSON files is followed, and is gone when its file is", async () => {
    const root = join(copyOfFixture("opencode"), "home", ".local/share/opencode");
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    const before = seen.byId("ses_1ZmcHenF5ZtAAgREFv3JpzL41A");
    writeFileSync(
      before.path,
      JSON.stringify({ id: before.id, projectID: "a", title: "Renamed", time: { created: 1, updated: 2 } }),
    );
    utimesSync(before.path, 9, 9);
    seen.take(await reader.apply([before.path], evidence));
    expect(seen.byId(before.id)).toMatchObject({ title: "Renamed", messages: before.messages });
    rmSync(before.path);
    const delta = await reader.apply([before.path], evidence);
    expect(delta.removed).toEqual([before.key]);
    expect(delta.changed.map((one) => one.id)).toEqual(["ses_JsCPeOF56D00eLGA7aava6EpLZ"]);
    expect(delta.changed[0]).toMatchObject({ parent: null, hidden: true });
  });
});

describe("titles", () => {
  const text = (words: string) => ({ type: "text", text: words });
  const file = (mime: string) => ({ type: "file", mime, url: "data:;base64,AAAA" });
  test.each([
    ["New session - 2026-11-20T09:00:00.000Z", [[text("Tea")]], "Tea", "Tea"],
    ["New session - 2026-11-20T09:00:00.000Z (fork #1)", [[text("Tea")]], "Tea", "Tea"],
    ["Child session - 2026-11-20T09:00:00.000Z (fork #12)", [[text("Tea")]], "Tea", "Tea"],
    ["New session - a draft", [[text("Tea")]], "New session - a draft", "Tea"],
    ["", [[file("image/png")], [text("  ")], [text("Tea")]], "Tea", "Tea"],
    ["", [[file("image/png"), text("Tea")], [file("image/png")]], "Tea", "[image]"],
    ["", [[file("image/png")]], "[image]", "[image]"],
    ["", [[file("image/png"), file("image/jpeg")]], "[2 images]", "[2 images]"],
    ["", [[file("application/pdf")]], "[file]", "[file]"],
    ["", [[file("application/pdf"), file("image/png")]], "[2 files]", "[2 files]"],
    ["", [[{ ...text("context"), synthetic: true }], [text("Tea")]], "Tea", "Tea"],
  ])("%j of prompts %j is %j", async (title, prompts, shown, last) => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [], { title: title || " " });
    for (const [i, parts] of prompts.entries()) {
      const created = Date.parse(NOW) + i;
      addMessage(database, `msg_${i}`, "ses_a", created, { role: "user", time: { created } }, parts);
    }
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a")).toMatchObject({ title: shown, extra: { lastPrompt: last } });
  });

  test.each([
    ["X", "X (fork #1)"],
    ["X (fork #1)", "X (fork #2)"],
    ["New session - 2026-11-20T09:00:00.000Z", "New session - 2026-11-20T09:00:00.000Z (fork #1)"],
    [null, "New session - 2026-11-20T09:00:00.000Z (fork #1)"],
    [" ", "New session - 2026-11-20T09:00:00.000Z (fork #1)"],
  ])("a copy of %j is called %j", (title, copy) => {
    expect(forkTitle(title, Date.parse("2026-11-20T09:00:00.000Z"))).toBe(copy);
  });
});

describe("tables of other releases", () => {
  const columns = {
    session: ["title", "time_updated", "time_created", "cost", "tokens_input"],
    message: ["time_created", "time_updated"],
    part: ["time_created", "time_updated", "session_id"],
    todo: ["status", "priority", "position", "time_updated", "session_id", "content"],
    project: ["id", "worktree"],
    session_v2: ["title", "fork_session_id", "idle_outcome", "tokens_input"],
    session_message: ["seq", "time_created", "time_updated"],
  };
  const cases = Object.entries(columns).flatMap(([table, names]) => names.map((name) => [table, name] as const));

  async function both() {
    const made = await newDatabase();
    addVersion2(made.database);
    made.database.exec(
      "create table todo (session_id text, content text, status text, priority text, position integer, time_updated integer)",
    );
    made.database.exec("insert into todo values ('ses_a', 'Job', 'pending', 'high', 0, 1)");
    addSession(made.database, "ses_a", [{ prompt: "Do", reply: "Did" }]);
    addSession2(made.database, "ses_b", [{ type: "user", seq: 0 }, { seq: 1 }]);
    return made;
  }

  /** As if the release never had the column; indexes go with it. */
  function drop(database: DatabaseSync, table: string, name: string): void {
    const kept = database.prepare("select name from pragma_table_info(?)").all(table);
    const names = kept.flatMap((one) => (one.name === name ? [] : [String(one.name)]));
    database.exec(`create table other as select ${names.join(", ")} from ${table}`);
    database.exec(`drop table ${table}; alter table other rename to ${table}`);
  }

  test.each(cases)("without %s.%s every session is read, and followed", async (table, name) => {
    const { root, path, database } = await both();
    drop(database, table, name);
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    const shown = () => ["ses_a", "ses_b"].map((id) => [seen.byId(id).messages, seen.byId(id).usage?.requests]);
    const expected = [2, 1];
    expect(shown()).toEqual([expected, expected]);
    expect(seen.problems).toEqual([]);
    for (const key of seen.snapshots.keys()) {
      const page = await (await reader.transcript(key)).page({ view: "timeline", at: { edge: "end" }, limit: 9 });
      expect(page.entries).toHaveLength(2);
    }
    seen.take(await reader.apply([path], evidence));
    database.close();
    expect(shown()).toEqual([expected, expected]);
  });

  test.each([
    ["message", "data", "ses_b"],
    ["session", "id", "ses_b"],
    ["session_message", "session_id", "ses_a"],
    ["session_v2", "id", "ses_a"],
  ])("without %s.%s the other generation is read, and it is said", async (table, name, left) => {
    const { root, database } = await both();
    drop(database, table, name);
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect([...seen.snapshots.values()].map((one) => one.id)).toEqual([left]);
    expect(seen.problems).toMatchObject([
      { kind: "unreadable-database", message: expect.stringContaining(`no ${name}`) },
    ]);
  });
});

test("without the table of parts sessions are listed, and it is said that nothing of them can be shown", async () => {
  const { root, database } = await newDatabase();
  addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }]);
  database.exec("drop table part");
  database.close();
  const { seen } = await readSource(opencodeSource, [root], evidence);
  expect(seen.byId("ses_a").usage?.requests).toBe(1);
  expect(seen.problems).toMatchObject([
    { kind: "unreadable-database", message: expect.stringContaining("table part") },
  ]);
});

describe("what is shown", () => {
  test("reverted messages are a branch of their own, still billed, and no place to fork before", async () => {
    const root = join(copyOfFixture("opencode"), "home", ".local/share/opencode");
    const { reader } = await readSource(opencodeSource, [root], evidence);
    const key = "opencode:ses_hu8BrQ11UVEEURAmYjumGpoBqk";
    const transcript = await reader.transcript(key);
    const all = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 9 });
    expect(all.entries.map((one) => [one.text, one.branch, one.inContext])).toEqual([
      ["Paint the handle red", true, true],
      ["Red.", true, true],
      ["Paint it green", false, false],
      ["Green.", false, false],
    ]);
    const reverted = await transcript.page({ view: "branch", of: "reverted", at: { edge: "end" }, limit: 1 });
    expect(reverted.entries[0]?.text).toBe("Green.");
    expect(reverted).toMatchObject({ atStart: false, atEnd: true });
    expect(JSON.stringify(await reader.document(key, "branches"))).toContain("reverted: 1 prompts");
    expect((await reader.requests(key)).length).toBe(2);
  });

  test("after a compaction the context begins with its summary", async () => {
    const root = join(copyOfFixture("opencode"), "home", ".local/share/opencode");
    const { reader } = await readSource(opencodeSource, [root], evidence);
    const transcript = await reader.transcript("opencode:ses_2piv7KpkB7wg59nlUXFafADkwW");
    const page = await transcript.page({ view: "context", at: { edge: "start" }, limit: 9 });
    expect(page.entries.map((one) => [one.kind, one.text])).toEqual([
      ["compaction", "Summary of the talk."],
      ["message", "Continue if you have next steps"],
      ["text", "Nothing left to do."],
    ]);
    expect(page.entries[1]?.injected).toBe(true);
  });

  test("a version 2 session has its calls and results like any other, a child its own pages", async () => {
    const copy = copyOfFixture("opencode");
    const v2 = await readSource(opencodeSource, [join(copy, "home-v2", ".local/share/opencode")], evidence);
    const transcript = await v2.reader.transcript("opencode:ses_6PjAHN6L6OFxdxjmkZ5ygfX1Ya");
    const page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 99 });
    expect(page.entries.map((one) => one.kind)).toEqual([
      "message",
      "call",
      "result",
      "text",
      "text",
      "message",
      "text",
      "message",
    ]);
    expect(page.entries[2]).toMatchObject({ text: "ok", result: { for: "call_5st4XoNq", isError: false } });
    expect(page.entries[7]).toMatchObject({ text: "injected reminder", injected: true });
    const v1 = await readSource(opencodeSource, [join(copy, "home", ".local/share/opencode")], evidence);
    const parent = await v1.reader.transcript("opencode:ses_eoVqeTnOKsnYrRJ3Eu6IrmfxGt");
    const child = await parent.page({
      view: "branch",
      of: "agent:ses_PvPLGXoOmzMtnw9Snx1yy2dQSD",
      at: { edge: "start" },
      limit: 1,
    });
    expect(child.entries[0]?.text).toBe("Write spout tests");
    await expect(parent.page({ view: "branch", of: "agent:nope", at: { edge: "end" }, limit: 1 })).rejects.toThrow(
      "no child",
    );
  });

  test("a huge part is cut by SQLite, and says how much was left out", async () => {
    const { root, database } = await newDatabase();
    const output = "steam ".repeat(200_000);
    addSession(database, "ses_a", [
      { prompt: "Do", reply: "Did", tool: { name: "bash", status: "completed", output } },
    ]);
    database.close();
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a").extra.counts).toEqual({ human: 1, assistant: 1, toolCalls: 1 });
    const transcript = await reader.transcript("opencode:ses_a");
    const short = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 1, textLimit: 100 });
    expect(short.entries[0]?.text).toHaveLength(100);
    expect(short.entries[0]?.clipped).toBeGreaterThan(1_000_000);
    const whole = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 1 });
    expect(whole.entries[0]).toMatchObject({ text: output, clipped: 0 });
  });

  test("sessions beyond what a list may read show their own row's numbers, and everything once they are opened", async () => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_new", [{ prompt: "Do", reply: "Did" }], { at: Date.parse(NOW) });
    addSession(database, "ses_old", [{ prompt: "Old", reply: "Odd" }]);
    database.exec("update session set tokens_input = 7, tokens_output = 3, cost = 0.5 where id = 'ses_old'");
    database.close();
    const reader = new OpencodeReader(rootsOf(opencodeSource, [root]), servicesFor(), 400);
    const seen = new Seen();
    for await (const delta of reader.scan(evidence)) seen.take(delta);
    expect(seen.byId("ses_new")).toMatchObject({ messages: 2, extra: { brief: false } });
    expect(seen.byId("ses_old")).toMatchObject({ extra: { brief: true }, own: { input: 7, output: 3, cost: 0.5 } });
    const transcript = await reader.transcript("opencode:ses_old");
    const page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 9 });
    expect(page.entries.map((one) => one.text)).toEqual(["Old", "Odd"]);
    expect(await reader.requests("opencode:ses_old")).toMatchObject([{ input: 100, output: 10 }]);
  });

  test("the agent's own list is the session's tasks", async () => {
    const { root, path, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }]);
    database.exec(
      "create table todo (session_id text, content text, status text, priority text, position integer, time_updated integer)",
    );
    const add = (status: string, position: number) =>
      database
        .prepare("insert into todo values ('ses_a', ?, ?, 'high', ?, 1)")
        .run(`Job ${position}`, status, position);
    add("completed", 0);
    add("in_progress", 1);
    add("cancelled", 2);
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a").tasks).toEqual({ total: 2, pending: 0, inProgress: 1, completed: 1, blocked: 0 });
    expect(JSON.stringify(await reader.document("opencode:ses_a", "tasks"))).toContain("in progress");
    add("pending", 3);
    seen.take(await reader.apply([path], evidence));
    database.close();
    expect(seen.byId("ses_a").tasks).toMatchObject({ total: 3, pending: 1 });
  });

  test("beside a database only the old files' sessions are watched, without one their messages too", async () => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }]);
    database.close();
    const watched = async () => (await readSource(opencodeSource, [root], evidence)).reader.watched();
    expect((await watched()).map((one) => [one.path, one.depth])).toEqual([
      [root, 0],
      [join(root, "storage/session"), 1],
    ]);
    rmSync(join(root, "opencode.db"));
    expect((await watched()).map((one) => [one.path, one.depth])).toEqual([
      [root, 0],
      [join(root, "storage"), 2],
    ]);
  });

  test("a row that is no JSON costs itself only", async () => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }]);
    database.exec("insert into message values ('msg_bad', 'ses_a', 1, 1, '{\"role\":')");
    database.exec("insert into part values ('prt_bad', 'msg_ses_a_0b', 'ses_a', 1, 1, 'nope')");
    addMessage(database, "msg_big", "ses_a", 2, { role: "user", time: { created: 1e300 } }, []);
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a")).toMatchObject({ messages: 2, damage: [{ kind: "bad-rows: 1" }] });
  });
});

test.each([
  ["tokens of zeros", { tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }, cost: 0 }],
  ["no tokens", { tokens: undefined, cost: undefined }],
  ["no tokens and no end", { tokens: undefined, cost: undefined, time: { created: 1 } }],
])("of migrated rows with %s the session's own sums are shown", async (_, data) => {
  const { root, database } = await newDatabase();
  addVersion2(database);
  const sums = { tokens_input: 3000, tokens_output: 90, cost: 0.5 };
  addSession2(database, "ses_a", [{ type: "user", seq: 0 }, { seq: 1, data }, { seq: 2 }], sums);
  database.close();
  const { seen } = await readSource(opencodeSource, [root], evidence);
  expect(seen.byId("ses_a").usage).toMatchObject({ requests: 2, input: 3000, output: 90, cost: 0.5 });
});

describe("copies of replies", () => {
  const unfinished = { time: { created: 1 }, finish: undefined };
  const restamped = { time: { created: Date.parse(NOW), completed: Date.parse(NOW) + 1 } };
  const bare = { tokens: undefined, cost: undefined };

  test.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, string>]>([
    ["that never finished", unfinished, unfinished, {}],
    ["that never finished, without a pointer", unfinished, unfinished, { fork_session_id: "", fork_boundary: "" }],
    ["under other times", {}, restamped, {}],
  ])("%s are the original's", async (_, first, copy, pointer) => {
    const { root, database } = await newDatabase();
    addVersion2(database);
    addSession2(database, "ses_a", [
      { type: "user", seq: 0 },
      { seq: 1, data: first },
    ]);
    const more = { fork_session_id: "ses_a", fork_boundary: "ses_a_1", ...pointer };
    const row = Object.fromEntries(Object.entries(more).map(([name, value]) => [name, value || null]));
    const later = { time: { created: Date.parse(NOW) + 5, completed: Date.parse(NOW) + 6 } };
    const rows: Row2[] = [
      { type: "user", seq: 0 },
      { seq: 1, data: copy },
      { seq: 2, data: later },
    ];
    addSession2(database, "ses_b", rows, { ...row, time_created: Date.parse(NOW) - 9000, title: "A copy" });
    addSession2(database, "ses_c", rows, {
      ...{ fork_session_id: "ses_b", fork_boundary: "ses_b_2", time_created: Date.parse(NOW) - 8000 },
    });
    database.close();
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a")).toMatchObject({ parent: null, own: { requests: 1 } });
    expect(seen.byId("ses_b")).toMatchObject({ parent: { key: "opencode:ses_a" }, own: { requests: 1 } });
    expect(seen.byId("ses_c")).toMatchObject({ parent: { key: "opencode:ses_b" }, own: { requests: 0 } });
    const all = await Promise.all([...seen.snapshots.keys()].map((key) => reader.requests(key)));
    expect(new Set(all.flat().map((one) => one.key)).size).toBe(2);
  });

  test("of a compaction are the original's too", async () => {
    const { root, database } = await newDatabase();
    addVersion2(database);
    const rows: Row2[] = [
      { type: "user", seq: 0 },
      { type: "compaction", seq: 1, data: unfinished },
    ];
    addSession2(database, "ses_a", rows);
    const pointer = { fork_session_id: "ses_a", fork_boundary: "ses_a_1", time_created: Date.parse(NOW) };
    addSession2(database, "ses_b", rows, pointer);
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_b").own?.requests).toBe(0);
  });

  test("without tokens leave the session's own sums to the original", async () => {
    const { root, database } = await newDatabase();
    addVersion2(database);
    const sums = { tokens_input: 3000, tokens_output: 90, cost: 0.5 };
    addSession2(
      database,
      "ses_a",
      [
        { type: "user", seq: 0 },
        { seq: 1, data: bare },
      ],
      sums,
    );
    const pointer = { fork_session_id: "ses_a", fork_boundary: "ses_a_1", time_created: Date.parse(NOW) };
    const rows: Row2[] = [
      { type: "user", seq: 0 },
      { seq: 1, data: { ...bare, ...restamped } },
    ];
    addSession2(database, "ses_b", rows, { ...pointer, ...sums });
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect([seen.byId("ses_a").own?.input, seen.byId("ses_b").own?.input]).toEqual([3000, 0]);
  });

  test("are known again when the original is gone, and a copy of a copy follows", async () => {
    const { root, path, database } = await newDatabase();
    addVersion2(database);
    const rows: Row2[] = [{ type: "user", seq: 0 }, { seq: 1 }];
    addSession2(database, "ses_a", rows);
    for (const [id, from, later] of [
      ["ses_b", "ses_a", 1],
      ["ses_c", "ses_b", 2],
    ] as const) {
      const pointer = { fork_session_id: from, fork_boundary: `${from}_1`, time_created: Date.parse(NOW) + later };
      addSession2(
        database,
        id,
        [
          { type: "user", seq: 0 },
          { seq: 1, data: { time: { created: later } } },
        ],
        pointer,
      );
    }
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    const own = () => ["ses_b", "ses_c"].map((id) => seen.byId(id).own?.requests);
    expect(own()).toEqual([0, 0]);
    database.exec("delete from session_v2 where id = 'ses_a'");
    seen.take(await reader.apply([path], evidence));
    database.close();
    expect(own()).toEqual([1, 0]);
  });
});

describe("copies without a pointer", () => {
  /** Copies the first turn of a session, as a fork does: fresh ids, old times. */
  async function withForks(forks: [id: string, title: string, from: string][]) {
    const made = await newDatabase();
    const { database } = made;
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did", tokens: 321 }], { title: "Tea" });
    for (const [i, [id, title, from]] of forks.entries()) {
      addSession(database, id, [], { title, at: Date.parse(NOW) + i * 1000 });
      database
        .prepare(
          `insert into message select replace(id, ?, ?), ?, time_created, time_updated, data from message where session_id = ?`,
        )
        .run(from, id, id, from);
    }
    return made;
  }

  test("are found by times and tokens, and by their titles where several share them", async () => {
    const { root, database } = await withForks([
      ["ses_b", "Tea (fork #1)", "ses_a"],
      ["ses_c", "Tea (fork #2)", "ses_b"],
    ]);
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a")).toMatchObject({ parent: null, own: { requests: 1 } });
    expect(seen.byId("ses_b")).toMatchObject({ parent: { key: "opencode:ses_a" }, own: { requests: 0 } });
    expect(seen.byId("ses_c")).toMatchObject({ parent: { key: "opencode:ses_b" }, own: { requests: 0 } });
  });

  test("own what they copied once the original is gone", async () => {
    const { root, path, database } = await withForks([["ses_b", "Tea (fork #1)", "ses_a"]]);
    const { reader, seen } = await readSource(opencodeSource, [root], evidence);
    database.exec("delete from session where id = 'ses_a'");
    seen.take(await reader.apply([path], evidence));
    database.close();
    expect(seen.byId("ses_b")).toMatchObject({ parent: null, own: { requests: 1 } });
  });

  test("are not seen in sessions that ran at the same time with the same numbers", async () => {
    const { root, database } = await newDatabase();
    for (const id of ["ses_x", "ses_y"])
      addSession(database, id, [{ prompt: "Do", reply: "Did" }], { parent: "ses_p" });
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect([seen.byId("ses_x").own?.requests, seen.byId("ses_y").own?.requests]).toEqual([1, 1]);
  });
});

describe("which programs are OpenCode", () => {
  test.each([
    [["opencode"], true],
    [["/usr/bin/opencode2", "-s", "ses_a"], true],
    [["node", "/usr/bin/opencode"], true],
    [["/opt/node22/bin/node", "--no-warnings", "/usr/bin/opencode"], true],
    [["bun", "opencode"], true],
    [["vim", "opencode"], false],
    [["ls", "/usr/bin/opencode"], false],
    [["node", "build.js", "opencode"], false],
    [["nodemon", "opencode"], false],
    [[], false],
  ])("%j: %s", (argv, expected) => {
    expect(opencodeProgram.isProgram({ ...running, comm: "x", argv, cwd: null })).toBe(expected);
  });
});

describe("where stores lie", () => {
  test.each([
    [{ HOME: "/h" }, ["/h/.local/share/opencode"]],
    [{ HOME: "/h", XDG_DATA_HOME: "/d" }, ["/d/opencode"]],
    [{ HOME: "/h", OPENCODE_DB: "/x/my.db" }, ["/h/.local/share/opencode", "/x"]],
    [{ HOME: "/h", OPENCODE_DB: "/x//y/../my.db" }, ["/h/.local/share/opencode", "/x"]],
    [{ HOME: "/h", OPENCODE_DB: "my.db" }, ["/h/.local/share/opencode"]],
    [{ HOME: "/h", OPENCODE_DB: "own/my.db" }, ["/h/.local/share/opencode", "/h/.local/share/opencode/own"]],
  ])("%j", (env, roots) => {
    expect(opencodeRoots(env)).toEqual(roots);
  });

  test.each([
    ["/r/opencode.db", { database: "/r/opencode.db" }],
    ["/r/opencode.db-wal", { database: "/r/opencode.db" }],
    ["/r/opencode-dev.db", { database: "/r/opencode-dev.db" }],
    ["/r/opencode.db-shm", null],
    ["/r/auth.json", null],
    ["/r/named.db", { database: "/r/named.db" }],
    ["/r/storage/session/p/ses_a.json", "storage"],
    ["/r/storage/part/msg_a/prt_a.json", "storage"],
    ["/r/storage/todo/ses_a.json", "storage"],
    ["/r/storage/session_diff/ses_a.json", null],
  ])("%s", (path, place) => {
    expect(placeOf("/r", path, { OPENCODE_DB: "/r/named.db" })).toEqual(place);
  });

  test.each(["/r/named.db", "/r//named.db", "/r/x/../named.db", "/r/./named.db", "named.db", "./named.db"])(
    "a database named as %s is found",
    (named) => {
      expect(placeOf("/r", "/r/named.db", { OPENCODE_DB: named })).toEqual({ database: "/r/named.db" });
    },
  );
});
