import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesFromFile } from "../../../src/probe/processes.ts";
import type { Usage } from "../../../src/session/snapshot.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { copyOfFixture, fixture, readFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";

interface Case {
  agent: string;
  sessionIds: string[];
  listed?: string[];
  sumOwn?: Record<string, number>;
  sessions?: Record<
    string,
    {
      title?: string | null;
      kind?: string;
      parent?: string;
      cwd?: string;
      status?: string;
      statusNoProcess?: string;
      forkOf?: string | null;
      messages?: Record<string, number>;
      tokensOwn?: Record<string, number>;
      tokensAll?: Record<string, number>;
      costUsd?: number;
      resume?: { argv: string[]; cwd: string };
    }
  >;
}

const cases = readdirSync(fixture("reports"))
  .map((name) => ({ name, expected: readFixture<Case>("reports", name, "expected.json") }))
  .filter((one) => one.expected.agent === "codex");

function tokensOf(usage: Usage | null): Record<string, number> {
  const { input = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0, reasoning = 0 } = usage ?? {};
  return { input, cacheRead, cacheWrite5m: cacheWrite - cacheWrite1h, cacheWrite1h, output, reasoning };
}

test("there are cases to check", () => {
  expect(cases.length).toBeGreaterThanOrEqual(6);
});

test.each(cases)("the report $name is answered right", async ({ name, expected }) => {
  const copy = copyOfFixture("reports", name);
  const before = treeHash(copy);
  const file = join(copy, "PROCESSES.json");
  const processes = existsSync(file) ? await processesFromFile(file) : undefined;
  const roots = [join(copy, "home", ".codex")];
  const now = "2026-11-10T10:00:00.000Z";
  const { seen } = await readSource(codexSource, roots, evidenceOf(now, processes));
  const without = await readSource(codexSource, roots, evidenceOf(now));
  expect(treeHash(copy)).toEqual(before);
  expect([...seen.snapshots.values()].map((one) => one.id).sort()).toEqual([...expected.sessionIds].sort());
  if (expected.listed !== undefined) {
    expect([...seen.snapshots.values()].filter((one) => !one.hidden).map((one) => one.id)).toEqual(expected.listed);
  }
  for (const [id, wanted] of Object.entries(expected.sessions ?? {})) {
    const snapshot = seen.byId(id);
    if (wanted.title !== undefined) expect(snapshot.title).toBe(wanted.title ?? id);
    if (wanted.kind !== undefined) expect(snapshot.extra.kind).toBe(wanted.kind);
    if (wanted.parent !== undefined) expect(snapshot.parent?.key).toBe(`codex:${wanted.parent}`);
    if (wanted.cwd !== undefined) expect(snapshot.cwd).toBe(wanted.cwd);
    if (wanted.status !== undefined) expect(snapshot.native).toBe(wanted.status);
    if (wanted.statusNoProcess !== undefined) expect(without.seen.byId(id).native).toBe(wanted.statusNoProcess);
    if (wanted.messages !== undefined) expect(snapshot.extra.counts).toMatchObject(wanted.messages);
    if (wanted.tokensOwn !== undefined) expect(tokensOf(snapshot.own)).toEqual(wanted.tokensOwn);
    if (wanted.tokensAll !== undefined) expect(tokensOf(snapshot.usage)).toEqual(wanted.tokensAll);
    if (wanted.costUsd !== undefined) expect(snapshot.own?.cost).toBeCloseTo(wanted.costUsd, 9);
    if (wanted.forkOf !== undefined) {
      expect(snapshot.parent?.key ?? null).toBe(wanted.forkOf === null ? null : `codex:${wanted.forkOf}`);
    }
    if (wanted.resume !== undefined) expect(snapshot.resume).toEqual(wanted.resume);
  }
  for (const [bucket, sum] of Object.entries(expected.sumOwn ?? {})) {
    const all = [...seen.snapshots.values()].map((one) => tokensOf(one.own)[bucket] ?? 0);
    expect(all.reduce((a, b) => a + b, 0)).toBe(sum);
  }
});
