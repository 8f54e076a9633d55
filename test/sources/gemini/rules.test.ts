import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkplace, readEverything } from "../../../src/commands/context.ts";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { processTable } from "../../../src/probe/processes.ts";
import { type GeminiFile, isSession, messageOf, newGeminiFile } from "../../../src/sources/gemini/file.ts";
import { advanceLines } from "../../../src/sources/gemini/fold.ts";
import { geminiRoots, placeOf } from "../../../src/sources/gemini/places.ts";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { tailOf } from "../../../src/sources/gemini/tail.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { Conversation } from "../claude/rows.ts";
import { answer, ask, bare, ID, lines, meta, oneChat, ran, time, uuid } from "./chat.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);

function fold(records: readonly unknown[]): GeminiFile {
  const state = newGeminiFile();
  runNow(advanceLines(state, bytesOf(Buffer.from(lines(records))), 0));
  return state;
}

const context = { ...ask(1, "<session_context>\n..."), id: "a".repeat(32) };
const said = [meta(), context, ask(2, "Brew"), answer(3, "Brewed.")];

describe("records", () => {
  test("a message that is written again is one message, and keeps what a later record leaves out", () => {
    const state = fold([
      ...said,
      { ...answer(3, "Brewed again."), toolCalls: [ran("c1")] },
      bare(answer(3, "Brewed.")),
    ]);
    expect(state.active).toHaveLength(3);
    expect(messageOf(state, uuid(3))).toMatchObject({
      model: "gemini-2.5-pro",
      tokens: { input: 62, cacheRead: 40, output: 15, reasoning: 5, total: 115 },
      calls: [{ id: "c1", status: "success" }],
    });
  });

  const rewritten = (more: Record<string, unknown>, n = 3) => ({ id: uuid(n), timestamp: time(n), ...more });
  test.each<[string, unknown[], Record<string, unknown>, Record<string, unknown>]>([
    ["a prompt without content", [rewritten({ type: "user", displayContent: "Brew" }, 2)], { text: "Brew" }, {}],
    ["a prompt with empty content", [rewritten({ type: "user", content: [] }, 2)], { prompt: true }, {}],
    ["a reply without content", [rewritten({ type: "gemini" })], {}, { tokens: { total: 115 } }],
    [
      "a reply without its type, as its calls are done",
      [rewritten({ toolCalls: [ran("c1", "cancelled")] })],
      {},
      { type: "gemini", calls: [{ id: "c1", status: "cancelled" }] },
    ],
    [
      "a reply with empty numbers and calls",
      [
        rewritten({ type: "gemini", toolCalls: [ran("c1")] }),
        rewritten({ type: "gemini", tokens: null, toolCalls: [] }),
      ],
      {},
      { tokens: { total: 115 }, calls: [{ id: "c1" }] },
    ],
  ])("%s takes nothing away", (_, records, asked, answered) => {
    const state = fold([...said, ...records]);
    expect(state.active).toEqual(["a".repeat(32), uuid(2), uuid(3)]);
    expect(messageOf(state, uuid(2))).toMatchObject({ prompt: true, text: "Brew", ...asked });
    expect(messageOf(state, uuid(3))).toMatchObject(answered);
  });

  test("a record with an id that is no message's is no message without a type", () => {
    expect(fold([...said, rewritten({ content: "x" }, 9)]).seen).toHaveLength(3);
  });

  test("a checkpoint is the conversation from then on: repeated ids are one, numbers stay", () => {
    const list = [context, ask(2, "Brew"), bare(answer(3, "Brewed.")), bare(answer(3, "Brewed."))];
    const state = fold([...said, { $set: { messages: [] } }, { $set: { messages: list, lastUpdated: time(9) } }]);
    expect(state.active).toEqual(["a".repeat(32), uuid(2), uuid(3)]);
    expect(messageOf(state, uuid(3))?.tokens?.total).toBe(115);
    expect(state.updatedAt).toBe(Date.parse(time(9)));
  });

  test("a rewind drops its message and all behind it, an unknown id drops everything", () => {
    const two = [...said, ask(4, "More"), answer(5, "Most.")];
    const back = fold([...two, { $rewindTo: uuid(4) }]);
    expect(back.active).toEqual(["a".repeat(32), uuid(2), uuid(3)]);
    expect(back.rewinds).toEqual([[uuid(4), uuid(5)]]);
    expect(fold([...two, { $rewindTo: "nobody" }]).active).toEqual([]);
    const again = fold([...two, { $rewindTo: uuid(4) }, ask(4, "More")]);
    expect(again.active.at(-1)).toBe(uuid(4));
    expect(messageOf(again, uuid(4))?.rewound).toBe(false);
  });

  test("metadata comes again on a resume: the first start stays, the last summary holds", () => {
    const state = fold([
      ...said,
      meta(ID, { startTime: time(50), lastUpdated: time(50) }),
      { $set: { summary: "Tea" } },
    ]);
    expect(state).toMatchObject({ startedAt: Date.parse(time(0)), updatedAt: Date.parse(time(50)), summary: "Tea" });
  });

  test("a file in pieces is read as the file at once", () => {
    const records = [
      ...said,
      ask(4, "More"),
      answer(5, "Most."),
      { $rewindTo: uuid(4) },
      { $set: { messages: [ask(2, "Brew")] } },
    ];
    const text = Buffer.from(lines(records));
    const state = newGeminiFile();
    let offset = 0;
    for (let end = 1; end < text.length; end += 61) {
      offset = runNow(advanceLines(state, bytesOf(text.subarray(0, end)), offset));
    }
    runNow(advanceLines(state, bytesOf(text), offset));
    expect(state).toEqual(fold(records));
  });

  test.each([
    ["<hook_context>x", false],
    ["/about", false],
    ["?", false],
    ["  /chat list", false],
    ["Brew / serve", true],
  ])("%s is a prompt: %s", (text, prompt) => {
    expect(messageOf(fold([meta(), ask(2, text)]), uuid(2))?.prompt).toBe(prompt);
  });

  test("a start alone is no session", () => {
    expect(isSession(fold([meta(), context, ask(2, "/about")]))).toBe(false);
    expect(isSession(fold(said))).toBe(true);
  });
});

