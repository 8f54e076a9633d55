import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { cutBefore, isForkable } from "../../../src/sources/claude/cuts.ts";
import { claudeFold } from "../../../src/sources/claude/fold.ts";
import { readUserRow } from "../../../src/sources/claude/user-row.ts";
import { fixture } from "../../support/fixtures.ts";
import { foldInPieces } from "../../support/fold-in-pieces.ts";
import { Conversation, type Row, uuid } from "./rows.ts";

function fold(text: string) {
  const state = claudeFold.initial();
  runNow(claudeFold.advance(state, bytesOf(Buffer.from(text)), 0));
  return state;
}

const files = readdirSync(fixture("claude", "home"), { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".jsonl"),
);

describe("the fold", () => {
  test.each(files)("of %s is the same however the file grew", (name) => {
    const bytes = readFileSync(join(fixture("claude", "home"), name));
    const whole = foldInPieces(claudeFold, bytes, []);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 6 }), (sizes) => {
        const pieces = foldInPieces(
          claudeFold,
          bytes,
          sizes.sort((a, b) => a - b),
        );
        expect(pieces).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });

  test("loses one bad line, not the file, and says which", () => {
    const one = new Conversation("bad").prompt("p").reply("a");
    const lines = one.text().split("\n");
    const state = fold([lines[0], "{broken", "[1]", "\0\0", lines[1], ""].join("\n"));
    expect(state.bad).toEqual({ lines: [2, 3], count: 2 });
    expect(state.parents).toHaveLength(2);
  });

  test("recovers a record behind a block of NULs", () => {
    const one = new Conversation("nul").prompt("p").reply("a");
    const [first, second] = one.text().split("\n");
    const state = fold(`${first}\n${"\0".repeat(5000)}${second}\n`);
    expect(state.bad.count).toBe(0);
    expect(state.parents).toEqual([-1, 0]);
  });

  test("re-reads a torn tail and never keeps it", () => {
    const one = new Conversation("torn").prompt("p").reply("a");
    const bytes = Buffer.from(one.text());
    const state = claudeFold.initial();
    const half = bytes.length - 30;
    const at = runNow(claudeFold.advance(state, bytesOf(bytes.subarray(0, half)), 0));
    expect(state.torn).toBe(half - at);
    expect(state.bad.count).toBe(0);
    runNow(claudeFold.advance(state, bytesOf(bytes), at));
    expect(state.torn).toBe(0);
    expect(state.parents).toHaveLength(2);
  });

  test("reads a line of 100 MB without keeping it", () => {
    const one = new Conversation("huge");
    one
      .prompt("p")
      .call("c")
      .result("x".repeat(100 * 1024 * 1024), "c")
      .reply("a");
    const state = fold(one.text());
    expect(state.bad.count).toBe(0);
    expect(state.parents).toEqual([-1, 0, 1, 2]);
    expect(state.tail.state).toBe("over");
    expect(JSON.stringify(state).length).toBeLessThan(10_000);
  });

  test("takes 50 levels of nesting", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(50)}1${"]".repeat(50)}`);
    const state = fold(new Conversation("deep").prompt("p").call("c", "Deep", { deep }).text());
    expect(state.tail.calls).toHaveLength(1);
  });

  test("splits on LF alone: U+2028 stays inside its string", () => {
    const state = fold(new Conversation("ls").prompt("p", "one\u2028two\u2029three").reply("a").text());
    expect(state.parents).toHaveLength(2);
    expect(state.prompts[0]?.text).toBe("one\u2028two\u2029three");
  });

  test("takes the first copy of a row that is written again", () => {
    const one = new Conversation("twice").prompt("p").reply("a");
    const state = fold(
      `${one.text() + JSON.stringify({ ...one.rows[0], parentUuid: null, message: { content: "other" } })}\n`,
    );
    expect(state.parents).toHaveLength(2);
    expect(state.leaf).toBe(1);
    expect(state.prompts.map((prompt) => prompt.text)).toEqual(["p"]);
  });

  test("is not led astray by names that objects have", () => {
    const one = new Conversation("proto").prompt("p");
    for (const name of ["__proto__", "constructor", "hasOwnProperty", "toString"]) {
      one.raw({
        type: "user",
        uuid: name,
        parentUuid: "valueOf",
        message: { role: "user", content: "x" },
        sessionId: one.id,
      });
    }
    const state = fold(one.text());
    expect(state.parents.every((parent) => parent === -1)).toBe(true);
    expect({}).not.toHaveProperty("polluted");
  });

  test("counts a message once, with its highest output and its first time", () => {
    const one = new Conversation("grow").prompt("p");
    for (const [name, output] of [
      ["a", 1],
      ["b", 9],
      ["c", 4],
    ] as const) {
      one.reply(name, { id: "m", usage: { input_tokens: 3, output_tokens: output } });
    }
    const state = fold(one.text());
    expect(state.requests).toHaveLength(1);
    expect(state.requests[0]).toMatchObject({ output: 9, input: 3, time: state.times[1] });
  });

  test.each([
    ["of a gateway's form", "gen/abc+1=="],
    ["too long for a name", "x".repeat(200)],
    ["that objects have", "__proto__"],
  ])("counts a message once whose id is one %s", (_, id) => {
    const state = fold(new Conversation("odd").prompt("p").reply("a", { id }).reply("b", { id }).text());
    expect(state.requests).toHaveLength(1);
    expect(state.messages).toEqual([-1, 0, 0]);
  });

  test("takes the fuller of two rows with the same output, and the numbers of a row that is written again", () => {
    const one = new Conversation("same").prompt("p");
    one.reply("a", { id: "m", usage: { input_tokens: 0, output_tokens: 5 } });
    one.reply("b", { id: "m", usage: { input_tokens: 100, output_tokens: 5 } });
    expect(fold(one.text()).requests).toMatchObject([{ input: 100, output: 5 }]);
    const two = new Conversation("again").prompt("p").reply("a", { usage: { input_tokens: 3, output_tokens: 2 } });
    const [, row] = two.rows;
    const message = { ...(row?.message as Row), usage: { input_tokens: 3, output_tokens: 500 } };
    two.raw({ ...row, parentUuid: null, message });
    const state = fold(two.text());
    expect(state.requests).toMatchObject([{ output: 500, row: 1, time: state.times[1] }]);
    expect(state.parents).toEqual([-1, 0]);
  });

  test.each<[string, Row, number, number]>([
    ["no split", {}, 1000, 0],
    ["an empty split", { cache_creation: {} }, 1000, 0],
    ["zeros", { cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 } }, 1000, 0],
    ["the hour's part alone", { cache_creation: { ephemeral_1h_input_tokens: 300 } }, 700, 300],
    ["both", { cache_creation: { ephemeral_5m_input_tokens: 600, ephemeral_1h_input_tokens: 400 } }, 600, 400],
    ["more than the total", { cache_creation: { ephemeral_1h_input_tokens: 3000 } }, 0, 1000],
    ["no total", { cache_creation_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 7 } }, 0, 7],
  ])("counts cache writes with %s", (_, split, write5m, write1h) => {
    const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 1000, ...split };
    const state = fold(new Conversation("w").prompt("p").reply("a", { usage }).text());
    expect(state.requests).toMatchObject([{ write5m, write1h }]);
  });

  test("a call that the provider answered in the same reply is not open, one that it did not is", () => {
    const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] };
    const text = { type: "text", text: "Here" };
    const rows = new Conversation("rows").prompt("p").assistant("a", [search], { id: "m" });
    expect(fold(rows.text()).tail).toMatchObject({ state: "open", calls: [{ id: "srv_1" }] });
    rows.assistant("b", [found], { id: "m" }).assistant("c", [text], { id: "m" });
    const whole = new Conversation("one").prompt("p").assistant("a", [search, found, text]);
    for (const one of [rows, whole]) {
      const state = fold(one.prompt("q").text());
      expect(cutBefore(state, state.parents.length - 1)).toMatchObject({ ok: true, over: true });
      expect(isForkable(state, state.parents.length - 1)).toBe(true);
    }
    expect(fold(rows.text()).tail).toMatchObject({ state: "open", calls: [] });
  });

  test("a folder is that of the first record that has one, whatever that is", () => {
    const one = new Conversation("cwd").raw({ type: "progress", cwd: "/first" }).prompt("p").reply("a");
    expect(fold(one.text())).toMatchObject({ cwd: "/first", lastCwd: "/work/pot" });
  });

  test("keeps queued prompts until they are taken", () => {
    const op = (operation: string, content?: string) => ({ type: "queue-operation", operation, content });
    const queue = (...rows: object[]) =>
      fold(rows.map((row) => `${JSON.stringify(row)}\n`).join("")).queue.map((one) => one.text);
    expect(queue(op("enqueue", "a"), op("enqueue", "b"), op("dequeue"))).toEqual(["b"]);
    expect(queue(op("enqueue", "a"), op("enqueue", "b"), op("remove", "b"))).toEqual(["a"]);
    expect(queue(op("enqueue", "a"), op("popAll"))).toEqual([]);
    expect(queue(op("dequeue"), op("remove"))).toEqual([]);
  });
});

const command = (one: Conversation, content: string) =>
  one.row("user", `user ${content}`, { message: { role: "user", content } });
const said = (content: unknown, over: object = {}) => readUserRow({ type: "user", message: { content }, ...over });

describe("a user row is", () => {
  test.each([
    ["a prompt", "Fix it", {}, "prompt", "Fix it"],
    ["a prompt with a picture", [{ type: "image", source: {} }], {}, "prompt", "[image]"],
    [
      "a prompt beside what the editor adds",
      [
        { type: "text", text: "<ide_opened_file>x</ide_opened_file>" },
        { type: "text", text: "Go" },
      ],
      {},
      "prompt",
      "Go",
    ],
    [
      "a slash command",
      "<command-name>/review</command-name><command-args>src/</command-args>",
      {},
      "command",
      "/review src/",
    ],
    ["a slash command by its message", "<command-message>review</command-message>", {}, "command", "/review"],
    ["a command's output", "<local-command-stdout>done</local-command-stdout>", {}, "command-output", "done"],
    [
      "a caveat",
      "<local-command-caveat>Caveat</local-command-caveat>",
      {},
      "injected",
      "<local-command-caveat>Caveat</local-command-caveat>",
    ],
    ["a reminder", "<system-reminder>x</system-reminder>", {}, "injected", "<system-reminder>x</system-reminder>"],
    ["a shell line", "<bash-input>ls</bash-input>", {}, "injected", "<bash-input>ls</bash-input>"],
    ["a task's end", "<task-notification>x", {}, "notification", "<task-notification>x"],
    ["a message of another origin", "hi", { origin: { kind: "channel" } }, "notification", "hi"],
    ["meta text", "skill", { isMeta: true }, "meta", "skill"],
    [
      "a reminder of the program's own",
      "<system-reminder>x</system-reminder>",
      { isMeta: true },
      "injected",
      "<system-reminder>x</system-reminder>",
    ],
    ["a summary", "This session", { isCompactSummary: true }, "compact-summary", "This session"],
    [
      "an interrupt",
      [{ type: "text", text: "[Request interrupted by user for tool use]" }],
      {},
      "interrupt",
      "[Request interrupted by user for tool use]",
    ],
    ["a result", [{ type: "tool_result", tool_use_id: "t", content: "x" }], {}, "result", ""],
    ["nothing", undefined, {}, "prompt", ""],
  ])("%s", (_, content, over, kind, text) => {
    expect(said(content, over)).toEqual({ kind, text });
  });

  test.each<[string, (one: Conversation) => Conversation]>([
    ["its output", (one) => command(one, "<local-command-stdout>42 %</local-command-stdout>")],
    ["its output as a record", (one) => one.row("system", "o", { subtype: "local_command", content: "42 %" })],
  ])("a command that ran here leaves the end as it was, told by %s", (_, said) => {
    for (const text of ["<command-message>context</command-message>", "<command-name>/context</command-name>"]) {
      const state = fold(said(command(new Conversation("c").prompt("p").reply("a"), text)).text());
      expect(state.tail.state).toBe("over");
      expect(state.kinds.filter((kind) => (kind & 32) !== 0)).toHaveLength(1);
    }
  });

  test.each([
    "<system-reminder>x</system-reminder>",
    "<local-command-caveat>x</local-command-caveat>",
    "<bash-input>ls",
  ])("a command is not made a prompt by %s", (text) => {
    const ran = command(new Conversation("c").prompt("p").reply("a"), "<command-name>/clear</command-name>");
    const state = fold(ran.row("user", "m", { message: { content: text }, isMeta: true }).text());
    expect(state.tail.state).toBe("over");
    expect(state.kinds.filter((kind) => (kind & 32) !== 0)).toHaveLength(1);
  });

  test("a command that only ran here is no prompt, one that became a prompt is", () => {
    const count = (text: string) => fold(text).kinds.filter((kind) => (kind & 32) !== 0).length;
    const command = (content: string) => ({ message: { role: "user", content } });
    const local = new Conversation("l").row("user", "c", command("<command-name>/clear</command-name>"));
    expect(count(local.text())).toBe(0);
    expect(count(local.row("user", "o", command("<local-command-stdout></local-command-stdout>")).text())).toBe(0);
    const skill = new Conversation("s").row("user", "c", command("<command-name>/review</command-name>"));
    skill.row("user", "m", { ...command("skill text"), isMeta: true });
    expect(count(skill.text())).toBe(1);
    const first = new Conversation("f").row("user", "c", command("<command-message>review</command-message>"));
    expect(count(first.text())).toBe(1);
    expect(uuid("c")).toHaveLength(36);
  });
});
