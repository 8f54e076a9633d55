import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { processesFromFile } from "../../../src/probe/processes.ts";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { loadPrices } from "../../../src/usage/prices.ts";
import { addExpected, type ExpectedTokens, pricedByTable, tokensOf } from "../../support/agent-expected.ts";
import { copyOfFixture, fixture, readFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";

interface ExpectedSession {
  key: string;
  id: string;
  file: string;
  cwd: string | null;
  startedAt: string;
  updatedAt: string;
  title: string;
  titleFrom: string;
  firstPrompt: string;
  lastPrompt?: string;
  models: string[];
  messages: { human: number; assistant: number; toolCalls: number };
  abandoned?: { human: number; assistant: number };
  status: string;
  statusDetail?: string;
  statusNoProcess: string;
  parent: string | null;
  forkOf: string | null;
  kind?: string;
  listed?: boolean;
  pid?: number;
  contextUsed?: number;
  contextLimit?: number;
  calls: number;
  tokensAll: ExpectedTokens;
  tokensOwn: ExpectedTokens;
  costAllUsd: number;
  costOwnUsd: number;
  unpricedCalls: number;
}

interface Expected {
  now: string;
  roots: string[];
  sessionCount: number;
  listedCount: number;
  sessions: ExpectedSession[];
  totals: { calls: number; tokens: ExpectedTokens; costUsd: number; unpricedCalls: number };
}

const expected = readFixture<Expected>("gemini", "EXPECTED.json");

async function read(withProcesses: boolean) {
  const copy = copyOfFixture("gemini");
  const processes = withProcesses ? await processesFromFile(fixture("gemini", "PROCESSES.json")) : undefined;
  const roots = expected.roots.map((root) => join(copy, root));
  const before = treeHash(copy);
  const { seen, reader } = await readSource(geminiSource, roots, evidenceOf(expected.now, processes));
  expect(treeHash(copy)).toEqual(before);
  return { copy, seen, reader, before };
}

describe("the real Gemini tree", () => {
  test("holds exactly the sessions it should, each once", async () => {
    const { seen } = await read(true);
    const all = [...seen.snapshots.values()];
    expect(all.map((one) => one.id).sort()).toEqual(expected.sessions.map((one) => one.id).sort());
    expect(all).toHaveLength(expected.sessionCount);
    expect(all.filter((one) => !one.hidden)).toHaveLength(expected.listedCount);
    expect(seen.problems.map((one) => one.kind).sort()).toEqual(["duplicate", "not-sessions"]);
    expect(seen.problems.find((one) => one.kind === "not-sessions")?.message).toContain(
      "1 of a start only, 1 unreadable",
    );
  });

  test.each(expected.sessions)("$key is read as expected in every field", async (one) => {
    const { copy, seen, reader, before } = await read(true);
    const snapshot = seen.byId(one.id);
    const { extra } = snapshot;
    expect(snapshot.path).toBe(join(copy, one.file));
    expect(snapshot.cwd).toBe(one.cwd);
    expect(snapshot.createdAt).toBe(one.startedAt);
    // A chat whose expected time stands nowhere in it was last written within a second of what does.
    if (readFileSync(snapshot.path, "utf8").includes(one.updatedAt)) expect(snapshot.updatedAt).toBe(one.updatedAt);
    else expect(Date.parse(one.updatedAt) - Date.parse(snapshot.updatedAt ?? "")).toBeLessThan(1000);
    expect(snapshot.title).toBe(one.title);
    expect(extra.titleFrom).toBe(one.titleFrom === "summary" ? "summary" : "first prompt");
    expect(extra.firstPrompt).toBe(one.firstPrompt);
    if (one.lastPrompt !== undefined) expect(extra.lastPrompt).toBe(one.lastPrompt);
    expect(snapshot.models).toEqual(one.models);
    expect(extra.counts).toEqual(one.messages);
    expect(snapshot.messages).toBe(one.messages.human + one.messages.assistant);
    expect(extra.abandoned).toEqual(one.abandoned ?? { human: 0, assistant: 0 });
    expect(snapshot.native).toBe(one.status);
    if (one.statusDetail !== undefined) {
      expect(extra.statusDetail).toBe(one.statusDetail);
      expect(snapshot.activity).toBe(one.statusDetail);
    }
    expect(snapshot.parent).toEqual(one.parent === null ? null : { key: `gemini:${one.parent}`, relation: "subagent" });
    expect(extra.forkOf).toBe(one.forkOf);
    expect(extra.kind).toBe(one.kind ?? "main");
    expect(snapshot.hidden).toBe(one.listed === false);
    expect(extra.pid).toBe(one.pid ?? null);
    if (one.contextUsed !== undefined) {
      expect(snapshot.context).toEqual({ used: one.contextUsed, limit: one.contextLimit });
    }
    expect(snapshot.own?.requests).toBe(one.calls);
    expect(tokensOf(snapshot.usage)).toEqual(one.tokensAll);
    expect(tokensOf(snapshot.own)).toEqual(one.tokensOwn);
    expect(snapshot.usage?.cost).toBeCloseTo(one.costAllUsd, 9);
    expect(snapshot.own?.cost).toBeCloseTo(one.costOwnUsd, 9);
    const requests = (await reader.requests(snapshot.key)).filter((request) => request.by === null);
    expect(pricedByTable(requests, await loadPrices())).toEqual({
      cost: expect.closeTo(one.costAllUsd, 9),
      unpriced: one.unpricedCalls,
    });
    const resume =
      one.cwd === null || one.listed === false ? null : { argv: ["gemini", "--resume", one.id], cwd: one.cwd };
    expect(snapshot.resume).toEqual(resume);
    for (const view of reader.views(snapshot.key)) {
      if (view !== "timeline" && view !== "context") await reader.document(snapshot.key, view);
    }
    expect(treeHash(copy)).toEqual(before);
  });

  test.each(expected.sessions)("$key without any process is $statusNoProcess", async (one) => {
    const { seen } = await read(false);
    expect(seen.byId(one.id).native).toBe(one.statusNoProcess);
  });

  test("sums to the expected totals, each request once", async () => {
    const { seen, reader } = await read(true);
    const all = [...seen.snapshots.values()];
    expect(addExpected(all.map((one) => tokensOf(one.own)))).toEqual(expected.totals.tokens);
    expect(all.reduce((sum, one) => sum + (one.own?.requests ?? 0), 0)).toBe(expected.totals.calls);
    const requests = (await Promise.all(all.map((one) => reader.requests(one.key)))).flat();
    const once = [...new Map(requests.map((one) => [one.key, one])).values()];
    expect(pricedByTable(once, await loadPrices())).toEqual({
      cost: expect.closeTo(expected.totals.costUsd, 9),
      unpriced: expected.totals.unpricedCalls,
    });
  });
});
