import { join } from "node:path";
import { expect } from "vitest";
import type { Source } from "../../src/sources/source.ts";
import { addExpected, type ExpectedTokens, tokensOf } from "./agent-expected.ts";
import { copyOfFixture, readFixture } from "./fixtures.ts";
import { evidenceOf, readSource } from "./read-source.ts";
import { treeHash } from "./tree-hash.ts";

interface ExpectedReport {
  sessionIds: string[];
  sessions?: Record<string, { title?: string; cwd?: string; forkOf?: string; tokensOwn?: ExpectedTokens }>;
  sumOwn?: Partial<ExpectedTokens>;
}

/** A case of `fixtures/reports`: everything its `expected.json` says, and nothing changed by reading. */
export async function checkReport(source: Source, name: string, root: string): Promise<void> {
  const expected = readFixture<ExpectedReport>("reports", name, "expected.json");
  const copy = copyOfFixture("reports", name);
  const before = treeHash(copy);
  const { seen } = await readSource(source, [join(copy, root)], evidenceOf("2026-11-10T12:00:00.000Z"));
  const listed = [...seen.snapshots.values()].filter((one) => !one.hidden);
  expect(listed.map((one) => one.id).sort()).toEqual([...expected.sessionIds].sort());
  for (const [id, one] of Object.entries(expected.sessions ?? {})) {
    const snapshot = seen.byId(id);
    if (one.title !== undefined) expect(snapshot.title).toBe(one.title);
    if (one.cwd !== undefined) expect(snapshot.cwd).toBe(one.cwd);
    if (one.tokensOwn !== undefined) expect(tokensOf(snapshot.own)).toEqual(one.tokensOwn);
    if (one.forkOf !== undefined) {
      expect(snapshot.parent).toEqual({ key: `${source.name}:${one.forkOf}`, relation: "fork" });
    }
  }
  if (expected.sumOwn !== undefined) {
    expect(addExpected([...seen.snapshots.values()].map((one) => tokensOf(one.own)))).toMatchObject(expected.sumOwn);
  }
  expect(treeHash(copy)).toEqual(before);
}
