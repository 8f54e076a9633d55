import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { planResume } from "../../../src/actions/resume.ts";
import { openWorkplace, readEverything } from "../../../src/commands/context.ts";
import { processTable } from "../../../src/probe/processes.ts";
import { FreshIds } from "../../../src/sources/opencode/fresh-ids.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { makeDirectory, temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { addSession, addSession2, addVersion2, newDatabase, type Turn } from "./database.ts";
import { fakeProgram } from "./fake-program.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);
const KEY = "opencode:ses_a";

async function twoTurns(more: { fault?: string; path?: string; title?: string } = {}) {
  const made = await newDatabase();
  const directory = makeDirectory(dirname(made.root), "pot");
  addSession(
    made.database,
    "ses_a",
    [
      { prompt: "Do", reply: "Did" },
      { prompt: "More", reply: "Most" },
    ],
    { directory, title: more.title ?? "Tea" },
  );
  made.database.close();
  const env = { PATH: more.path ?? fakeProgram(), FORKTAIL_NOW: NOW, FAKE_OPENCODE: more.fault ?? "" };
  return { ...made, directory, env, ...(await readSource(opencodeSource, [made.root], evidence, { env })) };
}

describe("a fork goes through OpenCode itself", () => {
  test("at a prompt: export, cut, import under fresh ids in the session's directory", async () => {
    const { root, path, reader, directory } = await twoTurns();
    const before = treeHash(root);
    const plan = await reader.fork?.plan(KEY, "msg_ses_a_1a");
    expect(plan).toMatchObject({ allowed: true, status: "idle", ask: null });
    expect(JSON.stringify(plan)).toContain("keeps 2 of 4 messages");
    expect(treeHash(root)).toEqual(before);
    const made = await reader.fork?.make(KEY, "msg_ses_a_1a");
    if (made === undefined) throw new Error("no fork");
    expect(made.id).toMatch(/^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/u);
    expect(made.resume).toEqual({ argv: ["opencode", "-s", made.id], cwd: directory });
    const { changed } = await reader.apply([path], evidence);
    const copy = changed.find((one) => one.id === made.id);
    expect(copy).toMatchObject({
      title: "Tea (fork #1)",
      messages: 2,
      parent: { key: KEY, relation: "fork" },
      usage: { requests: 1 },
      own: { requests: 0 },
    });
    const transcript = await reader.transcript(made.key);
    const page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 9 });
    expect(page.entries.map((one) => one.text)).toEqual(["Do", "Did"]);
    expect(page.entries.map((one) => one.ref.slice(0, 4))).toEqual(["msg_", "msg_"]);
    expect(readFileSync(join(dirname(root), "calls.txt"), "utf8")).toBe(`export ${directory}\nimport ${directory}\n`);
    expect(changed.some((one) => one.id === "ses_a" && one.messages !== 4)).toBe(false);
  });

  test.each([
    ["a directory of another name", "backup/oc", "opencode.db", null],
    ["a directory of another name, while the variable names another database", "backup/oc", "opencode.db", "home"],
    ["another channel's database", "backup/opencode", "opencode-dev.db", null],
    ["the usual place, while the variable names another database", "home/.local/share/opencode", "opencode.db", "x"],
  ])("of a session in %s is made in the very database it lies in", async (_, where, name, named) => {
    const home = temporaryDirectory();
    const places = { home: join(home, "home/.local/share/opencode/opencode.db"), x: join(home, "x", "my.db") };
    const path = join(home, where, name);
    const directory = makeDirectory(home, "pot");
    for (const one of new Set([...Object.values(places), path])) {
      const { database } = await newDatabase(one);
      addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }], { directory, title: one });
      database.close();
    }
    const variable = named === null ? {} : { OPENCODE_DB: named === "x" ? places.x : places.home };
    const env = { PATH: fakeProgram(), FORKTAIL_NOW: NOW, HOME: join(home, "home"), ...variable };
    const others = Object.values(places).filter((one) => one !== path);
    const before = others.map((one) => treeHash(dirname(one)));
    const { reader, seen } = await readSource(opencodeSource, [join(home, where)], evidence, { env });
    const elsewhere = ["env", `OPENCODE_DB=${path}`, "opencode", "-s"];
    expect(seen.byId("ses_a").resume?.argv).toEqual([...elsewhere, "ses_a"]);
    const made = await reader.fork?.make(KEY, null);
    expect(made?.resume?.argv).toEqual([...elsewhere, made?.id]);
    const { changed } = await reader.apply([path], evidence);
    expect(changed.map((one) => one.title)).toContain(`${path} (fork #1)`);
    expect(others.map((one) => treeHash(dirname(one)))).toEqual(before);
  });

  test("in the usual place needs no word of where that is", async () => {
    const home = temporaryDirectory();
    const path = join(home, ".local/share/opencode/opencode.db");
    const { root, database } = await newDatabase(path);
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }], { directory: home });
    database.close();
    for (const more of [{}, { OPENCODE_DB: path }]) {
      const { seen } = await readSource(opencodeSource, [root], evidence, { env: { HOME: home, ...more } });
      expect(seen.byId("ses_a").resume).toEqual({ argv: ["opencode", "-s", "ses_a"], cwd: home });
    }
  });

  test("a resume that has to say where a session lies names that, and needs the program", async () => {
    const { root, database } = await newDatabase();
    const directory = makeDirectory(dirname(root), "pot");
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }], { directory });
    database.close();
    const plan = async (path: string) => {
      const env = { PATH: path, HOME: "/home/nobody", FORKTAIL_STATE_DIR: temporaryDirectory() };
      const place = await openWorkplace({ root: [`opencode=${root}`] }, { env, only: true });
      const snapshot = (await readEverything(place)).sessions.get(KEY);
      return snapshot && (await planResume(place, snapshot));
    };
    const command = { argv: ["env", `OPENCODE_DB=${join(root, "opencode.db")}`, "opencode", "-s", "ses_a"] };
    expect(await plan(fakeProgram())).toMatchObject({ kind: "run", command });
    expect(await plan(temporaryDirectory())).toMatchObject({
      kind: "cannot",
      reason: "opencode is not on PATH: install it, or copy the command with y",
      command,
    });
  });

  test.each([
    ["data/opencode", ["env", "XDG_DATA_HOME=HERE", "opencode", "-s", "ses_j"]],
    ["data/oc", null],
  ])("files from before databases in %s are resumed by naming their place, if one can", async (where, argv) => {
    const home = temporaryDirectory();
    const root = makeDirectory(home, where);
    writeFileSync(
      join(makeDirectory(root, "storage/session/p"), "ses_j.json"),
      JSON.stringify({ id: "ses_j", directory: home, title: "Old", time: { created: 1, updated: 2 } }),
    );
    const env = { HOME: home, PATH: fakeProgram() };
    const { reader, seen } = await readSource(opencodeSource, [root], evidence, { env });
    const expected = argv?.map((word) => word.replace("HERE", dirname(root))) ?? null;
    expect(seen.byId("ses_j").resume?.argv ?? null).toEqual(expected);
    expect((await reader.resume("opencode:ses_j")).ok).toBe(argv !== null);
  });

  test.each([
    ["is imported only in part", "half", "2 messages are there"],
    ["cannot be imported", "fail", "no space left"],
  ])("a copy that %s is taken back", async (_, fault, reason) => {
    const { path, reader } = await twoTurns({ fault });
    await expect(reader.fork?.make(KEY, "msg_ses_a_1a")).rejects.toThrow(reason);
    const { changed, removed } = await reader.apply([path], evidence);
    expect([changed, removed]).toEqual([[], []]);
  });

  test("is refused with the reason where the program or the directory is missing, or it runs", async () => {
    const none = await twoTurns({ path: temporaryDirectory() });
    const why = async (reader: typeof none.reader, before: string | null) => {
      const plan = await reader.fork?.plan(KEY, before);
      return plan?.allowed === false ? plan.reason : "allowed";
    };
    expect(await why(none.reader, null)).toContain("not on PATH");
    await expect(none.reader.fork?.make(KEY, null)).rejects.toThrow("not on PATH");
    const some = await twoTurns();
    expect(await why(some.reader, "msg_ses_a_1b")).toContain("without its answer");
    expect(await why(some.reader, "msg_ses_a_0a")).toContain("nothing was said");
    expect(await why(some.reader, "nope")).toContain("no entry nope");
    const one = { pid: 5, ppid: null, startTicks: "1", tty: null, comm: "opencode", locksHeld: [], cwd: null };
    some.reader.tick(evidenceOf(NOW, processTable([{ ...one, argv: ["opencode", "-s", "ses_a"] }])));
    expect(await why(some.reader, null)).toContain("opencode -s ses_a --fork");
    expect(await some.reader.resume(KEY)).toMatchObject({ ok: false, reason: expect.stringContaining("process 5") });
    some.reader.tick(evidence);
    expect(await some.reader.resume(KEY)).toMatchObject({ ok: true, command: { argv: ["opencode", "-s", "ses_a"] } });
  });

  test("a session of the JSON files can neither be forked nor resumed by an OpenCode with a database", async () => {
    const root = join(copyOfFixture("opencode"), "home", ".local/share/opencode");
    const env = { PATH: fakeProgram() };
    const { reader } = await readSource(opencodeSource, [root], evidence, { env });
    const key = "opencode:ses_1ZmcHenF5ZtAAgREFv3JpzL41A";
    expect(await reader.fork?.plan(key, null)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining("before 1.2"),
    });
    expect(await reader.resume(key)).toMatchObject({ ok: false, reason: expect.stringContaining("before 1.2") });
  });
});