describe("how a chat ends", () => {
  const response = { ...ask(4, ""), content: [{ functionResponse: { id: "c1", response: { output: "x" } } }] };
  const note = (type: string) => ({ id: uuid(9), timestamp: time(9), type, content: "no credit" });
  test.each<[string, unknown[], string]>([
    ["a start", [meta(), context], "new"],
    ["a prompt", [...said, ask(4, "More")], "open"],
    ["a reply", said, "over"],
    ["a reply with calls that ran", [...said, { ...answer(3, ""), toolCalls: [ran("c1")] }], "over"],
    ["a call that was cancelled", [...said, { ...answer(3, ""), toolCalls: [ran("c1", "cancelled")] }], "interrupted"],
    ["a result nobody answered", [...said, response], "open"],
    ["an error", [...said, ask(4, "More"), note("error")], "error"],
    ["a note behind a reply", [...said, note("info")], "over"],
    ["a command behind a reply", [...said, ask(4, "/about")], "over"],
  ])("%s", (_, records, state) => {
    expect(tailOf(fold(records)).state).toBe(state);
  });
});

describe("a title", () => {
  const picture = { ...ask(2, ""), content: [{ inlineData: { mimeType: "image/png", data: "AA==" } }] };
  test.each<[string, unknown[], string]>([
    ["is the first prompt that has text", [picture, answer(3, "Tea."), ask(4, "Is it?")], "Is it?"],
    ["is one that was rewound when no other has text", [ask(4, "Is it?"), { $rewindTo: uuid(4) }, picture], "Is it?"],
    ["is the id when no prompt has text", [picture, answer(3, "Tea.")], ID],
  ])("%s", async (_, records, title) => {
    const { root } = oneChat([meta(), ...records]);
    const { seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID)).toMatchObject({ title, extra: { titleFrom: title === ID ? "id" : "first prompt" } });
  });
});

