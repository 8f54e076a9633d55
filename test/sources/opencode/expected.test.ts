import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ProcessTable, processesFromFile, processTable } from "../../../src/probe/processes.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { loadPrices } from "../../../src/usage/prices.ts";
import { addExpected, type ExpectedTokens, pricedByTable, tokensOf } from "../../support/agent-expected.ts";
import { copyOfFixture, fixture, readFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";

interface ExpectedSession {
  key: string;
  id: string;
  store: string;
  home: string;
  cwd: string;
  startedAt: string;
  updatedAt: string;
  title: string;
  firstPrompt: string;
  lastPrompt?: string;
  models: string[];
  messages: { human: number; assistant: number; toolCalls: number };
  reverted?: { fromMessage: string; human: number; assistant: number };
  compactions?: number;
  children?: string[];
  archived?: boolean;
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
  calls: number | null;
  tokensAll: ExpectedTokens;
  tokensOwn: ExpectedTokens;
  costRecordedUsd: number;
  costAllUsd: number;
  costOwnUsd: number;
  unpricedCalls: number;
}

interface Totals {
  sessions: number;
  listed: number;
  tokens: ExpectedTokens;
  costRecordedUsd: number;
  costUsd: number;
  unpricedCalls: number;
}

interface Expected {
  now: string;
  homesInFixture: string[];
  sessionCount: number;
  listedCount: number;
  sessions: ExpectedSession[];
  totals: Record<string, Totals>;
}

const expected = readFixture<Expected>("opencode", "EXPECTED.json");
const DATA = ".local/share/opencode";

/** The fixture's processes belong to one home each. */
async function processesOf(home: string | null): Promise<ProcessTable> {
  const table = await processesFromFile(fixture("opencode", "PROCESSES.json"));
  const raw = readFixture<{ processes: { pid: number; home: string }[] }>("opencode", "PROCESSES.json");
  const mine = new Set(raw.processes.filter((one) => home === null || one.home === home).map((one) => one.pid));
  return processTable(table.all.filter((one) => mine.has(one.pid)));
}

async function read(homes: readonly string[], processes?: ProcessTable) {
  const copy = copyOfFixture("opencode");
  const roots = homes.map((home) => join(copy, home, DATA));
  const before = treeHash(copy);
  const { seen, reader } = await readSource(opencodeSource, roots, evidenceOf(expected.now, processes));
  expect(treeHash(copy)).toEqual(before);
  return { copy, seen, reader, before };
}

describe.each(expected.homesInFixture)("the real OpenCode tree %s", (home) => {
  const mine = expected.sessions.filter((one) => one.home === home);
  const totals = expected.totals[home];

  test("holds exactly the sessions it should, each once", async () => {
    const { seen } = await read([home], await processesOf(home));
    const all = [...seen.snapshots.values()];
    expect(all.map((one) => one.id).sort()).toEqual(mine.map((one) => one.id).sort());
    expect(all).toHaveLength(totals?.sessions ?? -1);
    expect(all.filter((one) => !one.hidden)).toHaveLength(totals?.listed ?? -1);
    expect(seen.problems).toEqual([]);
  });

  test.each(mine)("$key is read as expected in every field", async (one) => {
    const { copy, seen, reader, before } = await read([home], await processesOf(home));
    const snapshot = seen.byId(one.id);
    const { extra } = snapshot;
    expect(extra.store).toBe(one.store);
    expect(snapshot.cwd).toBe(one.cwd);
    expect(snapshot.createdAt).toBe(one.startedAt);
    expect(snapshot.updatedAt).toBe(one.updatedAt);
    expect(snapshot.title).toBe(one.title);
    expect(extra.firstPrompt).toBe(one.firstPrompt);
    if (one.lastPrompt !== undefined) expect(extra.lastPrompt).toBe(one.lastPrompt);
    expect(snapshot.models).toEqual(one.models);
    expect(extra.counts).toEqual(one.messages);
    expect(snapshot.messages).toBe(one.messages.human + one.messages.assistant);
    expect(extra.reverted).toEqual(one.reverted ?? null);
    expect(extra.compactions).toBe(one.compactions ?? 0);
    expect(extra.children).toEqual(one.children ?? (one.key === "l1-json" ? ["ses_JsCPeOF56D00eLGA7aava6EpLZ"] : []));
    expect(extra.archived).toBe(one.archived ?? false);
    expect(snapshot.native).toBe(one.status);
    if (one.archived === true) expect(snapshot.status).toBe("archived");
    if (one.statusDetail !== undefined) {
      expect(extra.statusDetail).toBe(one.statusDetail);
      expect(snapshot.activity).toBe(one.statusDetail);
    }
    const kin = one.parent ?? one.forkOf;
    const relation = one.parent === null ? "fork" : "subagent";
    expect(snapshot.parent).toEqual(kin === null ? null : { key: `opencode:${kin}`, relation });
    expect(extra.forkOf).toBe(one.forkOf);
    expect(extra.kind).toBe(one.kind ?? "main");
    expect(snapshot.hidden).toBe(one.listed === false);
    expect(extra.pid).toBe(one.pid ?? null);
    if (one.contextUsed !== undefined) {
      expect(snapshot.context).toEqual({ used: one.contextUsed, limit: one.contextLimit });
    }
    if (one.calls !== null) expect(snapshot.own?.requests).toBe(one.calls);
    expect(tokensOf(snapshot.usage)).toEqual(one.tokensAll);
    expect(tokensOf(snapshot.own)).toEqual(one.tokensOwn);
    expect(snapshot.own?.cost).toBeCloseTo(one.costRecordedUsd, 9);
    const requests = (await reader.requests(snapshot.key)).filter((request) => request.by === null);
    const prices = await loadPrices();
    const own = pricedByTable(
      requests.filter((request) => request.copied !== true),
      prices,
    );
    expect(pricedByTable(requests, prices).cost).toBeCloseTo(one.costAllUsd, 9);
    expect(own.cost).toBeCloseTo(one.costOwnUsd, 9);
    expect(own.unpriced).toBe(one.unpricedCalls);
    expect(snapshot.resume).toEqual({ argv: ["opencode", "-s", one.id], cwd: one.cwd });
    const page = await (await reader.transcript(snapshot.key)).page({
      view: "timeline",
      at: { edge: "end" },
      limit: 99,
    });
    expect(page.entries.length).toBeGreaterThan(0);
    for (const view of reader.views(snapshot.key)) {
      if (view !== "timeline" && view !== "context") await reader.document(snapshot.key, view);
    }
    expect(treeHash(copy)).toEqual(before);
  });

  test.each(mine)("$key without any process is $statusNoProcess", async (one) => {
    const { seen } = await read([home]);
    expect(seen.byId(one.id).native).toBe(one.statusNoProcess);
  });

  test("sums to the expected totals, each request once", async () => {
    const { seen, reader } = await read([home]);
    const all = [...seen.snapshots.values()];
    expect(addExpected(all.map((one) => tokensOf(one.own)))).toEqual(totals?.tokens);
    expect(all.reduce((sum, one) => sum + (one.own?.cost ?? 0), 0)).toBeCloseTo(totals?.costRecordedUsd ?? -1, 9);
    const requests = (await Promise.all(all.map((one) => reader.requests(one.key)))).flat();
    const once = [...new Map(requests.map((one) => [one.key, one])).values()];
    const priced = pricedByTable(once, await loadPrices());
    expect(priced.cost).toBeCloseTo(totals?.costUsd ?? -1, 9);
    expect(priced.unpriced).toBe(totals?.unpricedCalls);
  });
});

describe("two OpenCode homes at once", () => {
  test("hold the sessions of both, with the processes of both, counted once", async () => {
    const { seen } = await read(expected.homesInFixture, await processesOf(null));
    const all = [...seen.snapshots.values()];
    expect(all).toHaveLength(expected.sessionCount);
    expect(all.filter((one) => !one.hidden)).toHaveLength(expected.listedCount);
    for (const one of expected.sessions) {
      const snapshot = seen.byId(one.id);
      expect(snapshot.key).toBe(one.home === "home" ? `opencode:${one.id}` : `opencode@2:${one.id}`);
      expect([one.key, snapshot.native]).toEqual([one.key, one.status]);
    }
    const sum = addExpected(expected.homesInFixture.map((home) => expected.totals[home]?.tokens ?? null));
    expect(addExpected(all.map((one) => tokensOf(one.own)))).toEqual(sum);
  });
});
