import { appendFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource, Seen } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { call, header, lines, oneSession, reply, result, type Short, user, write } from "./pi-file.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const TREE = "01a1f866-0d00-79c9-81b7-503fa7606e80";
const PLAIN = "01a1c4af-8680-705d-8e49-af1ecc236786";
const V1 = "019a8687-3800-711a-8dbc-56c7e26dfdc5";

async function readFixtureTree() {
  const root = join(copyOfFixture("pi"), "home/.pi/agent/sessions");
  return { root, ...(await readSource(piSource, [root], evidenceOf(NOW), { env: { FORKTAIL_NOW: NOW } })) };
}

describe("pages", () => {
  test("the timeline holds every branch, the context only what is seen, a left branch its own path", async () => {
    const { reader } = await readFixtureTree();
    const transcript = await reader.transcript(`pi:${TREE}`);
    const all = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 100 });
    expect(all).toMatchObject({ atStart: true, atEnd: true });
    expect(all.entries.filter((entry) => !entry.branch).map((entry) => entry.text)).toEqual([
      "renamed: valve",
      "Do A",
      "A does not work.",
    ]);
    expect(all.entries.filter((entry) => entry.forkable).map((entry) => entry.text)).toEqual([
      "Do A",
      "Do B",
      "Write it down",
    ]);
    expect(all.entries.find((entry) => entry.ref === "a691af45")?.via).toBe("label: fork point");
    expect(all.entries.filter((entry) => entry.kind === "step")).toMatchObject([
      { via: "cache_warm", usage: { cacheRead: 50_000, cost: 0.015 } },
    ]);
    const context = await transcript.page({ view: "context", at: { edge: "start" }, limit: 100 });
    expect(context.entries.map((entry) => entry.text)).toEqual([
      "Valve by way B.",
      "B works.",
      "Write it down",
      "Written.",
    ]);
    const left = await transcript.page({ view: "branch", of: "6518299b", at: { edge: "end" }, limit: 2 });
    expect(left.entries.map((entry) => entry.text)).toEqual(["Do A", "A does not work."]);
    const more = await transcript.page({ view: "branch", of: "6518299b", at: { before: left.before }, limit: 1 });
    expect(more.entries.map((entry) => entry.text)).toEqual(["renamed: valve"]);
    const at = await transcript.page({ view: "timeline", at: { ref: "b7b19547" }, limit: 1 });
    expect(at.entries[0]).toMatchObject({ text: "Do B", n: 12 });
    await expect(transcript.page({ view: "branch", of: "nope", at: { edge: "end" }, limit: 1 })).rejects.toThrow(
      "no branch",
    );
    const again = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 100 });
    expect(again.entries.every((entry, i) => entry === all.entries[i])).toBe(true);
  });

  test("every document of every session can be made", async () => {
    const { reader, seen } = await readFixtureTree();
    for (const key of seen.snapshots.keys()) {
      for (const view of reader.views(key)) {
        if (view === "timeline" || view === "context") continue;
        expect((await reader.document(key, view)).blocks.length).toBeGreaterThan(0);
      }
    }
    const branches = JSON.stringify(await reader.document(`pi:${TREE}`, "branches"));
    expect(branches).toContain("Do A");
    expect(branches).toContain("fork point");
    expect(JSON.stringify(await reader.document(`pi:${PLAIN}`, "team"))).toContain("Scout the repo");
  });
});