describe("messages that two chats share", () => {
  const other = "22222222-aaaa-4bbb-8ccc-000000000002";
  const third = "33333333-aaaa-4bbb-8ccc-000000000003";
  const chatOf = (id: string, start: number, messages: readonly unknown[]): string => {
    return lines([meta(id, { startTime: time(start) }), ...messages]);
  };
  /** A root with these chats, each in a log of its own. */
  const chats = (all: Record<string, string>) => {
    const made = oneChat([]);
    rmSync(made.path);
    const pathOf = (id: string) => join(made.chats, `session-2026-11-20T09-00-${id.slice(0, 8)}.jsonl`);
    for (const [id, text] of Object.entries(all)) writeFileSync(pathOf(id), text);
    return { root: made.root, pathOf };
  };
  const shared = [ask(2, "Brew"), answer(3, "Brewed.")];
  const plain = (n: number, more = {}) => [
    { ...ask(n, "Brew"), id: "1", ...more },
    { ...answer(n + 1, "Brewed."), id: "2", ...more },
  ];

  test.each<[string, unknown[], unknown[], number]>([
    ["are copies when their ids are UUIDs", shared, shared, 0],
    ["are copies when their plain ids and times are the same", plain(2), plain(2), 0],
    ["are no copies when their plain ids are the same by chance", plain(2), plain(12), 1],
    ["are no copies when nothing but a plain id is known", plain(2, { timestamp: 0 }), plain(2, { timestamp: 0 }), 1],
  ])("%s", async (_, first, second, own) => {
    const { root } = chats({ [ID]: chatOf(ID, 0, first), [other]: chatOf(other, 60, second) });
    const { seen } = await readSource(geminiSource, [root], evidence);
    expect([seen.byId(ID).own?.requests, seen.byId(other).own?.requests]).toEqual([1, own]);
    expect(seen.byId(other).parent?.key ?? null).toBe(own === 0 ? `gemini:${ID}` : null);
  });

  test("go to another owner when a chat turns out to have begun earlier", async () => {
    const { root, pathOf } = chats({ [ID]: chatOf(ID, 60, shared), [other]: chatOf(other, 30, shared) });
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    const own = () => [ID, other].map((id) => [seen.byId(id).own?.requests, seen.byId(id).parent?.key ?? null]);
    expect(own()).toEqual([
      [0, `gemini:${other}`],
      [1, null],
    ]);
    appendFileSync(pathOf(ID), lines([meta(ID, { startTime: time(0) })]));
    seen.take(await reader.apply([pathOf(ID)], evidence));
    expect(own()).toEqual([
      [1, null],
      [0, `gemini:${ID}`],
    ]);
  });

  test("are owned by who has their numbers, whoever began first", async () => {
    const { root, pathOf } = chats({ [ID]: chatOf(ID, 0, shared.map(bare)), [other]: chatOf(other, 60, shared) });
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    const own = () => [ID, other].map((id) => seen.byId(id).own?.requests);
    expect(own()).toEqual([0, 1]);
    expect(seen.byId(other).parent?.key).toBe(`gemini:${ID}`);
    appendFileSync(pathOf(ID), lines(shared));
    seen.take(await reader.apply([pathOf(ID)], evidence));
    expect(own()).toEqual([1, 0]);
  });

  test("with plain ids follow the time that is written last", async () => {
    const { root, pathOf } = chats({ [ID]: chatOf(ID, 0, plain(2)), [other]: chatOf(other, 60, plain(12)) });
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(other).own?.requests).toBe(1);
    appendFileSync(pathOf(ID), lines(plain(12)));
    seen.take(await reader.apply([pathOf(ID)], evidence));
    expect(seen.byId(other)).toMatchObject({ own: { requests: 0 }, parent: { key: `gemini:${ID}` } });
    appendFileSync(pathOf(ID), lines(plain(14)));
    seen.take(await reader.apply([pathOf(ID)], evidence));
    expect(seen.byId(other)).toMatchObject({ own: { requests: 1 }, parent: null });
  });

  test("come from the same one of two that began together, whichever was read first", async () => {
    const { root, pathOf } = chats(Object.fromEntries([ID, other].map((id) => [id, chatOf(id, 0, shared)])));
    writeFileSync(pathOf(third), chatOf(third, 60, shared));
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(third).parent?.key).toBe(`gemini:${ID}`);
    const text = readFileSync(pathOf(ID));
    rmSync(pathOf(ID));
    seen.take(await reader.apply([pathOf(ID)], evidence));
    expect(seen.byId(third).parent?.key).toBe(`gemini:${other}`);
    writeFileSync(pathOf(ID), text);
    seen.take(await reader.apply([pathOf(ID)], evidence));
    expect(seen.byId(third).parent?.key).toBe(`gemini:${ID}`);
  });
});

