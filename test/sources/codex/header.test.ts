import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { readForward } from "../../support/walk-pages.ts";
import { append, Rollout, uuid7 } from "./rows.ts";

const NOBODY = evidenceOf("2026-11-20T12:00:00.000Z");
const DAY = "2026-11-10T09:00:00.000Z";
const LATER = "2026-11-10T10:00:00.000Z";

const talk = (options: ConstructorParameters<typeof Rollout>[1] = {}) =>
  new Rollout(DAY, options).prompt("hello").reply("hi").record("r1", 100, 10).done();

/** Its text with another first line. */
function withHeader(one: Rollout, first: string): string {
  return `${first}\n${one.text().slice(one.text().indexOf("\n") + 1)}`;
}

function put(path: string, content: string | Buffer): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

test("blank lines before the header are nothing", async () => {
  const root = temporaryDirectory();
  const one = talk();
  put(one.path(root), `\n \n${one.text()}`);
  const { seen } = await readSource(codexSource, [root], NOBODY);
  expect(seen.byId(one.id)).toMatchObject({ damage: [], cwd: "/work/pot", can: ["fork", "revert", "resume"] });
});

describe("a thread whose first line is damaged", () => {
  const header = (payload: object): string => JSON.stringify({ timestamp: DAY, type: "session_meta", payload });
  const torn = talk().text().split("\n")[0]?.slice(5) ?? "";

  test.each([
    ["torn", torn],
    ["no JSON", "{bad"],
    ["another record", JSON.stringify({ timestamp: DAY, ordinal: 0, type: "world_state", payload: {} })],
    ["a header without an id", header({ cwd: "/work/other" })],
    ["a header whose id is a path", header({ id: "../../etc", cwd: "/work/other" })],
  ])("(%s) is the one its name tells, and loses that line", async (_, first) => {
    const root = temporaryDirectory();
    const one = talk();
    put(one.path(root), withHeader(one, first));
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    expect([...seen.snapshots.keys()]).toEqual([`codex:${one.id}`]);
    expect(seen.byId(one.id)).toMatchObject({
      title: "hello",
      native: "idle",
      messages: 2,
      usage: { input: 100, requests: 1 },
      own: { input: 100, requests: 1 },
      cwd: "/work/pot",
      parent: null,
      damage: [{ kind: "bad-line", bytes: null, line: 1 }],
      extra: { cwdFrom: "turn_context", kind: "user" },
    });
    expect(seen.problems).toEqual([]);
    const all = await readForward(await reader.transcript(`codex:${one.id}`), { view: "timeline" }, 50);
    expect(all.filter((entry) => ["message", "text"].includes(entry.kind)).map((entry) => entry.text)).toEqual([
      "hello",
      "hi",
    ]);
  });

  test("is not forked or resumed: only its header told codex which thread it is", async () => {
    const root = temporaryDirectory();
    const one = talk().prompt("more").reply("yes").done();
    put(one.path(root), withHeader(one, "{bad"));
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const key = `codex:${one.id}`;
    expect(seen.byId(one.id).can).toEqual([]);
    const page = await (await reader.transcript(key)).page({ view: "timeline", at: { edge: "end" }, limit: 99 });
    expect(page.entries.filter((entry) => entry.forkable)).toEqual([]);
    const [plan, resume] = [await reader.fork?.plan(key, null), await reader.resume(key)];
    expect(plan?.allowed === false ? plan.reason : "").toContain("header");
    expect(resume.ok ? "" : resume.reason).toContain("header");
  });

  test("is not forked where it was reverted either: the copy would begin with that line", async () => {
    const root = temporaryDirectory();
    const before = talk().prompt("kept").reply("yes").record("r2", 100, 10).done();
    const ordinal = before.rows.length;
    put(before.path(root), withHeader(before.prompt("lost").done(), "{bad"));
    const meta = { history_base: { thread_id: before.id, end_ordinal_exclusive: ordinal } };
    const after = new Rollout(LATER, { id: before.id, rollout: uuid7(LATER), ordinal, meta })
      .prompt("new")
      .reply("b")
      .done();
    after.prompt("newer").reply("c").done().write(root);
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const key = `codex:${before.id}`;
    expect(seen.byId(before.id)).toMatchObject({
      title: "hello",
      messages: 8,
      damage: [{ kind: "bad-line", line: 1 }],
    });
    const all = await readForward(await reader.transcript(key), { view: "timeline" }, 50);
    expect(all.filter((entry) => entry.forkable).map((entry) => entry.text)).toEqual(["new", "newer"]);
    const ref = all.find((entry) => entry.text === "kept")?.ref ?? "";
    const plan = await reader.fork?.plan(key, ref);
    expect(plan?.allowed === false ? plan.reason : "").toContain("header");
  });

  test("is a legacy fork of the thread whose header stands second, and not that thread", async () => {
    const root = temporaryDirectory();
    const parent = new Rollout(DAY, { paginated: false }).prompt("parent").reply("a").total([100, 10]).done();
    const path = parent.write(root);
    const fork = new Rollout(LATER, { paginated: false, meta: { forked_from_id: parent.id, cwd: "/work/fork" } });
    for (const row of parent.rows) fork.raw(row);
    fork.prompt("fork").reply("b").total([300, 30], [200, 20]).done();
    put(fork.path(root), fork.text().slice(3));
    for (const gone of [false, true]) {
      const { seen } = await readSource(codexSource, [root], NOBODY);
      expect(seen.byId(fork.id)).toMatchObject({
        usage: { input: 300, requests: 2 },
        own: gone ? { input: 300, requests: 2 } : { input: 200, requests: 1 },
        parent: { key: `codex:${parent.id}`, relation: "fork" },
        extra: { lastPrompt: "fork" },
      });
      if (gone) expect([...seen.snapshots.keys()]).toEqual([`codex:${fork.id}`]);
      else {
        expect(seen.byId(parent.id)).toMatchObject({
          path,
          usage: { input: 100, requests: 1 },
          extra: { lastPrompt: "parent", files: [path] },
        });
      }
      writeFileSync(path, "");
    }
  });

  test("of a fork of a fork points at the nearer one", async () => {
    const root = temporaryDirectory();
    const first = new Rollout(DAY, { paginated: false }).prompt("one").reply("a").total([100, 10]).done();
    const second = new Rollout(LATER, { paginated: false, meta: { forked_from_id: first.id } });
    for (const row of first.rows) second.raw(row);
    second.prompt("two").reply("b").total([300, 30], [200, 20]).done();
    const third = new Rollout("2026-11-10T11:00:00.000Z", { paginated: false, meta: { forked_from_id: second.id } });
    for (const row of second.rows) third.raw(row);
    third.prompt("three").reply("c").total([600, 60], [300, 30]).done();
    for (const one of [first, second]) one.write(root);
    put(third.path(root), third.text().slice(3));
    const { seen } = await readSource(codexSource, [root], NOBODY);
    expect(seen.byId(third.id)).toMatchObject({ own: { input: 300 }, parent: { key: `codex:${second.id}` } });
  });

  test("counts from what its base left, which only the header told", async () => {
    const root = temporaryDirectory();
    const base = { history_base: { thread_id: "gone", end_ordinal_exclusive: 9 } };
    const one = new Rollout(DAY, { ordinal: 9, meta: base }).prompt("p").reply("a").total([500, 50], [200, 20]).done();
    for (const text of [one.text(), one.text().slice(3)]) {
      put(one.path(root), text);
      const { seen } = await readSource(codexSource, [root], NOBODY);
      expect(seen.byId(one.id).own).toMatchObject({ input: 200, output: 20, requests: 1 });
    }
  });

  test("may be compressed, and may be of the first generation, which records no usage", async () => {
    const root = temporaryDirectory();
    const one = talk();
    put(`${one.path(root)}.zst`, zstdCompressSync(Buffer.from(one.text().slice(3))));
    const first = new Rollout("2025-05-01T09:00:00.000Z");
    const said = ["<environment_context>\n  <cwd>/work/old</cwd>\n</environment_context>", "Old one"].map((text) =>
      JSON.stringify({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
    );
    put(first.path(root), ["{bad", ...said, ""].join("\n"));
    const { seen } = await readSource(codexSource, [root], NOBODY);
    expect(seen.byId(one.id)).toMatchObject({ title: "hello", own: { requests: 1 } });
    expect(seen.byId(first.id)).toMatchObject({ title: "Old one", cwd: "/work/old", usage: null });
  });

  test("goes on being read where it grows", async () => {
    const root = temporaryDirectory();
    const one = talk();
    const path = put(one.path(root), one.text().slice(3));
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const rows = one.rows.length;
    append(path, one.prompt("more").reply("yes").done().rows.slice(rows));
    seen.take(await reader.apply([path], NOBODY));
    expect(seen.byId(one.id)).toMatchObject({ messages: 4, damage: [{ line: 1 }] });
  });

  test.each([
    ["nothing was said behind it", "rollout-2026-11-10T09-00-00-abc.jsonl", "{bad\n"],
    ["its name tells no thread", "rollout-2026-11-10T09-00-00--abc.jsonl", talk().text().slice(3)],
  ])("is counted and not listed where %s", async (_, name, text) => {
    const root = temporaryDirectory();
    put(join(root, "sessions", "2026", "11", "10", name), text);
    const { seen } = await readSource(codexSource, [root], NOBODY);
    expect(seen.snapshots.size).toBe(0);
    expect(seen.problems.map((problem) => problem.kind)).toEqual(["not-sessions"]);
  });
});
