import { utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { processesFromFile } from "../../../src/probe/processes.ts";
import type { Usage } from "../../../src/session/snapshot.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
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
  files?: string[];
  cwd: string;
  cwdFrom?: string;
  title: string | null;
  titleFrom?: string;
  firstPrompt: string | null;
  lastPrompt?: string;
  models: string[];
  messages: { human: number; assistant: number; toolCalls: number };
  abandoned?: { human: number; assistant: number };
  compactions?: number;
  status: string;
  statusMaybe?: string;
  statusDetail?: string;
  statusNoProcess: string;
  parent: string | null;
  forkOf: string | null;
  kind?: string;
  listed?: boolean;
  archived?: boolean;
  programmatic?: boolean;
  gitBranch?: string;
  pid?: number;
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
  listedCount: number;
  sessions: ExpectedSession[];
  totals: { calls: number; tokens: Tokens; costUsd: number };
}

const expected = readFixture<Expected>("codex", "EXPECTED.json");
const FILE_TIME = "2025-05-01T07:30:00.000Z";

function tokensOf(usage: Usage | null): Tokens {
  // The first generation records none: that is no number, and sums as nothing.
  const { input = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0, reasoning = 0 } = usage ?? {};
  return { input, cacheRead, cacheWrite5m: cacheWrite - cacheWrite1h, cacheWrite1h, output, reasoning };
}

async function read(withProcesses: boolean) {
  const copy = copyOfFixture("codex");
  const first = expected.sessions.find((one) => one.key === "x11-first-gen");
  utimesSync(join(copy, first?.file ?? ""), new Date(FILE_TIME), new Date(FILE_TIME));
  const processes = withProcesses ? await processesFromFile(fixture("codex", "PROCESSES.json")) : undefined;
  const roots = expected.roots.map((root) => join(copy, root));
  const before = treeHash(copy);
  const { seen } = await readSource(codexSource, roots, evidenceOf(expected.now, processes));
  expect(treeHash(copy)).toEqual(before);
  return { copy, seen };
}

describe("the real Codex tree", () => {
  test("holds exactly the threads it should, each once", async () => {
    const { seen } = await read(true);
    const all = [...seen.snapshots.values()];
    expect(all.map((one) => one.id).sort()).toEqual(expected.sessions.map((one) => one.id).sort());
    expect(all).toHaveLength(expected.sessionCount);
    expect(all.filter((one) => !one.hidden)).toHaveLength(expected.listedCount);
    expect(seen.problems.map((one) => one.kind).sort()).toEqual(["duplicate", "not-sessions"]);
  });

  test.each(expected.sessions)("$key is read as expected in every field", async (one) => {
    const { copy, seen } = await read(true);
    const snapshot = seen.byId(one.id);
    const { extra } = snapshot;
    expect(snapshot.path).toBe(join(copy, one.file));
    expect(extra.files).toEqual((one.files ?? [one.file]).map((file) => join(copy, file)));
    expect(snapshot.cwd).toBe(one.cwd);
    if (one.cwdFrom !== undefined) expect(extra.cwdFrom).toBe(one.cwdFrom);
    expect(snapshot.title).toBe(one.title ?? one.id);
    if (one.titleFrom?.startsWith("session_index")) expect(extra.titleFrom).toBe("session_index");
    expect(extra.firstPrompt).toBe(one.firstPrompt);
    if (one.lastPrompt !== undefined) expect(extra.lastPrompt).toBe(one.lastPrompt);
    expect(snapshot.models).toEqual(one.models);
    expect(extra.counts).toEqual(one.messages);
    expect(snapshot.messages).toBe(one.messages.human + one.messages.assistant);
    expect(extra.abandoned).toEqual(one.abandoned ?? { human: 0, assistant: 0 });
    expect(extra.compactions).toBe(one.compactions ?? 0);
    expect(snapshot.native).toBe(one.status);
    if (one.statusMaybe !== undefined) expect(snapshot.activity).toContain("approval");
    if (one.statusDetail !== undefined) expect(snapshot.activity).toBe(one.statusDetail);
    const parent = one.forkOf ?? one.parent;
    const relation = one.forkOf === null ? "subagent" : "fork";
    expect(snapshot.parent).toEqual(parent === null ? null : { key: `codex:${parent}`, relation });
    expect(extra.kind).toBe(one.kind ?? "user");
    expect(snapshot.hidden).toBe(one.listed === false);
    expect(extra.archived).toBe(one.archived ?? false);
    expect(snapshot.status === "archived").toBe(one.archived ?? false);
    expect(extra.programmatic).toBe(one.programmatic ?? false);
    if (one.gitBranch !== undefined) expect(extra.gitBranch).toBe(one.gitBranch);
    if (one.pid !== undefined) expect(extra.pid).toBe(one.pid);
    if (one.contextUsed !== undefined) {
      expect(snapshot.context).toEqual({ used: one.contextUsed, limit: one.contextLimit });
    }
    expect(snapshot.createdAt).toBe(one.startedAt);
    expect(snapshot.updatedAt).toBe(one.updatedAt.startsWith("file mtime") ? FILE_TIME : one.updatedAt);
    expect(snapshot.own?.requests ?? 0).toBe(one.calls);
    expect(tokensOf(snapshot.usage)).toEqual(one.tokensAll);
    expect(tokensOf(snapshot.own)).toEqual(one.tokensOwn);
    expect(snapshot.usage?.cost ?? 0).toBeCloseTo(one.costAllUsd, 9);
    expect(snapshot.own?.cost ?? 0).toBeCloseTo(one.costOwnUsd, 9);
    if (snapshot.own !== null) expect(snapshot.own.costBasis).toBe(one.unpricedCalls === 0 ? "estimated" : "partial");
    expect(snapshot.resume).toEqual({ argv: ["codex", "resume", one.id], cwd: one.cwd });
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