describe("what can be done with a session", () => {
  const old = (root: string, id: string) =>
    writeFileSync(
      join(makeDirectory(root, "storage/session/p"), `${id}.json`),
      JSON.stringify({ id, directory: root, title: id, time: { created: 1, updated: 2 } }),
    );

  test("what is always refused is not offered", async () => {
    const { root, database } = await newDatabase();
    addVersion2(database);
    old(root, "ses_j");
    const can = async () => {
      const { reader, seen } = await readSource(opencodeSource, [root], evidence);
      const offered = [...seen.snapshots.values()].map((one) => [one.id, one.can] as const);
      expect((await reader.resume("opencode:ses_j")).ok).toBe(seen.byId("ses_j").can.includes("resume"));
      return Object.fromEntries(offered);
    };
    expect(await can()).toEqual({ ses_j: [] });
    addSession(database, "ses_a", [{ prompt: "Do", reply: "Did" }]);
    addSession2(database, "ses_b", [{ type: "user", seq: 0 }]);
    const all = ["fork", "revert", "resume"];
    expect(await can()).toEqual({ ses_a: all, ses_b: all, ses_j: [] });
    database.close();
    rmSync(join(root, "opencode.db"));
    expect(await can()).toEqual({ ses_j: ["resume"] });
    writeFileSync(join(root, "opencode.db"), "no database ".repeat(100));
    expect(await can()).toEqual({ ses_j: [] });
  });
});

