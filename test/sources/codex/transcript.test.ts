import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { readBackward, readForward } from "../../support/walk-pages.ts";
import { Rollout, type Row } from "./rows.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const LEGACY = "codex:019c46c7-6a80-7e59-8bb3-ea414b14c1b0";
const LEGACY_FORK = "codex:019c4c24-b500-7551-8bcc-167e72ec5f76";
const REVERTED = "codex:01a1eebe-2080-7f99-8752-29891f068596";
const FORK = "codex:01a1eed9-97c0-7ea3-84fd-a5befb7f780b";
const COMPRESSED = "codex:01a1961f-5c00-7eb7-8e41-002085fbec5e";
const FIRST = "codex:01968aa5-2180-72fd-813b-f7f53177dbd8";
const SUBAGENT = "01a1eec2-b460-7dff-8827-fd6de42700a3";

async function open() {
  const copy = copyOfFixture("codex");
  const { reader, seen } = await readSource(codexSource, [join(copy, "home/.codex")], evidenceOf(NOW));
  return { copy, reader, seen };
}

const DAY = "2026-11-10T09:00:00.000Z";

async function readOne(one: Rollout, view: "timeline" | "context", textLimit?: number) {
  const root = temporaryDirectory();
  one.write(root);
  const { reader } = await readSource(codexSource, [root], evidenceOf(NOW));
  const transcript = await reader.transcript(`codex:${one.id}`);
  const limits = textLimit === undefined ? {} : { textLimit };
  const all = await readForward(transcript, { view, ...limits }, 2);
  expect(await readBackward(transcript, { view, ...limits }, 3)).toEqual(all);
  expect(new Set(all.map((entry) => entry.ref)).size).toBe(all.length);
  return {
    all,
    shown: all.map((entry) => [entry.kind, entry.role, entry.text ?? entry.call?.name ?? entry.media?.type ?? null]),
  };
}

async function said(key: string, view: "timeline" | "context" | "branch" = "timeline", of?: string) {
  const { reader } = await open();
  const all = await readForward(await reader.transcript(key), { view, ...(of === undefined ? {} : { of }) }, 50);
  return all.filter((entry) => ["message", "text"].includes(entry.kind) && !entry.injected).map((entry) => entry.text);
}

describe("a Codex transcript", () => {
  test("reads the same forwards and backwards in every view of every thread, and changes nothing", async () => {
    const { copy, reader, seen } = await open();
    const before = treeHash(copy);
    for (const { key } of seen.snapshots.values()) {
      const transcript = await reader.transcript(key);
      for (const view of ["timeline", "context"] as const) {
        for (const limit of [1, 4, 500]) {
          const forward = await readForward(transcript, { view }, limit);
          expect(await readBackward(transcript, { view }, limit)).toEqual(forward);
          expect(new Set(forward.map((entry) => entry.ref)).size).toBe(forward.length);
        }
      }
    }
    expect(treeHash(copy)).toEqual(before);
  });

  test("shows each text once, whatever families repeat it", async () => {
    expect(await said(LEGACY)).toEqual(["Add a /steep endpoint", "Endpoint added.", "Write docs", "Docs written."]);
    expect(await said(FIRST)).toEqual(["What does boil() do?", "It heats."]);
    expect(await said(COMPRESSED)).toEqual(["Bump every dependency", "Working.", "Continue"]);
  });

  test("of a legacy fork is the copied part and its own", async () => {
    expect(await said(LEGACY_FORK)).toEqual([
      "Add a /steep endpoint",
      "Endpoint added.",
      "Write docs",
      "Docs written.",
      "Port it to kettle",
      "Ported.",
    ]);
  });

  test("of a paginated fork is its base's rows and its own", async () => {
    expect(await said(FORK)).toEqual([
      "Profile the kettle loop",
      "The loop allocates per tick.",
      "Try a worker thread",
      "Worker added.",
    ]);
  });

  test("of a reverted thread is what was kept; what was left stays readable", async () => {
    expect(await said(REVERTED)).toEqual([
      "Profile the kettle loop",
      "The loop allocates per tick.",
      "Use a ring buffer",
      "Ring buffer in place.",
    ]);
    const { reader } = await open();
    const branches = await reader.document(REVERTED, "branches");
    const items = branches.blocks.flatMap((block) => (block.type === "tree" ? block.items : []));
    expect(items.map((item) => item.label)).toEqual(["Use a ring buffer", "Now rewrite it all"]);
    expect(await said(REVERTED, "branch", items[1]?.open?.of)).toEqual([
      "Profile the kettle loop",
      "The loop allocates per tick.",
      "Cache the buffer",
      "Cached.",
      "Now rewrite it all",
    ]);
  });

  test("of a sub-agent begins with its own rows", async () => {
    expect(await said(REVERTED, "branch", `agent:${SUBAGENT}`)).toEqual([
      "Measure allocations only",
      "1.2 MB per tick.",
    ]);
    const { reader } = await open();
    const team = await reader.document(REVERTED, "team");
    const rows = team.blocks.flatMap((block) => (block.type === "table" ? block.rows : []));
    expect(rows.map((row) => row.cells[1])).toEqual(["Basil", "internal"]);
  });

  test("holds calls, results, steps and the compaction, after which the context begins", async () => {
    const { reader } = await open();
    const transcript = await reader.transcript(COMPRESSED);
    const all = await readForward(transcript, { view: "timeline" }, 100);
    expect(all.map((entry) => entry.kind)).toEqual([
      "start",
      "marker",
      "message",
      "text",
      "step",
      "step",
      "compaction",
      "message",
      "call",
      "step",
    ]);
    expect(all[8]?.call).toEqual({ id: "call_x8_1", name: "exec_command", args: { cmd: "npm update" } });
    expect(all[4]?.usage).toMatchObject({ input: 30_000, cacheRead: 200_000, output: 900 });
    expect(all.filter((entry) => entry.inContext).map((entry) => entry.kind)).toEqual([
      "compaction",
      "message",
      "call",
    ]);
    const context = await readForward(transcript, { view: "context" }, 100);
    expect(context[0]?.kind).toBe("compaction");
    expect(all[0]?.n).toBe(1);
  });

  test.each([undefined, 500])(
    "shows what was asked in an IDE, whatever stands before it (texts up to %s bytes)",
    async (textLimit) => {
      const context = `# Context from my IDE setup:\n\n## Open tabs:\n${"- file.ts\n".repeat(5000)}\n`;
      for (const paginated of [true, false]) {
        const one = new Rollout(DAY, { paginated }).prompt(`${context}## My request for Codex:\nFix the kettle`);
        const { all } = await readOne(one.reply("Fixed.").done(), "timeline", textLimit);
        const said = all.filter((entry) => ["message", "text"].includes(entry.kind));
        expect(said.map((entry) => entry.text)).toEqual(["Fix the kettle", "Fixed."]);
      }
    },
  );

  test("shows arguments as text where they are nested too deep to be printed", async () => {
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    const one = new Rollout(DAY).prompt("p");
    one.line("response_item", { type: "function_call", name: "x", arguments: `{"a":${deep}}`, call_id: "c" });
    const { all } = await readOne(one, "timeline");
    expect(all.find((entry) => entry.kind === "call")?.call?.args).toBe(`{"a":${deep}}`);
  });

  test("offers forks before turns, not inside them", async () => {
    const { reader } = await open();
    const all = await readForward(await reader.transcript(LEGACY), { view: "timeline" }, 100);
    expect(all.filter((entry) => entry.forkable).map((entry) => entry.text)).toEqual(["Write docs"]);
  });

  test("has documents for all its views", async () => {
    const { reader, seen } = await open();
    for (const { key } of seen.snapshots.values()) {
      for (const view of reader.views(key)) {
        if (view === "timeline" || view === "context") continue;
        expect((await reader.document(key, view)).blocks.length).toBeGreaterThan(0);
      }
    }
  });
});