describe("a fork", () => {
  test("before a prompt holds the path to it, is nobody's own work, and leaves the original alone", async () => {
    const { root, reader } = await readFixtureTree();
    const before = treeHash(root);
    const plan = await reader.fork?.plan(`pi:${TREE}`, "b7b19547");
    expect(plan).toMatchObject({ allowed: true, ask: null, status: "idle" });
    expect(treeHash(root)).toEqual(before);
    const made = await reader.fork?.make(`pi:${TREE}`, "b7b19547");
    if (made === undefined) throw new Error("no fork");
    expect(basename(made.path)).toBe(`2026-11-20T12-00-00-000Z_${made.id}.jsonl`);
    const [head, ...entries] = readFileSync(made.path, "utf8").trimEnd().split("\n");
    const original = readdirSync(dirname(made.path)).find((name) => name.endsWith(`_${TREE}.jsonl`)) ?? "";
    expect(JSON.parse(head ?? "")).toMatchObject({ id: made.id, version: 3, cwd: "/home/dana/code/teapot-api" });
    expect(JSON.parse(head ?? "").parentSession).toBe(join(dirname(made.path), original));
    expect(entries.map((line) => JSON.parse(line).id)).toEqual([
      ...["db49c3f1", "5dc013e9", "b9b7d6fa", "7dade196", "a691af45", "1b7f2ed0", "7e15d984"],
    ]);
    const delta = await reader.apply([made.path], evidenceOf(NOW));
    const copy = delta.changed.find((one) => one.key === made.key);
    expect(copy).toMatchObject({ parent: { key: `pi:${TREE}`, relation: "fork" }, status: "idle", messages: 2 });
    expect(copy?.usage?.requests).toBe(2);
    expect(copy?.own?.requests).toBe(0);
    rmSync(made.path);
    const after = treeHash(root);
    for (const [name, facts] of Object.entries(before)) if (!facts.includes(" dir ")) expect(after[name]).toBe(facts);
    expect(Object.keys(after)).toEqual(Object.keys(before));
  });

  test("of a version 1 file gets the ids that file lacks", async () => {
    const { reader } = await readFixtureTree();
    const made = await reader.fork?.make(`pi:${V1}`, null);
    if (made === undefined) throw new Error("no fork");
    const entries = readFileSync(made.path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(entries[0]).toMatchObject({ type: "session", version: 3 });
    expect(entries.slice(1).map((one) => one.parentId)).toEqual([null, ...entries.slice(1, -1).map((one) => one.id)]);
    expect(entries.find((one) => one.type === "compaction")).toMatchObject({ firstKeptEntryId: entries[2].id });
    const { changed } = await reader.apply([made.path], evidenceOf(NOW));
    expect(changed.find((one) => one.key === made.key)?.own?.requests).toBe(0);
  });

  test("of a version 1 file has no word that version 3 lacks", async () => {
    const hook = { role: "hookMessage", customType: "h", content: "note", display: true };
    const bare = [user("", null, "Brew"), { type: "message", message: hook }, reply("", null)];
    const old = bare.map(({ id: _id, parentId: _parent, ...rest }) => rest);
    const { version: _version, ...head } = header("s1");
    const { root } = oneSession([head, ...old]);
    const { reader } = await readSource(piSource, [root], evidenceOf(NOW));
    const made = await reader.fork?.make("pi:s1", null);
    const [first, ...entries] = readFileSync(made?.path ?? "", "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(first.version).toBe(3);
    expect(entries.map((one) => one.message.role)).toEqual(["user", "custom", "assistant"]);
    expect(entries[1].message).toEqual({ ...hook, role: "custom" });
  });

  const aborted = (id: string, parentId: string, callId: string) => {
    const content = [{ type: "toolCall", id: callId, name: "bash", arguments: {} }];
    return reply(id, parentId, { content, stopReason: "aborted" });
  };
  const brew = user("u1", null, "Brew");
  test.each<[string, Short[], string[]]>([
    [
      "a result answers a call of an aborted reply, and another call is open",
      [brew, aborted("a1", "u1", "c0"), result("r1", "a1", "c0"), user("u2", "r1", "Go on"), call("a2", "u2", "c1")],
      ["u2"],
    ],
    [
      "two results answer the same call, and another call is open",
      [brew, call("a1", "u1", "c0"), result("r1", "a1", "c0"), result("r2", "r1", "c0"), call("a2", "r2", "c1")],
      [],
    ],
    [
      "a call has the id of an earlier one that was answered",
      [brew, call("a1", "u1", "c0"), result("r1", "a1", "c0"), user("u2", "r1", "Again"), call("a2", "u2", "c0")],
      ["u2"],
    ],
  ])("is offered where it is not refused: %s", async (_, entries, forkable) => {
    const last = String(entries.at(-1)?.id);
    const { root } = oneSession([header("s1"), ...entries, user("u9", last, "Stop"), reply("a9", "u9")]);
    const { reader } = await readSource(piSource, [root], evidenceOf(NOW));
    const transcript = await reader.transcript("pi:s1");
    const page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 99 });
    expect(page.entries.filter((one) => one.forkable).map((one) => one.ref)).toEqual(forkable);
    for (const { ref, forkable: offered } of page.entries) {
      expect((await reader.fork?.plan("pi:s1", ref))?.allowed).toBe(offered);
    }
  });

  const waiting = [header("s1"), user("u1", null, "Brew"), call("a1", "u1", "c1")];
  test.each([
    ["would leave a call without its result", waiting, null, "without its result"],
    [
      "is asked for before a reply",
      [header("s1"), user("u1", null, "Brew"), reply("a1", "u1")],
      "a1",
      "without its answer",
    ],
    ["would hold nothing", [header("s1"), user("u1", null, "Brew"), reply("a1", "u1")], "u1", "nothing was said"],
    ["names no entry", [header("s1"), user("u1", null, "Brew")], "zz", "no entry zz"],
  ])("that %s is refused, and nothing is left of it", async (_, entries, before, reason) => {
    const { root } = oneSession(entries);
    const { reader } = await readSource(piSource, [root], evidenceOf(NOW));
    const tree = treeHash(root);
    expect(await reader.fork?.plan("pi:s1", before)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining(reason),
    });
    await expect(reader.fork?.make("pi:s1", before)).rejects.toThrow(reason);
    expect(treeHash(root)).toEqual(tree);
  });

  test("of a session that is known to run is refused with pi's own fork, and so is a resume", async () => {
    const { root, path } = oneSession([header("s1"), user("u1", null, "Brew"), reply("a1", "u1")]);
    const one = {
      pid: 7,
      argv: ["pi", "--session", path],
      cwd: null,
      comm: "pi",
      ppid: null,
      startTicks: "1",
      tty: null,
    };
    const evidence = evidenceOf(NOW, processTable([{ ...one, locksHeld: [] }]));
    const { reader, seen } = await readSource(piSource, [root], evidence);
    expect(seen.byId("s1").can).toEqual([]);
    expect(await reader.fork?.plan("pi:s1", null)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining("pi --fork"),
    });
    expect(await reader.resume("pi:s1")).toMatchObject({ ok: false, reason: expect.stringContaining("process 7") });
  });
});

