import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { processesFromFile } from "../../../src/probe/processes.ts";
import type { Usage } from "../../../src/session/snapshot.ts";
import { cleanLine } from "../../../src/session/untrusted.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { copyOfFixture, fixture, readFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { treeHash } from "../../support/tree-hash.ts";

interface Tokens {
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  reasoning: number;
}

interface ExpectedSession {
  key: string;
  id: string;
  file: string;
  cwd: string;
  title: string;
  firstPrompt: string | null;
  lastPrompt?: string;
  models: string[];
  messages: { human: number; assistant: number; toolCalls: number };
  abandoned?: { human: number; assistant: number };
  status: string;
  statusDetail?: string;
  statusNoProcess: string;
  parent: null;
  forkOf: string | null;
  forkPoint?: string;
  tag?: string;
  programmatic?: boolean;
  compactions?: number;
  gitBranch?: string;
  lastCwd?: string;
  pid?: number;
  badLines?: number;
  subagents?: { agentId: string; type?: string; model: string; calls: number }[];
  contextUsed?: number;
  contextLimit?: number;
  startedAt: string;
  updatedAt: string;
  calls: number;
  tokensAll: Tokens;
  tokensOwn: Tokens;
  costAllUsd: number;
  costOwnUsd: number;
  unpricedCalls: number;
}

interface Expected {
  now: string;
  roots: string[];
  sessionCount: number;
  sessions: ExpectedSession[];
  totals: { calls: number; tokens: Tokens; costUsd: number };
}

const expected = readFixture<Expected>("claude", "EXPECTED.json");

function tokensOf(usage: Usage | null): Tokens | null {
  if (usage === null) return null;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = usage;
  return { input, cacheRead, cacheWrite5m: cacheWrite - cacheWrite1h, cacheWrite1h, output, reasoning };
}

async function read(withProcesses: boolean) {
  const copy = copyOfFixture("claude");
  const processes = withProcesses ? await processesFromFile(fixture("claude", "PROCESSES.json")) : undefined;
  const roots = expected.roots.map((root) => join(copy, root));
  const before = treeHash(copy);
  const { seen, reader } = await readSource(claudeSource, roots, evidenceOf(expected.now, processes));
  expect(treeHash(copy)).toEqual(before);
  return { copy, seen, reader };
}

describe("the real Claude tree", () => {
  test("holds exactly the sessions it should, each once", async () => {
    const { seen } = await read(true);
    expect([...seen.snapshots.values()].map((one) => one.id).sort()).toEqual(
      expected.sessions.map((one) => one.id).sort(),
    );
    expect(seen.snapshots.size).toBe(expected.sessionCount);
    expect(seen.problems.map((one) => one.kind).sort()).toEqual(["duplicate", "not-sessions", "orphan"]);
  });

  test.each(expected.sessions)("$key is read as expected in every field", async (one) => {
    const { copy, seen } = await read(true);
    const snapshot = seen.byId(one.id);
    const { extra } = snapshot;
    expect(snapshot.path).toBe(join(copy, one.file));
    expect(snapshot.cwd).toBe(one.cwd);
    expect(snapshot.title).toBe(one.title);
    expect(extra.firstPrompt).toBe(one.firstPrompt === null ? null : cleanLine(one.firstPrompt));
    if (one.lastPrompt !== undefined) expect(extra.lastPrompt).toBe(one.lastPrompt);
    expect(snapshot.models).toEqual(one.models);
    expect(extra.counts).toEqual(one.messages);
    expect(snapshot.messages).toBe(one.messages.human + one.messages.assistant);
    expect(extra.abandoned).toEqual(one.abandoned ?? { human: 0, assistant: 0 });
    expect(snapshot.native).toBe(one.status);
    if (one.statusDetail !== undefined) {
      expect(extra.statusDetail).toBe(one.statusDetail);
      expect(snapshot.activity).toContain(one.statusDetail);
    }
    expect(snapshot.parent).toEqual(one.forkOf === null ? null : { key: `claude:${one.forkOf}`, relation: "fork" });
    expect(extra.forkPoint).toBe(one.forkPoint ?? null);
    expect(extra.tag).toBe(one.tag ?? null);
    expect(extra.programmatic).toBe(one.programmatic ?? false);
    expect(extra.compactions).toBe(one.compactions ?? 0);
    if (one.gitBranch !== undefined) expect(extra.gitBranch).toBe(one.gitBranch);
    expect(extra.lastCwd).toBe(one.lastCwd ?? null);
    if (one.pid !== undefined) expect(extra.pid).toBe(one.pid);
    expect(snapshot.damage).toHaveLength(one.badLines ?? 0);
    expect(extra.subagents).toMatchObject(one.subagents ?? []);
    if (one.contextUsed !== undefined) {
      expect(snapshot.context).toEqual({ used: one.contextUsed, limit: one.contextLimit });
    }
    expect(snapshot.createdAt).toBe(one.startedAt);
    expect(snapshot.updatedAt).toBe(one.updatedAt);
    expect(snapshot.own?.requests).toBe(one.calls);
    expect(tokensOf(snapshot.usage)).toEqual(one.tokensAll);
    expect(tokensOf(snapshot.own)).toEqual(one.tokensOwn);
    expect(snapshot.usage?.cost).toBeCloseTo(one.costAllUsd, 9);
    expect(snapshot.own?.cost).toBeCloseTo(one.costOwnUsd, 9);
    expect(snapshot.own?.costBasis).toBe(one.unpricedCalls === 0 ? "estimated" : "partial");
    expect(snapshot.resume).toEqual({ argv: ["claude", "--resume", one.id], cwd: one.cwd });
  });

  test.each(expected.sessions)("$key without any process is $statusNoProcess", async (one) => {
    const { seen } = await read(false);
    expect(seen.byId(one.id).native).toBe(one.statusNoProcess);
  });

  test("sums to the expected totals", async () => {
    const { seen } = await read(true);
    const own = [...seen.snapshots.values()].map((one) => one.own);
    const sum = (of: (usage: Usage) => number): number => own.reduce((all, usage) => all + (usage ? of(usage) : 0), 0);
    const { calls, tokens, costUsd } = expected.totals;
    expect(sum((one) => one.requests)).toBe(calls);
    expect({
      input: sum((one) => one.input),
      cacheRead: sum((one) => one.cacheRead),
      cacheWrite5m: sum((one) => one.cacheWrite - one.cacheWrite1h),
      cacheWrite1h: sum((one) => one.cacheWrite1h),
      output: sum((one) => one.output),
      reasoning: sum((one) => one.reasoning),
    }).toEqual(tokens);
    expect(sum((one) => one.cost ?? 0)).toBeCloseTo(costUsd, 9);
  });
});
