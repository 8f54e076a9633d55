import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Manager, parseEntry } from "../../../src/sources/codebot/index.ts";
import { codebotSource } from "../../../src/sources/codebot/source.ts";
import type { SourceAction, SourceReader } from "../../../src/sources/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { assistant, calls, header, line, result, text, user, writeSession } from "./lines.ts";

const LATER = evidenceOf("2026-11-01T00:00:00Z");
const NOW = { env: { FORKTAIL_NOW: "2026-11-01T12:00:00Z" } };

async function opened(root: string) {
  return readSource(codebotSource, [root], LATER, NOW);
}

function must(reader: SourceReader) {
  if (reader.fork === null) throw new Error("codebot can fork");
  return reader.fork;
}

test("a fork is a new header and the lines of the path, byte for byte, and codebot opens it", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const before = treeHash(root);
  const { reader, seen } = await opened(root);
  const original = readFileSync(seen.byId("1a2b3c4d").path, "utf8").split("\n");
  const plan = await must(reader).plan("codebot:1a2b3c4d", "447529fb");
  expect(plan).toMatchObject({ allowed: true, ask: null, status: "idle" });
  const made = await must(reader).make("codebot:1a2b3c4d", "447529fb");
  expect(basename(made.path)).toBe(`2026-11-01_${made.id}.jsonl`);
  expect(dirname(made.path)).toBe(dirname(seen.byId("1a2b3c4d").path));
  const [first = "", ...rest] = readFileSync(made.path, "utf8").split("\n");
  expect(rest).toEqual([...original.slice(1, 5), ""]);
  const created = "2026-11-01T12:00:00Z";
  expect(parseEntry(first)).toEqual({
    ...{ kind: "header", id: "h0", parentId: "", timestamp: created },
    data: { version: 3, session_id: made.id, cwd: "/proj/demo/ledger", created },
  });
  const store = new Manager(dirname(made.path)).open(made.id);
  expect(store.buildSnapshot().messages).toHaveLength(2);
  store.close();
  expect(new Manager(dirname(made.path)).mostRecent()?.id).toBe(made.id);
  expect(made.resume).toEqual({ argv: ["codebot", "-c"], cwd: "/proj/demo/ledger" });
  // Nothing else was touched, and nothing is left over.
  const after = treeHash(root);
  for (const [path, facts] of Object.entries(before)) {
    if (path !== "./projects/-proj-demo-ledger") expect(after[path]).toBe(facts);
  }
  expect(Object.keys(after).filter((path) => !(path in before))).toEqual([
    `./projects/-proj-demo-ledger/${basename(made.path)}`,
  ]);
  seen.take(await reader.apply([made.path], LATER));
  expect(seen.snapshots.get(made.key)).toMatchObject({
    parent: { key: "codebot:1a2b3c4d", relation: "fork" },
    messages: 2,
    own: { requests: 0 },
  });
});

test("without a point everything on the current branch is copied", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const { reader, seen } = await opened(root);
  for (const id of ["7f00a1e2", "d15ea5e0", "b16b00c5", "60a1b0d9"]) {
    const made = await must(reader).make(`codebot:${id}`, null);
    const lines = readFileSync(made.path, "utf8").split("\n").slice(1);
    expect(lines).toEqual(readFileSync(seen.byId(id).path, "utf8").split("\n").slice(1));
  }
});

test("where forkable is said a fork is allowed, and nowhere else on the branch", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const { reader, seen } = await opened(root);
  for (const { key, id } of seen.snapshots.values()) {
    const transcript = await reader.transcript(key);
    const { entries } = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 10_000 });
    for (const entry of entries) {
      const plan = await must(reader).plan(key, entry.ref);
      expect([id, entry.ref, plan.allowed]).toEqual([id, entry.ref, entry.forkable]);
    }
  }
});