describe("where a fork may end", () => {
  const done: Turn = { prompt: "Do", reply: "Did" };
  const killed: Turn = { prompt: "Do", reply: null };
  const calling: Turn = { prompt: "Do", reply: "", tool: { name: "bash", status: "running" } };
  test.each<[string, Turn[], (string | null)[], object]>([
    ["a reply killed in the middle", [done, killed, done, done], [null, "1a", "3a"], { "2a": "never finished" }],
    ["a call killed in the middle", [done, calling, done, done], [null, "1a", "3a"], { "2a": "never finished" }],
    ["a reply killed just before", [done, killed, done], ["1a", null], { "2a": "the reply before it never finished" }],
    ["a reply killed last", [done, done, killed], ["1a", "2a"], { all: "its last reply never finished" }],
    ["a call killed last", [done, calling], ["1a"], { all: "a call would be left without its result" }],
  ])("with %s", async (_, turns, allowed, refused) => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", turns, { directory: root });
    database.close();
    const { reader } = await readSource(opencodeSource, [root], evidence, { env: { PATH: fakeProgram() } });
    const plan = (at: string | null) => reader.fork?.plan(KEY, at === null ? null : `msg_ses_a_${at}`);
    for (const at of allowed) expect([at, (await plan(at))?.allowed]).toEqual([at, true]);
    for (const [at, reason] of Object.entries(refused)) {
      const answer = await plan(at === "all" ? null : at);
      expect(answer).toMatchObject({ allowed: false, reason: expect.stringContaining(reason) });
    }
    const page = await (await reader.transcript(KEY)).page({ view: "timeline", at: { edge: "start" }, limit: 99 });
    const offered = page.entries.flatMap((one) => (one.forkable ? [one.ref.slice("msg_ses_a_".length)] : []));
    const last = turns.map((_turn, i) => `${i}a`).filter((at) => at !== "0a" && !(at in refused));
    expect(offered).toEqual(last);
  });
});

test("the copy of a session without a title has none either, and is still known as a copy", async () => {
  const title = "New session - 2026-11-20T09:00:00.000Z";
  const { path, reader, database } = await twoTurns({ title });
  expect(database.isOpen).toBe(false);
  const made = await reader.fork?.make(KEY, "msg_ses_a_1a");
  const { changed } = await reader.apply([path], evidence);
  expect(changed.find((one) => one.id === made?.id)).toMatchObject({ title: "Do", name: null, parent: { key: KEY } });
});

test("fresh ids sort as OpenCode's do: messages upwards, sessions downwards", () => {
  const early = new FreshIds(1_795_000_000_000);
  const late = new FreshIds(1_795_000_000_001);
  const messages = [early.message(), early.message(), late.message()];
  expect([...messages].sort()).toEqual(messages);
  expect(late.session() < early.session()).toBe(true);
});