describe("what a compaction kept", () => {
  const user = (text: string): Row => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
  const compact = (one: Rollout, message: string, kept: unknown): Rollout =>
    one.event("task_started", { turn_id: "t" }).line("compacted", { message, replacement_history: kept }).done();
  const behind = [
    ["marker", null, "model: gpt-5.4"],
    ["message", "user", "second"],
    ["text", "assistant", "b"],
  ];

  test.each<[string, string, unknown, unknown[][]]>([
    [
      "messages, its summary one of them",
      "",
      [user("KEPT PROMPT"), user("SUMMARY")],
      [
        ["compaction", null, ""],
        ["message", "user", "KEPT PROMPT"],
        ["message", "user", "SUMMARY"],
      ],
    ],
    [
      "a summary that is said twice",
      "SUMMARY",
      [user("KEPT PROMPT"), user("Another model worked on this.\nSUMMARY")],
      [
        ["compaction", null, null],
        ["message", "user", "KEPT PROMPT"],
        ["message", "user", "Another model worked on this.\nSUMMARY"],
      ],
    ],
    [
      "a summary that stands nowhere else",
      "SUMMARY",
      [user("KEPT PROMPT")],
      [
        ["compaction", null, "SUMMARY"],
        ["message", "user", "KEPT PROMPT"],
      ],
    ],
    [
      "rows of every kind",
      "",
      [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "<permissions instructions>" }] },
        user("<environment_context>"),
        {
          ...{ type: "message", role: "user" },
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          ],
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "a reply" }] },
        { type: "reasoning", summary: [{ type: "summary_text", text: "a thought" }] },
        { type: "function_call", name: "exec_command", arguments: "{}", call_id: "k" },
        { type: "function_call_output", call_id: "k", output: "ok" },
        { type: "nobody knows" },
        null,
        7,
      ],
      [
        ["compaction", null, ""],
        ["system", "developer", "<permissions instructions>"],
        ["message", "user", "<environment_context>"],
        ["message", "user", "look"],
        ["message", "user", "image/png"],
        ["text", "assistant", "a reply"],
        ["thinking", "assistant", "a thought"],
        ["call", "assistant", "exec_command"],
        ["result", "tool", "ok"],
      ],
    ],
    ["nothing, as in older versions", "SUMMARY", undefined, [["compaction", null, "SUMMARY"]]],
    ["what is no list", "SUMMARY", { 0: "x" }, [["compaction", null, "SUMMARY"]]],
  ])("is in the context, and once in the timeline: %s", async (_, message, kept, context) => {
    for (const paginated of [true, false]) {
      const one = new Rollout(DAY, { paginated }).prompt("first").reply("a").done();
      compact(one, "AN EARLIER ONE", [user("not kept")]);
      compact(one, message, kept).prompt("second", { model: "gpt-5.4" }).reply("b").done();
      const { all, shown } = await readOne(one, "context");
      expect(shown).toEqual([...context, ...behind]);
      expect(all.filter((entry) => !entry.inContext).map((entry) => entry.kind)).toEqual(["marker"]);
      const timeline = (await readOne(one, "timeline")).shown.filter(([kind]) => kind !== "start");
      const earlier = [
        ["marker", null, "model: gpt-5.3-codex"],
        ["message", "user", "first"],
        ["text", "assistant", "a"],
        ["compaction", null, "AN EARLIER ONE"],
      ];
      expect(timeline).toEqual([...earlier, ["compaction", null, message], ...behind]);
    }
  });
});
