import { join } from "node:path";
import { expect, test } from "vitest";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import type { Source } from "../../../src/sources/source.ts";
import type { ModelRequest } from "../../../src/usage/request.ts";
import { addExpected, type ExpectedTokens, tokensOf } from "../../support/agent-expected.ts";
import { copyOfFixture, readFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";

const AGENTS: [source: Source, roots: string[]][] = [
  [claudeSource, readFixture<{ roots: string[] }>("claude", "EXPECTED.json").roots],
  [codexSource, ["home/.codex"]],
  [piSource, readFixture<{ roots: string[] }>("pi", "EXPECTED.json").roots],
  [opencodeSource, ["home/.local/share/opencode", "home-v2/.local/share/opencode"]],
  [geminiSource, readFixture<{ roots: string[] }>("gemini", "EXPECTED.json").roots],
];

/** The grand total of an agent: in one place, or one of each home. */
function totalOf(name: string): ExpectedTokens {
  const { totals } = readFixture<{ totals: { tokens?: ExpectedTokens } & Record<string, unknown> }>(
    name,
    "EXPECTED.json",
  );
  if (totals.tokens !== undefined) return totals.tokens;
  return addExpected(Object.values(totals).map((one) => (one as { tokens: ExpectedTokens }).tokens));
}

test("over all five agents every request is counted once: by sessions' own usage, and by requests", async () => {
  const snapshots: Snapshot[] = [];
  const requests = new Map<string, ModelRequest>();
  for (const [source, roots] of AGENTS) {
    const copy = copyOfFixture(source.name);
    const paths = roots.map((root) => join(copy, root));
    const { seen, reader } = await readSource(source, paths, evidenceOf("2026-11-20T12:00:00.000Z"));
    for (const snapshot of seen.snapshots.values()) {
      snapshots.push(snapshot);
      for (const request of await reader.requests(snapshot.key)) requests.set(request.key, request);
    }
    await reader.close();
  }
  const expected = addExpected(AGENTS.map(([source]) => totalOf(source.name)));
  expect(addExpected(snapshots.map((one) => tokensOf(one.own)))).toEqual(expected);
  const single = [...requests.values()].map((one) => tokensOf({ ...one, requests: 1, costBasis: null }));
  expect(addExpected(single)).toEqual(expected);
});