test("an original owns its entries although its copy says it began earlier", async () => {
  const entries = [user("u1", null, "Brew"), reply("a1", "u1")];
  const { root, path } = oneSession([header("s1"), ...entries]);
  const copy = { ...header("a0", { parentSession: path }), timestamp: "2026-11-19T09:00:00.000Z" };
  write(join(root, "2026-11-19T09-00-00-000Z_a0.jsonl"), [
    copy,
    ...entries,
    user("u2", "a1", "More"),
    reply("a2", "u2"),
  ]);
  const { seen } = await readSource(piSource, [root], evidenceOf(NOW));
  expect([seen.byId("s1").own?.requests, seen.byId("a0").own?.requests]).toEqual([1, 1]);
  expect(seen.byId("a0").usage?.requests).toBe(2);
});

describe("while we watch", () => {
  test("an append changes its session, and costs only itself", async () => {
    const { root, path } = oneSession([header("s1"), user("u1", null, "Brew")]);
    const { reader, seen } = await readSource(piSource, [root], evidenceOf(NOW));
    appendFileSync(path, lines([reply("a1", "u1")], "2026-11-20T10:00:00.000Z"));
    const delta = await reader.apply([path], evidenceOf(NOW));
    seen.take(delta);
    expect(delta).toMatchObject({ removed: [], problems: null });
    expect(seen.byId("s1")).toMatchObject({ status: "idle", messages: 2, updatedAt: "2026-11-20T10:00:00.000Z" });
    expect((await reader.apply([path], evidenceOf(NOW))).changed).toEqual([]);
  });

  test("a session that is deleted is gone, and its fork owns what it had copied", async () => {
    const { root, reader, seen } = await readFixtureTree();
    const fork = seen.byId("01a1c9d5-e280-733f-82f2-0c344c0a3072");
    expect(fork.own?.requests).toBe(1);
    const { path } = seen.byId(PLAIN);
    rmSync(path);
    seen.take(await reader.apply([path], evidenceOf(NOW)));
    expect(seen.snapshots.has(`pi:${PLAIN}`)).toBe(false);
    const left = seen.byId(fork.id);
    expect(left.own?.requests).toBe(4);
    expect(left).toMatchObject({ parent: null, extra: { forkOfMissing: true } });
    expect(seen.byId("01a1c4af-8e50-77ed-8ac0-7fea7a3ed14d")).toMatchObject({ hidden: true, parent: null });
    const fresh = new Seen();
    for await (const delta of reader.scan(evidenceOf(NOW))) fresh.take(delta);
    expect(fresh.snapshots.size).toBe(0);
    rmSync(join(root, "--home-dana-code-teapot-api--"), { recursive: true });
    const removed: string[] = [];
    for await (const delta of reader.scan(evidenceOf(NOW))) removed.push(...delta.removed);
    expect(removed).toHaveLength(6);
  });
});
