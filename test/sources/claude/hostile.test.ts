import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { damagedLines } from "../../support/damaged-json.ts";
import { fixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { readBackward, readForward } from "../../support/walk-pages.ts";
import { Conversation, uuid } from "./rows.ts";

const NOW = evidenceOf("2026-11-20T12:00:00.000Z");
const project = join(fixture("claude", "home"), ".claude/projects/-home-dana-code-teapot-api");
const texts = readdirSync(project)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => ({ name, text: readFileSync(join(project, name), "utf8").replace(/\n[^\n]*$/u, "\n") }))
  .filter((one) => one.text.trim() !== "");

describe("whatever is in the files", () => {
  test("reading never throws, pages agree, and what lists show is clean", async () => {
    const root = temporaryDirectory();
    const folder = join(root, "projects", "-x");
    await fc.assert(
      fc.asyncProperty(fc.tuple(...texts.map((one) => damagedLines(one.text))), async (damaged) => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        for (const [i, one] of texts.entries()) writeFileSync(join(folder, one.name), damaged[i] ?? "");
        const { reader, seen } = await readSource(claudeSource, [root], NOW);
        for (const snapshot of seen.snapshots.values()) {
          const shown = [
            snapshot.title,
            snapshot.activity ?? "",
            ...snapshot.why,
            ...seen.problems.map((one) => one.message),
          ];
          expect(shown.join("")).not.toMatch(/[\u0000-\u001f\u202e]/u);
          expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
          const transcript = await reader.transcript(snapshot.key);
          for (const view of ["timeline", "context"] as const) {
            const forward = await readForward(transcript, { view, textLimit: 50 }, 7);
            expect(await readBackward(transcript, { view, textLimit: 50 }, 7)).toEqual(forward);
            for (const entry of forward.filter((one) => one.forkable)) {
              expect(await reader.fork?.plan(snapshot.key, entry.ref)).toMatchObject({ allowed: true });
            }
          }
          for (const view of reader.views(snapshot.key).filter((one) => one !== "timeline" && one !== "context")) {
            await reader.document(snapshot.key, view);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  test("side files that are no JSON, too big or the wrong kind are passed over", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("side").prompt("p").reply("a");
    const path = one.write(root);
    const folder = join(dirname(path), one.id);
    mkdirSync(join(folder, "subagents"), { recursive: true });
    mkdirSync(join(root, "sessions"));
    writeFileSync(join(folder, "custom-title.json"), "[]");
    writeFileSync(join(folder, "archived.json"), '{"archived":');
    writeFileSync(join(folder, "subagents", "agent-x.meta.json"), "x".repeat(2_000_000));
    writeFileSync(join(root, "sessions", "1.json"), JSON.stringify({ pid: "1", sessionId: one.id }));
    writeFileSync(join(root, "sessions", "2.json"), JSON.stringify({ pid: -4, sessionId: one.id }));
    writeFileSync(join(root, "sessions", "3.key"), "secret");
    const { seen } = await readSource(claudeSource, [root], NOW);
    expect(seen.byId(one.id)).toMatchObject({ title: "p", native: "idle" });
  });

  test("titles from everywhere are one clean line", async () => {
    const root = temporaryDirectory();
    const evil = "\u001b]0;x\u0007a\u2028b\n\tc\u202e";
    const one = new Conversation("evil").prompt("p", evil).reply("a");
    one.raw({ type: "custom-title", customTitle: evil, sessionId: one.id }).write(root);
    const { seen } = await readSource(claudeSource, [root], NOW);
    expect(seen.byId(one.id).title).toBe("·]0;x·a b c");
  });
});

describe("in a transcript", () => {
  test("pictures are type and size, and queued prompts are there until they are taken", async () => {
    const root = temporaryDirectory();
    const data = Buffer.alloc(90_000, 7).toString("base64");
    const one = new Conversation("media");
    one.row("user", "picture", {
      message: {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", source: { type: "base64", media_type: "image/png", data } },
        ],
      },
    });
    one.call("c").row("user", "r", {
      message: {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_c",
            is_error: true,
            content: [{ type: "text", text: "Exit code 3\nno" }],
          },
        ],
      },
    });
    one.raw({ type: "queue-operation", operation: "enqueue", content: "taken", timestamp: "2026-11-10T10:00:00.000Z" });
    one.raw({ type: "queue-operation", operation: "dequeue" });
    one.raw({ type: "queue-operation", operation: "enqueue", content: "and then this" });
    one.write(root);
    const { reader } = await readSource(claudeSource, [root], NOW);
    const transcript = await reader.transcript(`claude:${one.id}`);
    for (const textLimit of [undefined, 100]) {
      const all = await readForward(
        transcript,
        { view: "timeline", ...(textLimit === undefined ? {} : { textLimit }) },
        50,
      );
      expect(all.map((entry) => entry.ref)).toEqual([
        uuid("picture"),
        `${uuid("picture")}/1`,
        uuid("c"),
        uuid("r"),
        expect.stringMatching(/^@\d+$/u),
      ]);
      expect(all[1]?.media).toEqual({ type: "image/png", bytes: 90_000 });
      expect(all[3]?.result).toMatchObject({ for: "toolu_c", exit: 3, isError: true });
      expect(all[4]).toMatchObject({ kind: "marker", text: "queued: and then this" });
    }
  });
});
