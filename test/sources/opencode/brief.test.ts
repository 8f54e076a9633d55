import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import { messageCount } from "../../../src/sources/opencode/both-stores.ts";
import { OpencodeReader } from "../../../src/sources/opencode/reader.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { ledgerOf } from "../../../src/usage/ledger.ts";
import { loadPrices } from "../../../src/usage/prices.ts";
import { evidenceOf, rootsOf, Seen, servicesFor } from "../../support/read-source.ts";
import { addSession, addSession2, addTurn, addVersion2, newDatabase, type Row2 } from "./database.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const LATE = Date.parse(NOW);
const evidence = evidenceOf(NOW);
/** Bytes for a list: a small session fits, and nothing with a reply of this length. */
const BUDGET = 2000;
const LONG = [{ type: "text", text: "steam ".repeat(1000) }];
const talk: Row2[] = [{ type: "user", seq: 0 }, { seq: 1 }];

function running(id: string) {
  const process = { pid: 5, ppid: null, startTicks: "1", tty: null, comm: "opencode", locksHeld: [], cwd: null };
  return evidenceOf(NOW, processTable([{ ...process, argv: ["opencode", "-s", id] }]));
}

async function read(root: string, seenBy = evidence, budget = BUDGET) {
  const reader = new OpencodeReader(rootsOf(opencodeSource, [root]), servicesFor(), budget);
  const seen = new Seen();
  for await (const delta of reader.scan(seenBy)) seen.take(delta);
  return { reader, seen };
}

async function version2() {
  const made = await newDatabase();
  addVersion2(made.database);
  return made;
}

/** A session that is too big for a list. */
const big: Row2[] = [{ type: "user", seq: 0 }, { seq: 1, data: { content: LONG } }, { seq: 2 }];

test("messages are counted once for all sessions of a look", async () => {
  const { database } = await newDatabase();
  for (const id of ["ses_a", "ses_b", "ses_c"]) addSession(database, id, [{ prompt: "Do", reply: "Did" }]);
  let asked = 0;
  const counting = new Proxy(database, {
    get(target, name) {
      if (name !== "prepare") return Reflect.get(target, name);
      return (sql: string) => {
        asked += 1;
        return target.prepare(sql);
      };
    },
  });
  const of = { database: counting, counted: new Map() };
  expect(["ses_a", "ses_b", "ses_c", "ses_d"].map((id) => messageCount(of, "message", id))).toEqual([2, 2, 2, 0]);
  expect(asked).toBe(1);
  database.close();
});

