import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeAgentsCorpus } from "../../scripts/agents-corpus.mjs";
import { makeCorpus } from "../../scripts/corpus.mjs";
import { read, waiting } from "../../src/sources/statefile/index.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";

const now = new Date("2026-11-20T12:00:00.000Z");

test("a corpus is the same bytes for the same options, and has about the size that was asked for", async () => {
  const [one, two] = [temporaryDirectory(), temporaryDirectory()];
  for (const dir of [one, two]) await makeCorpus({ dir, sessions: 60, bytes: 600_000, now });
  const files = (dir: string) => Object.entries(treeHash(join(dir, "mainplane"))).filter(([name]) => name !== ".");
  expect(files(one)).toEqual(files(two));
  expect(files(one)).toHaveLength(60);
  const bytes = readdirSync(join(one, "mainplane"))
    .map((name) => statSync(join(one, "mainplane", name)).size)
    .reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(400_000);
  expect(bytes).toBeLessThan(1_200_000);
});

test("its sessions are whole: every record decodes and every call has its result", async () => {
  const dir = temporaryDirectory();
  await makeCorpus({ dir, sessions: 5, records: 500, now });
  for (const name of readdirSync(join(dir, "mainplane"))) {
    const records = read(join(dir, "mainplane", name));
    expect(records.length).toBeGreaterThan(400);
    expect(records.length).toBeLessThan(600);
    expect(waiting(records).length).toBeLessThan(2);
  }
});

test("it can be of several tools at once", async () => {
  const dir = temporaryDirectory();
  const { roots } = await makeCorpus({ dir, sessions: 6, sources: ["statefile", "claude", "codex"], now });
  expect(roots.map(({ source }) => source)).toEqual(["statefile", "claude", "codex"]);
  for (const { path } of roots) {
    const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files).toHaveLength(2);
  }
});

test("sessions of Claude Code and Codex too: few large ones, and about the size that was asked for", () => {
  const [one, two] = [temporaryDirectory(), temporaryDirectory()];
  const made = [one, two].map((dir) => makeAgentsCorpus({ dir, sessions: 80, bytes: 8_000_000, now }));
  const files = (dir: string) =>
    Object.entries(treeHash(dir)).flatMap(([name, what]) =>
      what.includes(" dir ") ? [] : [[name, what.split(" ").at(-1)]],
    );
  expect(files(one)).toEqual(files(two));
  const sizes = readdirSync(one, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith(".jsonl"))
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .sort((a, b) => a - b);
  expect(sizes.length).toBeGreaterThanOrEqual(80);
  expect(made[0]?.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  expect(made[0]?.bytes).toBeGreaterThan(7_000_000);
  expect(made[0]?.bytes).toBeLessThan(10_000_000);
  expect(made[0]?.largest.bytes).toBe(sizes.at(-1));
  expect(sizes.at(-1)).toBeGreaterThan(10 * (sizes[Math.floor(sizes.length / 2)] ?? 0));
});
