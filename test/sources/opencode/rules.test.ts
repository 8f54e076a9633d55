import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import { opencodeRoots, placeOf } from "../../../src/sources/opencode/places.ts";
import { OpencodeReader } from "../../../src/sources/opencode/reader.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource, rootsOf, Seen, servicesFor } from "../../support/read-source.ts";
import { addMessage, addSession, addTurn, newDatabase, type Turn } from "./database.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);
const running = { pid: 5, ppid: null, startTicks: "1", tty: null, comm: "opencode", locksHeld: [] };

describe("how a session ends", () => {
  const open: Turn = { prompt: "Do", reply: null };
  const tool = (name: string, status: string, input?: unknown): Turn => ({
    prompt: "Do",
    reply: "",
    tool: { name, status, input },
  });
  test.each<[string, Turn, string, string]>([
    ["a finished reply", { prompt: "Do", reply: "Done" }, "idle", "waiting-user"],
    ["a reply that is not finished", open, "interrupted", "working"],
    ["a call that runs", tool("bash", "running", { command: "make" }), "interrupted", "working"],
    ["a call that is over", tool("bash", "completed"), "idle", "waiting-user"],
    ["a rejected permission", tool("bash", "error"), "idle", "waiting-user"],
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

describe("where stores lie", () => {
  test.each([
    [{ HOME: "/h" }, ["/h/.local/share/opencode"]],
    [{ HOME: "/h", XDG_DATA_HOME: "/d" }, ["/d/opencode"]],
    [{ HOME: "/h", OPENCODE_DB: "/x/my.db" }, ["/h/.local/share/opencode", "/x"]],
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
});