describe("what is read of sessions for a list", () => {
  test("the usage of a session that can hold no copy reads no other one", async () => {
    const { root, path, database } = await version2();
    addSession2(database, "ses_new", talk, { time_created: LATE, time_updated: LATE });
    addSession2(database, "ses_big", big, { time_updated: LATE - 1 });
    database.close();
    const { reader, seen } = await read(root);
    expect(await reader.requests("opencode:ses_new")).toHaveLength(1);
    seen.take(await reader.apply([path], evidence));
    expect(seen.byId("ses_big").extra.brief).toBe(true);
  });

  test("a session that is too big takes nothing from older ones, and the newest is read whatever its size", async () => {
    const { root, database } = await version2();
    addSession2(database, "ses_new", big, { time_updated: LATE });
    addSession2(database, "ses_big", big, { time_updated: LATE - 1 });
    addSession2(database, "ses_old", talk);
    database.close();
    const { seen } = await read(root);
    const brief = ["ses_new", "ses_big", "ses_old"].map((id) => seen.byId(id).extra.brief);
    expect(brief).toEqual([false, true, false]);
    expect(seen.byId("ses_old")).toMatchObject({ messages: 2, own: { requests: 1 } });
  });

  test("one that runs is read whole, and stays so when it goes on", async () => {
    const { root, path, database } = await newDatabase();
    addSession(database, "ses_new", [{ prompt: "Do", reply: "Did" }], { at: LATE });
    const turns = Array.from({ length: 20 }, (_, i) => ({ prompt: `Do ${i}`, reply: "Did" }));
    addSession(database, "ses_big", turns);
    const { reader, seen } = await read(root, running("ses_big"), 400);
    expect(seen.byId("ses_big")).toMatchObject({ messages: 40, extra: { brief: false }, usage: { requests: 20 } });
    addTurn(database, "ses_big", 20, LATE, { prompt: "More", reply: "", tool: { name: "bash", status: "running" } });
    seen.take(await reader.apply([path], evidence));
    database.close();
    expect(seen.byId("ses_big")).toMatchObject({ native: "interrupted", messages: 42, extra: { brief: false } });
  });

  test.each<[string, Row2[], Record<string, string | number | null>, object]>([
    ["whose outcome is recorded", big, { time_idle: LATE, idle_outcome: "failed" }, { status: "failed" }],
    ["that was suspended", big, { time_suspended: LATE }, { status: "interrupted", certainty: "recorded" }],
    ["whose turn is over", big, {}, { status: "idle", messages: 3 }],
    [
      "whose last prompt has no reply",
      [...big, { type: "user", seq: 3 }],
      { time_idle: LATE - 1e9, idle_outcome: "succeeded" },
      { status: "interrupted", certainty: "guess", messages: 4 },
    ],
    [
      "in the middle of a turn whose prompt lies far back",
      [...big, ...Array.from({ length: 20 }, (_, i) => ({ seq: 3 + i, data: { finish: "tool-calls" } }))],
      { time_idle: Date.parse("2026-11-20T09:00:00.500Z"), idle_outcome: "succeeded" },
      { status: "interrupted", certainty: "guess" },
    ],
    ["without a title", big, { title: null }, { title: "prompt 0", name: null }],
    ["with a title", big, { title: "Teapot" }, { title: "Teapot" }],
    [
      "whose row records sums",
      big,
      { tokens_input: 7, tokens_output: 3, cost: 0.5 },
      { usage: { input: 7, output: 3, cost: 0.5, costBasis: "recorded" } },
    ],
    ["whose row records none", big, {}, { usage: null, own: null }],
    [
      "whose end was reverted further back than is looked",
      [...big, ...Array.from({ length: 20 }, (_, i) => ({ seq: 3 + i }))],
      { revert: JSON.stringify({ messageID: "ses_big_2" }) },
      { status: "idle", messages: 2 },
    ],
  ])("a session %s says so without being read", async (_, rows, row, expected) => {
    const { root, database } = await version2();
    addSession2(database, "ses_new", talk, { time_updated: LATE });
    addSession2(database, "ses_big", rows, row);
    database.close();
    expect((await read(root)).seen.byId("ses_big")).toMatchObject(expected);
  });
});

describe("copies among sessions that were not read for a list", () => {
  const old = { prompt: "Do", reply: "Did", tokens: 321 };

  /** `ses_a`, its copies by version 1's fork, and a newer session that takes the whole budget. */
  async function copies(at: Record<string, number>) {
    const made = await newDatabase();
    addSession(made.database, "ses_a", [old], { title: "Tea" });
    made.database.exec("update session set tokens_input = 321, tokens_output = 10, cost = 0.01");
    for (const [id, time] of Object.entries(at)) {
      addSession(made.database, id, [], { title: "Tea (fork #1)", at: time });
      made.database
        .prepare(
          "insert into message select replace(id, 'ses_a', ?), ?, time_created, time_updated, data from message where session_id = 'ses_a'",
        )
        .run(id, id);
    }
    return made;
  }

  test.each([
    ["both are old", { ses_b: LATE - 1000 }, { prompt: "New", reply: null }],
    ["the copy alone was read", { ses_b: LATE + 1000 }, null],
  ])("are counted once when %s", async (_, at, newest) => {
    const { root, database } = await copies(at);
    if (newest !== null) addSession(database, "ses_new", [newest], { at: LATE + 9000 });
    database.close();
    const { reader, seen } = await read(root, evidence, 1);
    const sessions = await Promise.all(
      [...seen.snapshots.values()].map(async (snapshot) => ({
        snapshot,
        requests: await reader.requests(snapshot.key),
      })),
    );
    const options = { by: "session", since: null, until: null, timezone: "UTC" } as const;
    const ledger = ledgerOf(sessions, options, await loadPrices());
    expect([ledger.total.input, ledger.duplicates]).toEqual([321 + (newest === null ? 0 : 100), 1]);
    const listed = sessions.reduce((sum, { snapshot }) => sum + (snapshot.own?.input ?? 0), 0);
    expect(listed).toBe(ledger.total.input);
  });
});