describe("while we watch", () => {
  test("an append changes its session, a deleted chat is gone, a twin that is left takes its place", async () => {
    const { root, chats, path } = oneChat(said);
    const object = join(chats, `session-2026-11-20T09-00-${ID.slice(0, 8)}.json`);
    const { id: _id, ...rest } = { id: 0, ...meta(), messages: [ask(2, "Old"), answer(3, "Older.")] };
    writeFileSync(object, JSON.stringify(rest));
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID)).toMatchObject({ path, messages: 2, cwd: "/home/dana/code/pot" });
    appendFileSync(path, lines([ask(4, "More")]));
    seen.take(await reader.apply([path], evidence));
    expect(seen.byId(ID)).toMatchObject({ messages: 3, native: "interrupted" });
    rmSync(path);
    seen.take(await reader.apply([path], evidence));
    expect(seen.byId(ID)).toMatchObject({ path: object, title: "Old", own: { requests: 1 } });
    writeFileSync(object, JSON.stringify({ ...rest, messages: [ask(2, "New")] }));
    seen.take(await reader.apply([object], evidence));
    expect(seen.byId(ID)).toMatchObject({ title: "New", messages: 1 });
    rmSync(object);
    expect((await reader.apply([object], evidence)).removed).toEqual([`gemini:${ID}`]);
  });

  test.each([
    ["written over", false],
    ["put in the place of the whole one", true],
  ])("a chat that is half written, %s, stays as it was until it is whole", async (_, anew) => {
    const { root, chats, path } = oneChat([]);
    rmSync(path);
    const object = join(chats, `session-2026-11-20T09-00-${ID.slice(0, 8)}.json`);
    const text = (...messages: unknown[]): string => JSON.stringify({ ...meta(), messages });
    const put = (written: string): void => {
      writeFileSync(anew ? `${object}.tmp` : object, written);
      if (anew) renameSync(`${object}.tmp`, object);
    };
    put(text(ask(2, "Brew"), answer(3, "Brewed.")));
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    for (const half of ["", text(ask(2, "Brew")).slice(0, -9)]) {
      put(half);
      seen.take(await reader.apply([object], evidence));
      expect(seen.byId(ID)).toMatchObject({ title: "Brew", messages: 2, own: { requests: 1 } });
      expect(seen.problems).toEqual([]);
    }
    put(text(ask(2, "Brew"), answer(3, "Brewed."), ask(4, "More")));
    seen.take(await reader.apply([object], evidence));
    expect(seen.byId(ID)).toMatchObject({ messages: 3, damage: [] });
  });

  test("a checkpoint in one file takes the numbers it lost from its twin", async () => {
    const { root, chats } = oneChat([meta(ID, { lastUpdated: time(99) }), ask(2, "Brew"), bare(answer(3, "Brewed."))]);
    const object = join(chats, `session-2026-11-20T08-00-${ID.slice(0, 8)}.json`);
    writeFileSync(object, JSON.stringify({ ...meta(), messages: [ask(2, "Brew"), answer(3, "Brewed.")] }));
    const { seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID).own).toMatchObject({ requests: 1, input: 62, cacheRead: 40, output: 15 });
  });

  test("a copy owns what its original no longer has, in a log that is written anew as in an object", async () => {
    const other = "22222222-aaaa-4bbb-8ccc-000000000002";
    for (const end of ["jsonl", "json"]) {
      const { root, chats, path } = oneChat([
        meta(other, { startTime: time(60) }),
        ask(2, "Brew"),
        answer(3, "Brewed."),
      ]);
      renameSync(path, join(chats, "session-2026-11-20T09-01-22222222.jsonl"));
      const original = join(chats, `session-2026-11-20T09-00-${ID.slice(0, 8)}.${end}`);
      const written = (messages: unknown[]): string =>
        end === "json" ? JSON.stringify({ ...meta(), messages }) : lines([meta(), ...messages]);
      writeFileSync(original, written([ask(2, "Brew"), answer(3, "Brewed.")]));
      const { reader, seen } = await readSource(geminiSource, [root], evidence);
      expect([seen.byId(ID).own?.requests, seen.byId(other).own?.requests]).toEqual([1, 0]);
      writeFileSync(original, written([ask(5, "Another"), answer(6, "One.")]));
      seen.take(await reader.apply([original], evidence));
      expect([seen.byId(ID).own?.requests, seen.byId(other).own?.requests]).toEqual([1, 1]);
    }
  });

  test("a folder that is a hash is known once a process runs in its directory", async () => {
    const { root } = oneChat(said);
    const hashed = join(root, createHash("sha256").update("/home/dana/code/old").digest("hex"));
    renameSync(join(root, "pot"), hashed);
    rmSync(join(hashed, ".project_root"));
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID)).toMatchObject({ cwd: null, resume: null });
    expect(await reader.resume(`gemini:${ID}`)).toMatchObject({ ok: false });
    const shell = { pid: 3, ppid: null, startTicks: "1", tty: null, comm: "zsh", argv: ["zsh"], locksHeld: [] };
    seen.take(reader.tick(evidenceOf(NOW, processTable([{ ...shell, cwd: "/home/dana/code/old" }]))));
    expect(seen.byId(ID).cwd).toBe("/home/dana/code/old");
  });

  test("a folder that is a hash is known once a session of another tool worked in its directory", async () => {
    const { root } = oneChat(said);
    const hashed = join(root, createHash("sha256").update("/work/pot").digest("hex"));
    renameSync(join(root, "pot"), hashed);
    rmSync(join(hashed, ".project_root"));
    const claude = join(temporaryDirectory(), ".claude");
    new Conversation("one").prompt("p").reply("a").write(claude);
    const env = { HOME: "/nowhere", FORKTAIL_STATE_DIR: temporaryDirectory(), PATH: "" };
    const place = await openWorkplace({ root: [`claude=${claude}`, `gemini=${root}`] }, { env, only: true });
    const { sessions } = await readEverything(place);
    expect(sessions.get(`gemini:${ID}`)?.cwd).toBe("/work/pot");
  });

  test("projects.json that comes later names the folders", async () => {
    const { root } = oneChat(said);
    rmSync(join(root, "pot", ".project_root"));
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID).cwd).toBeNull();
    const file = join(root, "..", "projects.json");
    writeFileSync(file, JSON.stringify({ projects: { "/p/pot": "pot" } }));
    seen.take(await reader.apply([join(root, "..", "projects.json")], evidence));
    expect(seen.byId(ID).cwd).toBe("/p/pot");
  });

  test("an unfinished last line is left for later, a bad line costs itself", async () => {
    const { root, path } = oneChat([...said, 7], '{"id":"x');
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID).damage).toEqual([
      { kind: "bad-line", bytes: null, line: 5 },
      { kind: "torn-tail", bytes: 8, line: null },
    ]);
    appendFileSync(path, `","timestamp":"${time(6)}","type":"user","content":"Late"}\n`);
    seen.take(await reader.apply([path], evidence));
    expect(seen.byId(ID).extra.lastPrompt).toBe("Late");
  });
});

