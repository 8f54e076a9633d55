import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { processesFromFile } from "../../../src/probe/processes.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import { loadPrices } from "../../../src/usage/prices.ts";
import { addExpected, type ExpectedTokens, pricedByTable, tokensOf } from "../../support/agent-expected.ts";
import { copyOfFixture, fixture, readFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";

interface ExpectedSession {
  key: string;
  id: string;
  file: string;
  cwd: string;
  startedAt: string;
  updatedAt: string;
  title: string;
  firstPrompt: string;
  lastPrompt?: string;
  models: string[];
  messages: { human: number; assistant: number; toolCalls: number };
  abandoned?: { human: number; assistant: number };
  labels?: Record<string, string>;
  compactions?: number;
  branchSummaries?: number;
  status: string;
  statusDetail?: string;
  statusNoProcess: string;
  parent: string | null;
  forkOf: string | null;
  forkOfMissing?: boolean;
  kind?: string;
  listed?: boolean;
  pid?: number;
  contextUsed?: number;
  contextLimit?: number;
  calls: number;
  tokensAll: ExpectedTokens;
  tokensOwn: ExpectedTokens;
  costRecordedUsd: number;
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
  totals: { calls: number; tokens: ExpectedTokens; costRecordedUsd: number; costUsd: number; unpricedCalls: number };
}

const expected = readFixture<Expected>("pi", "EXPECTED.json");

async function read(withProcesses: boolean) {
  const copy = copyOfFixture("pi");
  const processes = withProcesses ? await processesFromFile(fixture("pi", "PROCESSES.json")) : undefined;
  const roots = expected.roots.map((root) => join(copy, root));
  const before = treeHash(copy);
  const { seen, reader } = await readSource(piSource, roots, evidenceOf(expected.now, processes));
  expect(treeHash(copy)).toEqual(before);
  return { copy, seen, reader };
}

describe("the real pi tree", () => {
  test("holds exactly the sessions it should, each once", async () => {
    const { seen } = await read(true);
    const all = [...seen.snapshots.values()];
    expect(all.map((one) => one.id).sort()).toEqual(expected.sessions.map((one) => one.id).sort());
    expect(all).toHaveLength(expected.sessionCount);
    expect(all.filter((one) => !one.hidden)).toHaveLength(expected.listedCount);
    expect(seen.problems.map((one) => one.kind)).toEqual(["not-sessions"]);
    expect(seen.problems[0]?.message).toContain("3 .jsonl files");
  });

  test.each(expected.sessions)("$key is read as expected in every field", async (one) => {
    const { copy, seen, reader } = await read(true);
    const snapshot = seen.byId(one.id);
    const { extra } = snapshot;
    expect(snapshot.path).toBe(join(copy, one.file));
    expect(snapshot.cwd).toBe(one.cwd);
    expect(snapshot.createdAt).toBe(one.startedAt);
    expect(snapshot.updatedAt).toBe(one.updatedAt);
    expect(snapshot.title).toBe(one.title);
    expect(extra.firstPrompt).toBe(one.firstPrompt);
    if (one.lastPrompt !== undefined) expect(extra.lastPrompt).toBe(one.lastPrompt);
    expect(snapshot.models).toEqual(one.models);
    expect(extra.counts).toEqual(one.messages);
    expect(snapshot.messages).toBe(one.messages.human + one.messages.assistant);
    expect(extra.abandoned).toEqual(one.abandoned ?? { human: 0, assistant: 0 });
    expect(extra.labels).toEqual(one.labels ?? {});
    expect(extra.compactions).toBe(one.compactions ?? 0);
    expect(extra.branchSummaries).toBe(one.branchSummaries ?? 0);
    expect(snapshot.native).toBe(one.status);
    if (one.statusDetail !== undefined) {
      expect(extra.statusDetail).toBe(one.statusDetail);
      expect(snapshot.activity).toBe(one.statusDetail);
    }
    const kin = one.parent ?? one.forkOf;
    const relation = one.parent === null ? "fork" : "subagent";
    expect(snapshot.parent).toEqual(kin === null ? null : { key: `pi:${kin}`, relation });
    expect(extra.forkOf).toBe(one.forkOf);
    expect(extra.forkOfMissing).toBe(one.forkOfMissing ?? false);
    expect(extra.kind).toBe(one.kind ?? "main");
    expect(snapshot.hidden).toBe(one.listed === false);
    if (one.pid !== undefined) expect(extra.pid).toBe(one.pid);
    else expect(extra.pid).toBeNull();
    if (one.contextUsed !== undefined) {
      expect(snapshot.context).toEqual({ used: one.contextUsed, limit: one.contextLimit });
    }
    expect(snapshot.own?.requests).toBe(one.calls);
    expect(tokensOf(snapshot.usage)).toEqual(one.tokensAll);
    expect(tokensOf(snapshot.own)).toEqual(one.tokensOwn);
    expect(snapshot.own?.cost).toBeCloseTo(one.costRecordedUsd, 9);
    if (one.calls > 0) expect(snapshot.own?.costBasis).toBe("recorded");
    const requests = (await reader.requests(snapshot.key)).filter((request) => request.by === null);
    const prices = await loadPrices();
    const all = pricedByTable(requests, prices);
    const own = pricedByTable(
      requests.filter((request) => request.copied !== true),
      prices,
    );
    expect(all.cost).toBeCloseTo(one.costAllUsd, 9);
    expect(own.cost).toBeCloseTo(one.costOwnUsd, 9);
    expect(own.unpriced).toBe(one.unpricedCalls);
    expect(snapshot.resume).toEqual({ argv: ["pi", "--session", snapshot.path], cwd: one.cwd });
  });

  test.each(expected.sessions)("$key without any process is $statusNoProcess", async (one) => {
    const { seen } = await read(false);
    expect(seen.byId(one.id).native).toBe(one.statusNoProcess);
    expect(seen.byId(one.id).extra.pid).toBeNull();
  });

  test("without a look at processes an open turn is unknown, never working", async () => {
    const copy = copyOfFixture("pi");
    const roots = expected.roots.map((root) => join(copy, root));
    const { seen } = await readSource(piSource, roots, { ...evidenceOf(expected.now), processes: null });
    expect(seen.byId("nightly.build-7")).toMatchObject({ status: "unknown", native: "unknown", certainty: "guess" });
  });

  test("sums to the expected totals, each request once", async () => {
    const { seen, reader } = await read(true);
    const all = [...seen.snapshots.values()];
    expect(addExpected(all.map((one) => tokensOf(one.own)))).toEqual(expected.totals.tokens);
    expect(all.reduce((sum, one) => sum + (one.own?.requests ?? 0), 0)).toBe(expected.totals.calls);
    expect(all.reduce((sum, one) => sum + (one.own?.cost ?? 0), 0)).toBeCloseTo(expected.totals.costRecordedUsd, 9);
    const requests = (await Promise.all(all.map((one) => reader.requests(one.key)))).flat();
    const once = [...new Map(requests.map((one) => [one.key, one])).values()];
    expect(once).toHaveLength(expected.totals.calls);
    const priced = pricedByTable(once, await loadPrices());
    expect(priced.cost).toBeCloseTo(expected.totals.costUsd, 9);
    expect(priced.unpriced).toBe(expected.totals.unpricedCalls);
  });
});
