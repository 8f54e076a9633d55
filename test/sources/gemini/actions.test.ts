import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { answer, ask, bare, ID, lines, meta, oneChat, ran, uuid } from "./chat.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);
const KEY = `gemini:${ID}`;

const context = { ...ask(1, "<session_context>\n..."), id: "a".repeat(32) };
const called = answer(3, "Looking.", {
  toolCalls: [ran("c1")],
  thoughts: [{ subject: "Plan", description: "look first" }],
});
const response = { ...ask(4, ""), content: [{ functionResponse: { id: "c1", response: { output: "ok" } } }] };
const first = [context, ask(2, "Brew"), called, response, answer(5, "Brewed.")];
const chat = [
  meta(),
  ...first,
  ask(6, "Spill"),
  answer(7, "Spilt."),
  { $rewindTo: uuid(6) },
  ask(8, "More"),
  answer(9, "Most."),
];

async function read(records: readonly unknown[] = chat, state = temporaryDirectory()) {
  const made = oneChat(records);
  const env = { FORKTAIL_NOW: NOW, FORKTAIL_STATE_DIR: state };
  return { ...made, state, ...(await readSource(geminiSource, [made.root], evidence, { env })) };
}

describe("pages", () => {
  test("the timeline holds what was rewound, the context does not, results stand with their calls", async () => {
    const { reader } = await read();
    const transcript = await reader.transcript(KEY);
    const all = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 99 });
    expect(all.entries.map((one) => [one.kind, one.text ?? one.call?.name, one.branch])).toEqual([
      ["message", "<session_context>\n...", true],
      ["message", "Brew", true],
      ["thinking", "**Plan** look first", true],
      ["text", "Looking.", true],
      ["call", "run", true],
      ["result", "ok", true],
      ["text", "Brewed.", true],
      ["message", "Spill", false],
      ["text", "Spilt.", false],
      ["message", "More", true],
      ["text", "Most.", true],
    ]);
    expect(all.entries.filter((one) => one.forkable).map((one) => one.text)).toEqual(["More"]);
    expect(all.entries[2]?.usage).toMatchObject({ input: 62, output: 15 });
    const seen = await transcript.page({ view: "context", at: { edge: "end" }, limit: 3 });
    expect(seen.entries.map((one) => one.text)).toEqual(["Brewed.", "More", "Most."]);
    const left = await transcript.page({ view: "branch", of: uuid(6), at: { edge: "start" }, limit: 9 });
    expect(left.entries.map((one) => one.text)).toEqual(["Spill", "Spilt."]);
    expect(JSON.stringify(await reader.document(KEY, "branches"))).toContain("Spill");
  });
});

describe("a fork", () => {
  test("is a chat of its own with first eight characters nobody has, and nothing of it is its own work", async () => {
    const { root, chats, reader, path } = await read();
    const before = treeHash(root);
    expect(await reader.fork?.plan(KEY, uuid(8))).toMatchObject({ allowed: true, status: "idle" });
    expect(treeHash(root)).toEqual(before);
    const made = await reader.fork?.make(KEY, uuid(8));
    if (made === undefined) throw new Error("no fork");
    expect(basename(made.path)).toBe(`session-2026-11-20T12-00-${made.id.slice(0, 8)}.jsonl`);
    expect(readdirSync(chats).filter((name) => name.includes(made.id.slice(0, 8)))).toHaveLength(1);
    expect(statSync(made.path).mode & 0o777).toBe(0o600);
    const { changed } = await reader.apply([made.path], evidence);
    expect(changed.find((one) => one.key === made.key)).toMatchObject({
      title: "Brew",
      messages: 3,
      parent: { key: KEY, relation: "fork" },
      usage: { requests: 2 },
      own: { requests: 0 },
      resume: { argv: ["gemini", "--resume", made.id], cwd: "/home/dana/code/pot" },
    });
    const original = treeHash(root)[`./pot/chats/${basename(path)}`];
    expect(original).toBe(before[`./pot/chats/${basename(path)}`]);
    rmSync(path);
    const after = await reader.apply([path], evidence);
    expect(after.changed.find((one) => one.key === made.key)).toMatchObject({ parent: null, own: { requests: 2 } });
  });

  test("of a chat whose checkpoint lost numbers and calls has them again", async () => {
    const { reader } = await read([meta(), ...first, { $set: { messages: first.map(bare) } }, ask(8, "More")]);
    const made = await reader.fork?.make(KEY, null);
    const records = readFileSync(made?.path ?? "", "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.find((one) => one.id === uuid(3))).toMatchObject({
      model: "gemini-2.5-pro",
      toolCalls: [{ id: "c1" }],
      tokens: { total: 115 },
    });
  });

  const zeros = { input: 0, output: 0, cached: 0, thoughts: 0, tool: 0, total: 0 };
  test.each<[string, Record<string, unknown>]>([
    ["no numbers", { tokens: null }],
    ["numbers that are all zero", { tokens: zeros }],
    ["no calls", { toolCalls: [] }],
    ["no model", { model: null }],
    ["no content", { content: "" }],
    ["neither of them, nor its type", { tokens: null, toolCalls: [], model: null, content: null, type: null }],
  ])("of a chat whose last record of a reply has %s has what an earlier one had", async (_, more) => {
    const { reader } = await read([meta(), ...first, { ...called, ...more }, { ...ask(2, ""), content: null }]);
    const made = await reader.fork?.make(KEY, null);
    const records = readFileSync(made?.path ?? "", "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.find((one) => one.id === uuid(3))).toEqual(called);
    expect(records.find((one) => one.id === uuid(2))).toEqual(ask(2, "Brew"));
  });

  test.each<[string, string | null, Record<string, unknown>]>([
    ["of all of it", null, { title: "Tea", name: "Tea" }],
    ["of a part", uuid(8), { title: "Brew", name: null }],
  ])("%s has its directories, and the summary where that tells of it", async (_, before, copy) => {
    const directories = ["/home/dana/code/cup"];
    const { reader } = await read([...chat, meta(ID, { directories }), { $set: { summary: "Tea" } }]);
    const made = await reader.fork?.make(KEY, before);
    const [head = ""] = readFileSync(made?.path ?? "", "utf8").split("\n");
    expect(JSON.parse(head)).toMatchObject({ sessionId: made?.id, kind: "main", directories });
    const { changed } = await reader.apply([made?.path ?? ""], evidence);
    expect(changed.find((one) => one.key === made?.key)).toMatchObject(copy);
  });

  test.each([
    ["before a reply", uuid(5), "without its answer"],
    ["before a result", uuid(4), "without its result"],
    ["before the first prompt", uuid(2), "nothing was said"],
    ["before what was rewound", uuid(6), "rewound"],
    ["before nobody", "x", "no entry x"],
  ])("%s is refused, and nothing is left of it", async (_, before, reason) => {
    const { root, reader } = await read();
    const tree = treeHash(root);
    expect(await reader.fork?.plan(KEY, before)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining(reason),
    });
    await expect(reader.fork?.make(KEY, before)).rejects.toThrow(reason);
    expect(treeHash(root)).toEqual(tree);
  });
});