describe("where chats lie", () => {
  test.each([
    [{ HOME: "/h" }, "/h/.gemini/tmp"],
    [{ HOME: "/h", GEMINI_CLI_HOME: "/g" }, "/g/.gemini/tmp"],
  ])("%j", (env, root) => {
    expect(geminiRoots(env)).toEqual([root]);
  });

  test.each([
    ["/r/pot/chats/session-2026-11-20T09-00-11111111.jsonl", { kind: "chat", project: "pot" }],
    ["/r/pot/chats/session-2026-11-20T09-00-11111111.json", { kind: "chat", project: "pot" }],
    [`/r/pot/chats/${ID}/${uuid(1)}.jsonl`, { kind: "child", project: "pot", parent: ID }],
    ["/r/pot/.project_root", { kind: "project-root", project: "pot" }],
    ["/r/pot/logs.json", null],
    ["/r/pot/chats/checkpoint-a.json", null],
    ["/r/pot/shell_history", null],
  ])("%s", (path, place) => {
    expect(placeOf("/r", path)).toEqual(place);
  });

  test("a sub-agent's chat is hidden and a page of its parent", async () => {
    const { root, chats } = oneChat(said);
    mkdirSync(join(chats, ID));
    writeFileSync(
      join(chats, ID, `${uuid(77)}.jsonl`),
      lines([meta(uuid(77), { kind: "subagent" }), ask(12, "Scan"), answer(13, "Seen.")]),
    );
    const { reader, seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(uuid(77))).toMatchObject({
      hidden: true,
      can: [],
      parent: { key: `gemini:${ID}`, relation: "subagent" },
    });
    const transcript = await reader.transcript(`gemini:${ID}`);
    const page = await transcript.page({ view: "branch", of: `agent:${uuid(77)}`, at: { edge: "start" }, limit: 9 });
    expect(page.entries.map((one) => one.text)).toEqual(["Scan", "Seen."]);
    expect(JSON.stringify(await reader.document(`gemini:${ID}`, "team"))).toContain("Scan");
    expect(await reader.resume(`gemini:${uuid(77)}`)).toMatchObject({ ok: false });
  });
});