test.each([
  ["the header", "h0", "nothing stands before the header: start a new session instead"],
  ["the first of two results", "c", "2 calls would be left without results: fork before b, which asks for them"],
  ["the second of two results", "d", "1 call would be left without results: fork before b, which asks for them"],
  ["a part of a message", "b:1", "a message is kept or left as a whole: fork before b"],
  ["an unknown entry", "zz", "there is no entry zz"],
])("a fork before %s is refused with the reason", async (_name, before, reason) => {
  const root = join(temporaryDirectory(), ".codebot");
  const turn = [user("a", "h0", "go"), calls("b", "a", "t1", "t2"), result("c", "b", "t1"), result("d", "c", "t2")];
  writeSession(root, "aaaaaaaa", text(header(), ...turn, assistant("e", "d", "done")));
  const { reader } = await opened(root);
  expect(await must(reader).plan("codebot:aaaaaaaa", before)).toEqual({ allowed: false, reason });
  await expect(must(reader).make("codebot:aaaaaaaa", before)).rejects.toThrow(reason);
  expect(readdirSync(join(root, "projects", "-proj-x"))).toHaveLength(1);
  expect((await must(reader).plan("codebot:aaaaaaaa", "b")).allowed).toBe(true);
  expect((await must(reader).plan("codebot:aaaaaaaa", "e")).allowed).toBe(true);
});

test("a call that a compaction kept is named by the compaction", async () => {
  const root = join(temporaryDirectory(), ".codebot");
  const kept = JSON.parse(calls("x", "", "k1")).data;
  const lines = [
    ...[user("a", "h0", "go"), calls("b", "a", "t1"), result("c", "b", "t1")],
    line("compaction", "d", "c", { summary: "s", messages: [kept] }),
    ...[result("e", "d", "k1"), assistant("f", "e", "done")],
  ];
  writeSession(root, "aaaaaaaa", text(header(), ...lines));
  const { reader } = await opened(root);
  expect(await must(reader).plan("codebot:aaaaaaaa", "e")).toEqual({
    allowed: false,
    reason: "1 call would be left without results: fork before d, which asks for them",
  });
  expect((await must(reader).plan("codebot:aaaaaaaa", "d")).allowed).toBe(true);
});

test.each([
  ["that ends in a question", []],
  ["with an active goal", [line("goal_state", "d", "c", { objective: "ship", status: "active" })]],
])("a fresh copy %s is not at work: the time of its header is none of the conversation", async (_name, more) => {
  const root = join(temporaryDirectory(), ".codebot");
  const turns = more.length === 0 ? [user("c", "b", "more")] : [assistant("c", "b", "done")];
  writeSession(root, "aaaaaaaa", text(header(), user("a", "h0", "go"), assistant("b", "a", "yes"), ...turns, ...more));
  const { reader, seen } = await opened(root);
  const plan = await must(reader).plan("codebot:aaaaaaaa", null);
  const made = await must(reader).make("codebot:aaaaaaaa", null);
  seen.take(await reader.apply([made.path], evidenceOf(NOW.env.FORKTAIL_NOW)));
  const { status, updatedAt } = seen.byId(made.id);
  expect(updatedAt).toBe("2026-11-01T12:00:00.000Z");
  expect(status).toBe(more.length === 0 ? "interrupted" : "idle");
  expect(plan).toMatchObject({ allowed: true, status });
});

test("a session that ends with open calls is not copied whole, but before them", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const { reader } = await opened(root);
  const whole = await must(reader).plan("codebot:70000001", null);
  expect(whole).toEqual({
    allowed: false,
    reason: "2 calls would be left without results: fork before 5ede74e9, which asks for them",
  });
  expect((await must(reader).plan("codebot:70000001", "5ede74e9")).allowed).toBe(true);
});

test("a broken chain is not copied; lines that are bad are left out of a copy", async () => {
  const root = join(temporaryDirectory(), ".codebot");
  writeSession(root, "aaaaaaaa", text(header(), user("a", "gone", "x")));
  writeSession(
    root,
    "bbbbbbbb",
    `${text(header("bbbbbbbb"), user("a", "h0", "x"), "{", assistant("b", "a", "y"))}{torn`,
  );
  const { reader } = await opened(root);
  expect(await must(reader).plan("codebot:aaaaaaaa", null)).toMatchObject({ allowed: false });
  const made = await must(reader).make("codebot:bbbbbbbb", null);
  const store = new Manager(dirname(made.path)).open(made.id);
  expect(store.buildSnapshot().messages).toHaveLength(2);
  store.close();
});

test("an unterminated last line that is a record is copied with its LF", async () => {
  const root = join(temporaryDirectory(), ".codebot");
  writeSession(root, "aaaaaaaa", text(header(), user("a", "h0", "x")) + assistant("b", "a", "y"));
  const { reader } = await opened(root);
  const made = await must(reader).make("codebot:aaaaaaaa", null);
  expect(readFileSync(made.path, "utf8").endsWith(`${assistant("b", "a", "y")}\n`)).toBe(true);
});

