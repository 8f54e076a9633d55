import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDemo } from "../../src/demo/play.ts";
import { parseScenario, type Scenario } from "../../src/demo/scenario.ts";
import { takeEvidence } from "../../src/probe/take.ts";
import { claudeSource } from "../../src/sources/claude/source.ts";
import { readSource } from "../support/read-source.ts";
import { temporaryDirectory } from "../support/temp.ts";

const now = new Date("2026-11-20T12:00:00.000Z");

/** Every bundled session of a tool, also of one that the program cannot read yet. */
function bundled(source: string): Scenario[] {
  const folder = new URL(`../../assets/demo/${source}/`, import.meta.url);
  return readdirSync(folder).map((name) => parseScenario(JSON.parse(readFileSync(new URL(name, folder), "utf8"))));
}

async function claudeAt(at: number) {
  const dir = temporaryDirectory();
  const demo = await startDemo({ dir, at, now, speed: Number.POSITIVE_INFINITY, sessions: bundled("claude") });
  const env = { ...demo.env, FORKTAIL_NOW: now.toISOString() };
  const evidence = await takeEvidence(
    claudeSource.probes.filter((probe) => probe === "processes"),
    env,
  );
  const { seen } = await readSource(
    claudeSource,
    demo.roots.map(({ path }) => path),
    evidence,
    { env },
  );
  expect(seen.problems).toEqual([]);
  expect([...seen.snapshots.values()].flatMap((snapshot) => snapshot.damage)).toEqual([]);
  return seen;
}

test("a Claude session works, asks for a permission, goes on when it is given, and waits for the person at its end", async () => {
  const [permission, upload] = ["4f6f0d6a-2d0e-4b57-9f0e-6a1c0f5f7b21", "b8d1c7e2-91a4-4c1d-8a7e-3d5f2e90c614"];
  const early = await claudeAt(0);
  expect(early.byId(permission)).toMatchObject({
    status: "needs-input",
    certainty: "recorded",
    title: "Drop the legacy price column",
  });
  expect(early.byId(permission).activity).toContain("psql");
  expect(early.byId(upload).status).toBe("working");
  const late = await claudeAt(600);
  expect(late.byId(permission).status).toBe("done");
  expect(late.byId(upload)).toMatchObject({ status: "done", messages: 8 });
});

test("a Claude session's requests add up to what its steps say", async () => {
  const prompts = bundled("claude").find((one) => one.id.startsWith("4f6f"))?.beats ?? [];
  const steps = prompts.flatMap((beat) => ("step" in beat ? [beat.step] : []));
  const { usage, context } = (await claudeAt(600)).byId("4f6f0d6a-2d0e-4b57-9f0e-6a1c0f5f7b21");
  expect(usage?.requests).toBe(steps.length);
  expect(usage?.output).toBe(steps.reduce((sum, step) => sum + step.output, 0));
  expect(context?.used).toBe((steps.at(-1)?.prompt ?? 0) + (steps.at(-1)?.output ?? 0));
});

test("Codex rollouts are numbered without a gap, lie in the folder of their day, and are as old as they say", async () => {
  const dir = temporaryDirectory();
  const sessions = bundled("codex");
  await startDemo({ dir, at: 0, now, speed: Number.POSITIVE_INFINITY, sessions });
  const folder = join(dir, "codex", "sessions", "2026", "11", "20");
  const names = readdirSync(folder);
  expect(names).toHaveLength(sessions.length);
  for (const name of names) {
    const path = join(folder, name);
    const rows = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map((row) => row.ordinal)).toEqual(rows.map((_, i) => i));
    expect(rows[0].payload.id).toBe(/-([0-9a-f-]{36})\.jsonl$/u.exec(name)?.[1]);
    expect(Math.abs(statSync(path).mtimeMs - Date.parse(rows.at(-1).timestamp))).toBeLessThan(1000);
  }
});

test("a running Codex holds the lock of its thread in the pretended process table", async () => {
  const dir = temporaryDirectory();
  const demo = await startDemo({ dir, at: 0, now, speed: Number.POSITIVE_INFINITY, sessions: bundled("codex") });
  const { processes } = await takeEvidence(["processes"], demo.env);
  const held = processes?.all.flatMap((process) => process.locksHeld) ?? [];
  expect(held).toEqual([join(dir, "codex", "thread-writer-locks", "01a1fa3c-7d10-7c52-9b1e-54c2a8e6f013.lock")]);
  for (const path of held) expect(statSync(path).isFile()).toBe(true);
});
