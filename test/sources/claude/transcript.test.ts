import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { readBackward, readForward } from "../../support/walk-pages.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const MODERN = "claude:24f85cc9-b93c-4485-a0eb-03ca52fa0c02";
const COMPACTED = "claude:2e6ed21e-d0c1-4351-ac48-f485666288a1";
const REWOUND = "claude:3ce14e35-0bea-494e-ae30-8a2d0822ee9c";

async function open() {
  const copy = copyOfFixture("claude");
  const roots = [join(copy, "home/.claude"), join(copy, "home/.config/claude")];
  const { reader, seen } = await readSource(claudeSource, roots, evidenceOf(NOW));
  return { copy, reader, seen };
}

describe("a Claude transcript", () => {
  test("reads the same forwards and backwards in every view of every session, and changes nothing", async () => {
    const { copy, reader, seen } = await open();
    const before = treeHash(copy);
    for (const { key } of seen.snapshots.values()) {
      const transcript = await reader.transcript(key);
      for (const view of ["timeline", "context"] as const) {
        for (const limit of [1, 3, 500]) {
          const forward = await readForward(transcript, { view }, limit);
          expect(await readBackward(transcript, { view }, limit)).toEqual(forward);
          expect(new Set(forward.map((entry) => entry.ref)).size).toBe(forward.length);
        }
      }
      transcript.close();
    }
    expect(treeHash(copy)).toEqual(before);
  });

  test("shows prompts, thinking, calls, results, titles and usage once a request", async () => {
    const { reader } = await open();
    const all = await readForward(await reader.transcript(MODERN), { view: "timeline" }, 100);
    expect(all.map((entry) => `${entry.kind} ${entry.text ?? entry.call?.name ?? ""}`)).toEqual([
      "message Add rate limits to the brew endpoint",
      "thinking plan",
      "call Task",
      "result Found one limiter.",
      "text There is one limiter; I will reuse it. ☕",
      "marker turn over after 61 s",
      "marker titled: Add rate limits to brew endpoint",
      "message Now write the test",
      "call Write",
      "result File created",
      "text Test written.",
      "marker turn over after 30 s",
      "marker renamed: Brew limits",
      "marker tagged: api",
    ]);
    expect(all.filter((entry) => entry.usage !== null)).toHaveLength(4);
    expect(all[3]?.via).toBe("agent:a1b2c3d4e5f60718");
    expect(all[2]?.call?.args).toEqual({
      description: "Scan limits",
      prompt: "Find existing limiters",
      subagent_type: "Explore",
    });
    expect(all.filter((entry) => entry.forkable).map((entry) => entry.text)).toEqual(["Now write the test"]);
    expect(all[0]?.n).toBe(6);
  });

  test("opens a sub-agent in place", async () => {
    const { reader } = await open();
    const transcript = await reader.transcript(MODERN);
    const all = await readForward(transcript, { view: "branch", of: "agent:a1b2c3d4e5f60718" }, 10);
    expect(all.map((entry) => entry.kind)).toEqual(["message", "call", "result", "text"]);
    await expect(
      transcript.page({ view: "branch", of: "agent:nobody", at: { edge: "end" }, limit: 5 }),
    ).rejects.toThrow("no sub-agent");
  });

  test("divides at a compaction: before it stays readable, and the kept segment is what the model sees", async () => {
    const { reader } = await open();
    const transcript = await reader.transcript(COMPACTED);
    const all = await readForward(transcript, { view: "timeline" }, 100);
    expect(all.map((entry) => entry.kind)).toEqual([
      "message",
      "text",
      "marker",
      "compaction",
      "message",
      "message",
      "call",
    ]);
    expect(all[3]?.text).toBe("compacted (auto, 150510 → 3000 tokens)");
    expect(all[4]?.injected).toBe(true);
    expect(all.map((entry) => entry.inContext)).toEqual([false, true, true, true, true, true, true]);
    expect(all.every((entry) => entry.branch)).toBe(true);
    const context = await readForward(transcript, { view: "context" }, 100);
    expect(context.map((entry) => entry.text ?? entry.call?.name)).toEqual([
      "compacted (auto, 150510 → 3000 tokens)",
      all[4]?.text,
      "Starting.",
      "turn over after 5 s",
      "Go on with step two",
      "Bash",
    ]);
  });

  test("keeps a branch that was rewound readable, and says it was left", async () => {
    const { reader } = await open();
    const transcript = await reader.transcript(REWOUND);
    const all = await readForward(transcript, { view: "timeline" }, 100);
    const left = all.filter((entry) => !entry.branch);
    expect(left.map((entry) => entry.text)).toEqual(["Use snake case", "Now snake case."]);
    const branches = await reader.document(REWOUND, "branches");
    const items = branches.blocks.flatMap((block) => (block.type === "tree" ? block.items : []));
    expect(items.map((item) => item.label)).toEqual(["Use kebab case", "Use snake case"]);
    const of = items[1]?.open?.of ?? "";
    const branch = await readForward(transcript, { view: "branch", of }, 10);
    expect(branch.map((entry) => entry.text)).toEqual([
      "Rename the config keys",
      "Renamed.",
      "Use snake case",
      "Now snake case.",
    ]);
  });

  test("begins a page with an entry, keeps unchanged entries, and cuts text where asked", async () => {
    const { reader } = await open();
    const transcript = await reader.transcript(MODERN);
    const all = await readForward(transcript, { view: "timeline" }, 100);
    const ref = all[7]?.ref ?? "";
    const page = await transcript.page({ view: "timeline", at: { ref }, limit: 2 });
    expect(page.entries[0]).toBe(all[7]);
    const cut = await transcript.page({ view: "timeline", at: { ref }, limit: 1, textLimit: 3 });
    expect(cut.entries[0]).toMatchObject({ text: "Now", clipped: 15 });
  });

  test("has documents for all its views", async () => {
    const { reader, seen } = await open();
    for (const { key } of seen.snapshots.values()) {
      for (const view of reader.views(key)) {
        if (view === "timeline" || view === "context") continue;
        const document = await reader.document(key, view);
        expect(document.blocks.length).toBeGreaterThan(0);
      }
    }
    expect(reader.views(MODERN)).toContain("team");
    expect(reader.views(REWOUND)).not.toContain("team");
  });
});