function action(reader: SourceReader, key: string, id: string): SourceAction {
  const found = reader.actions(key).find((one) => one.id === id);
  if (found === undefined) throw new Error(`no action ${id}`);
  return found;
}

test("a branch is promoted to a session of its own", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const { reader, seen } = await opened(root);
  const promote = action(reader, "codebot:b4a9c7d1", "codebot.promote-branch");
  expect(promote).toMatchObject({ view: "branches", disabled: null });
  expect(promote.says({}, "1771667f").join()).toContain("1771667f");
  const before = readdirSync(join(root, "projects", "-proj-demo-ledger"));
  await promote.run({}, "1771667f");
  const [name = ""] = readdirSync(join(root, "projects", "-proj-demo-ledger")).filter((one) => !before.includes(one));
  const path = join(root, "projects", "-proj-demo-ledger", name);
  seen.take(await reader.apply([path], LATER));
  const made = [...seen.snapshots.values()].find((one) => one.path === path);
  expect(made).toMatchObject({
    name: "Rounding: bankers",
    parent: { key: "codebot:b4a9c7d1" },
    extra: { branches: 1, leaf: "1771667f", model: "gpt-5-mini" },
  });
  await expect(promote.run({}, null)).rejects.toThrow(/choose/u);
  await expect(promote.run({}, "nothing")).rejects.toThrow(/no entry/u);
  expect(action(reader, "codebot:1a2b3c4d", "codebot.promote-branch").disabled).toBe("it has one branch only");
});

test("tasks are claimed, completed, given away and made from the board", async () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const { reader, seen } = await opened(root);
  const key = "codebot:7ea37ea3";
  const run = async (id: string, values: Record<string, string>, target: string | null) => {
    const said = await action(reader, key, id).run(values, target);
    seen.take(await reader.apply([join(root, "tasks", "7ea37ea3", "1.json")], LATER));
    return said;
  };
  await run("codebot.claim-task", { owner: "me" }, "4");
  await expect(run("codebot.claim-task", { owner: "you" }, "4")).rejects.toThrow(/already claimed by me/u);
  await expect(run("codebot.claim-task", { owner: "me" }, "3")).rejects.toThrow(/waits for 2/u);
  await expect(run("codebot.claim-task", { owner: " " }, "4")).rejects.toThrow(/owner/u);
  await run("codebot.reassign-task", { owner: "" }, "4");
  await run("codebot.complete-task", {}, "2");
  await expect(run("codebot.complete-task", {}, "2")).rejects.toThrow(/completed already/u);
  expect(await run("codebot.create-task", { subject: "new one", description: "" }, null)).toEqual([
    "made task 13: new one",
  ]);
  expect(seen.byId("7ea37ea3").tasks).toEqual({ total: 7, pending: 5, inProgress: 0, completed: 2, blocked: 1 });
  expect(seen.byId("7ea37ea3").extra.nextClaimable).toBe("3");
  const fresh = action(reader, "codebot:1a2b3c4d", "codebot.create-task");
  await fresh.run({ subject: "first" }, null);
  expect(existsSync(join(root, "tasks", "1a2b3c4d", "1.json"))).toBe(true);
});

test("a fork keeps compactions, names and unknown kinds on its path", async () => {
  const root = join(temporaryDirectory(), ".codebot");
  const lines = [
    user("a", "h0", "x"),
    line("novelty", "b", "a", { some: ["thing"] }),
    line("compaction", "c", "b", { summary: "s" }),
    line("session_info", "d", "c", { name: "named" }),
    user("e", "a", "another branch"),
    user("f", "d", "y"),
    assistant("g", "f", "z"),
  ];
  writeSession(root, "aaaaaaaa", text(header("aaaaaaaa", { name: "old name" }), ...lines));
  const { reader } = await opened(root);
  const made = await must(reader).make("codebot:aaaaaaaa", "g");
  const copied = readFileSync(made.path, "utf8").trimEnd().split("\n");
  expect(copied.slice(1)).toEqual([lines[0], lines[1], lines[2], lines[3], lines[5]]);
  expect(parseEntry(copied[0] ?? "")?.data).toMatchObject({ name: "old name" });
});