describe("a resume", () => {
  test("backs up everything of the same eight characters first, and says where", async () => {
    const { root, chats, reader, state } = await read();
    const twin = join(chats, `session-2026-11-19T09-00-${ID.slice(0, 8)}.json`);
    writeFileSync(twin, JSON.stringify({ ...meta(), messages: [ask(2, "Brew")] }));
    mkdirSync(join(chats, ID));
    writeFileSync(join(chats, ID, `${uuid(77)}.jsonl`), lines([meta(uuid(77))]));
    const before = treeHash(root);
    const answered = await reader.resume(KEY);
    if (!answered.ok) throw new Error(answered.reason);
    expect(answered.command).toEqual({ argv: ["gemini", "--resume", ID], cwd: "/home/dana/code/pot" });
    expect(answered.notes.join()).toContain("backed up");
    expect(readdirSync(state)).toEqual([]);
    const said = await answered.prepare?.();
    const place = join(state, "gemini-backups", ID, "2026-11-20T12-00-00-000Z");
    expect(said).toEqual([`3 chat files were backed up to ${place}`]);
    expect(readdirSync(place).sort()).toEqual(
      [ID, basename(twin), basename(twin).replace("11-19", "11-20").concat("l")].sort(),
    );
    expect(readFileSync(join(place, ID, `${uuid(77)}.jsonl`), "utf8")).toBe(lines([meta(uuid(77))]));
    expect(treeHash(root)).toEqual(before);
    expect(await answered.prepare?.()).toEqual(said);
  });

  test("backs up what has the characters of its file's name, when it was given another id, and of that id", async () => {
    const other = "22222222-aaaa-4bbb-8ccc-000000000002";
    const { chats, reader, state, path } = await read([...chat, { $set: { sessionId: other } }]);
    for (const parent of [ID, other, uuid(9)]) {
      mkdirSync(join(chats, parent));
      writeFileSync(join(chats, parent, `${uuid(77)}.jsonl`), lines([meta(uuid(77))]));
    }
    const answered = await reader.resume(`gemini:${other}`);
    if (!answered.ok) throw new Error(answered.reason);
    expect(answered.command.argv).toEqual(["gemini", "--resume", other]);
    const place = join(state, "gemini-backups", other, "2026-11-20T12-00-00-000Z");
    expect(await answered.prepare?.()).toEqual([`3 chat files were backed up to ${place}`]);
    expect(readdirSync(place).sort()).toEqual([ID, other, basename(path)]);
    expect(readFileSync(join(place, basename(path)), "utf8")).toBe(readFileSync(path, "utf8"));
  });

  test("is not launched when the chat is gone before it could be backed up", async () => {
    const { reader, path } = await read();
    const answered = await reader.resume(KEY);
    rmSync(path);
    if (!answered.ok) throw new Error(answered.reason);
    await expect(answered.prepare?.()).rejects.toThrow("no chat");
  });
});
