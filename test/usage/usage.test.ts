import { join } from "node:path";
import { calcPrice } from "@pydantic/genai-prices";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NoSuchSession, readUsageOptions, usageReport } from "../../src/commands/usage.ts";
import { WrongUsage } from "../../src/commands/wrong-usage.ts";
import { blankSnapshot } from "../../src/session/snapshot.ts";
import { claudeSource } from "../../src/sources/claude/source.ts";
import { codexSource } from "../../src/sources/codex/source.ts";
import { auditOf } from "../../src/usage/audit.ts";
import { missedCache } from "../../src/usage/cache-misses.ts";
import { formatCost } from "../../src/usage/format.ts";
import { enterOnce, GROUPINGS, type LedgerOptions, ledgerOf, type UsageSession } from "../../src/usage/ledger.ts";
import { loadPrices, sumPriced } from "../../src/usage/prices.ts";
import { type ModelRequest, NO_TOKENS } from "../../src/usage/request.ts";
import { copyOfFixture, readFixture } from "../support/fixtures.ts";
import { evidenceOf, readSource } from "../support/read-source.ts";

const prices = await loadPrices();

const request = (key: string, over: Partial<ModelRequest> = {}): ModelRequest => ({
  ...NO_TOKENS,
  key,
  time: "2026-11-10T09:00:00.000Z",
  provider: "anthropic",
  model: "claude-sonnet-4-6",
  cost: null,
  by: null,
  input: 1_000_000,
  ...over,
});

function session(id: string, requests: ModelRequest[], over: object = {}): UsageSession {
  const base = { key: `claude:${id}`, source: "claude", id, root: "/r", path: `/r/${id}` };
  const createdAt = "2026-11-10T09:00:00.000Z";
  return { snapshot: { ...blankSnapshot(base), agent: "claude", project: "/work/pot", createdAt, ...over }, requests };
}

const all: LedgerOptions = { by: "day", since: null, until: null, timezone: "UTC" };

describe("a price", () => {
  const models = [
    "claude-opus-4-6",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "gpt-5.3-codex",
    "gpt-5-codex",
    "kimi-k2.5",
  ];

  test("is what the table says of one request at its time, however it was worked out", () => {
    const tokens = fc.integer({ min: 0, max: 300_000 });
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        tokens,
        tokens,
        tokens,
        tokens,
        fc.nat(1000),
        (model, input, output, read, write, day) => {
          const write1h = Math.floor(write / 3);
          const time = new Date(Date.UTC(2025, 5, 1) + day * 43_200_000);
          const one = request("k", {
            model,
            provider: null,
            input,
            output,
            cacheRead: read,
            cacheWrite: write,
            cacheWrite1h: write1h,
            time: time.toISOString(),
          });
          const usage = {
            input_tokens: input + read + write,
            cache_read_tokens: read,
            cache_write_tokens: write,
            cache_write_1h_tokens: write1h,
            output_tokens: output,
          };
          const wanted = calcPrice(usage, model, { timestamp: time })?.total_price ?? null;
          const price = prices.price(one);
          if (wanted === null) expect(price).toBeNull();
          else expect(price).toBeCloseTo(wanted, 9);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("that the tool recorded is preferred, a model nobody knows has none, and no price is never 0", () => {
    expect(prices.price(request("k", { cost: 0.5 }))).toBe(0.5);
    expect(prices.price(request("k", { model: "no-such-model-1" }))).toBeNull();
    expect(prices.price(request("k", { model: null }))).toBeNull();
    expect(prices.price(request("k", { provider: null }))).toBeCloseTo(3, 9);
  });

  test.each(["github-copilot", "opencode", "zai", "ollama", "no-such-provider"])(
    "of a model at %s, whose prices nobody knows, is none, and its window is known",
    (provider) => {
      expect(prices.price(request("k", { provider }))).toBeNull();
      expect(prices.contextWindow(provider, "claude-sonnet-4-6", null)).toBe(1_000_000);
    },
  );

  test("at a provider with prices of its own is that provider's", () => {
    expect(prices.price(request("k", { provider: "amazon-bedrock" }))).toBeCloseTo(3.3, 9);
  });

  test("of a long prompt is dearer for the whole request", () => {
    const long = request("k", { model: "claude-sonnet-4-5", input: 100, cacheRead: 250_000, output: 1000 });
    expect(prices.price(long)).toBeCloseTo((100 * 6 + 250_000 * 0.6 + 1000 * 22.5) / 1e6, 9);
  });
});

describe("a sum", () => {
  test.each<[string, ModelRequest[], number | null, string | null]>([
    ["of recorded costs", [request("a", { cost: 1 }), request("b", { cost: 2 })], 3, "recorded"],
    ["with an estimate in it", [request("a", { cost: 1 }), request("b")], 4, "estimated"],
    ["with an unpriced request", [request("a"), request("b", { model: "unknowable" })], 3, "partial"],
    ["of unpriced requests alone", [request("b", { model: "unknowable" })], null, null],
    ["of a request twice", [request("a"), request("a")], 3, "estimated"],
    ["of nothing", [], 0, "estimated"],
  ])("%s", (_, requests, cost, basis) => {
    const sum = sumPriced(requests, prices);
    expect(sum.costBasis).toBe(basis);
    if (cost === null) expect(sum.cost).toBeNull();
    else expect(sum.cost).toBeCloseTo(cost, 9);
  });

  test("is shown with how it is known", () => {
    expect([
      formatCost(null, null),
      formatCost(1.5, "recorded"),
      formatCost(1.5, "estimated"),
      formatCost(0.0123, "partial"),
    ]).toEqual(["–", "$1.50", "~$1.50", "≥$0.0123"]);
  });
});

describe("the ledger", () => {
  test("counts a request once, for its owner, whatever the order", () => {
    const original = session("original", [request("r1"), request("r2")], { createdAt: "2026-11-12T00:00:00.000Z" });
    const fork = session("fork", [request("r1", { copied: true }), request("r3")], {
      createdAt: "2026-11-01T00:00:00.000Z",
    });
    for (const sessions of [
      [original, fork],
      [fork, original],
    ]) {
      const ledger = ledgerOf(sessions, { ...all, by: "session" }, prices);
      expect(ledger.rows.map((row) => [row.name, row.usage.requests]).sort()).toEqual([
        ["claude:fork", 1],
        ["claude:original", 2],
      ]);
      expect(ledger.duplicates).toBe(1);
      expect(ledger.total.requests).toBe(3);
    }
  });

  test("counts copies whose original is gone for the oldest session", () => {
    const young = session("young", [request("r", { copied: true })], { createdAt: "2026-11-12T00:00:00.000Z" });
    const old = session("old", [request("r", { copied: true })], { createdAt: "2026-11-11T00:00:00.000Z" });
    for (const sessions of [
      [young, old],
      [old, young],
    ]) {
      expect(enterOnce(sessions).entered.map((one) => one.session.snapshot.id)).toEqual(["old"]);
    }
  });

  test("begins days where the time zone does", () => {
    const late = session("s", [request("r", { time: "2026-11-10T23:30:00.000Z" })]);
    const day = (timezone: string) => ledgerOf([late], { ...all, timezone }, prices).rows[0]?.name;
    expect([day("UTC"), day("Europe/Berlin"), day("America/New_York")]).toEqual([
      "2026-11-10",
      "2026-11-11",
      "2026-11-10",
    ]);
  });

  test("takes both ends of a range, and nothing without a time inside one", () => {
    const days = ["2026-11-09", "2026-11-10", "2026-11-11", null];
    const one = session(
      "s",
      days.map((day, i) => request(`r${i}`, { time: day === null ? null : `${day}T12:00:00.000Z` })),
    );
    const count = (since: string | null, until: string | null) =>
      ledgerOf([one], { ...all, since, until }, prices).total.requests;
    expect([
      count(null, null),
      count("2026-11-10", null),
      count(null, "2026-11-10"),
      count("2026-11-10", "2026-11-10"),
    ]).toEqual([4, 2, 2, 1]);
    expect(ledgerOf([one], all, prices).rows.map((row) => row.name)).toContain("no time recorded");
  });

  test.each(GROUPINGS)("by %s adds up to the same total", (by) => {
    const sessions = [
      session("a", [request("1"), request("2", { model: "claude-opus-4-6", time: "2026-11-12T00:00:00.000Z" })]),
      session("b", [request("3", { model: "unknowable" })], { agent: "codex", project: null, cwd: "/x" }),
    ];
    const ledger = ledgerOf(sessions, { ...all, by }, prices);
    expect(ledger.rows.reduce((sum, row) => sum + row.usage.input, 0)).toBe(3_000_000);
    expect(ledger.total).toMatchObject({ requests: 3, costBasis: "partial" });
    expect(ledger.unpriced).toEqual({ requests: 1, models: ["unknowable"] });
  });

  test("says what the cold cache cost", () => {
    const warm = { input: 10, cacheRead: 100_000 };
    const at = (minute: number) => new Date(Date.UTC(2026, 10, 10, 9, minute)).toISOString();
    const cold = { input: 10, cacheRead: 0, cacheWrite: 100_100 };
    const missed = missedCache(
      [
        request("a", { ...warm, time: at(0) }),
        request("b", { ...warm, time: at(4) }),
        request("c", { ...cold, time: at(20) }),
      ],
      prices,
    );
    expect(missed).toMatchObject({ requests: 1, tokens: 100_010 });
    expect(missed.cost).toBeCloseTo((100_010 * (3.75 - 0.3)) / 1e6, 6);
    const shorter = [request("a", { ...warm, time: at(0) }), request("b", { input: 500, time: at(20) })];
    expect(missedCache(shorter, prices).requests).toBe(0);
  });
});

async function fixtureSessions(): Promise<UsageSession[]> {
  const claude = copyOfFixture("claude");
  const codex = copyOfFixture("codex");
  const evidence = evidenceOf("2026-11-20T12:00:00.000Z");
  const read = [
    await readSource(claudeSource, [join(claude, "home/.claude"), join(claude, "home/.config/claude")], evidence),
    await readSource(codexSource, [join(codex, "home/.codex")], evidence),
  ];
  const sessions: UsageSession[] = [];
  for (const { reader, seen } of read) {
    for (const snapshot of seen.snapshots.values())
      sessions.push({ snapshot, requests: await reader.requests(snapshot.key) });
  }
  return sessions;
}

describe("forktail usage", () => {
  const options = (over: object = {}) => readUsageOptions({ timezone: "UTC", ...over });

  test("of the real trees is their expected totals, and the sum of what sessions own", async () => {
    const sessions = await fixtureSessions();
    const wanted = ["claude", "codex"].map(
      (agent) => readFixture<{ totals: { calls: number; costUsd: number } }>(agent, "EXPECTED.json").totals,
    );
    const report = JSON.parse(await usageReport(sessions, options({ by: "agent", json: true })));
    expect(report.rows.map((row: { name: string; requests: number }) => [row.name, row.requests])).toEqual([
      ["claude", wanted[0]?.calls],
      ["codex", wanted[1]?.calls],
    ]);
    expect(report.total.cost).toBeCloseTo((wanted[0]?.costUsd ?? 0) + (wanted[1]?.costUsd ?? 0), 9);
    const bySession = JSON.parse(await usageReport(sessions, options({ by: "session", json: true })));
    for (const row of bySession.rows) {
      const own = sessions.find((one) => one.snapshot.key === row.name)?.snapshot.own;
      expect([row.requests, row.input, row.output]).toEqual([own?.requests, own?.input, own?.output]);
      expect(row.cost).toBeCloseTo(own?.cost ?? 0, 9);
    }
    expect(report.duplicates).toBeGreaterThan(0);
  });

  test("prints a table that a person can read", async () => {
    const text = await usageReport([session("s", [request("r"), request("q", { model: "unknowable" })])], options());
    expect(text.split("\n")[0]).toMatch(/^day\s+requests\s+input\s+cache read/u);
    expect(text).toContain("2026-11-10");
    expect(text).toContain("≥$3.00");
    expect(text).toContain("1 requests have no known price (unknowable)");
    expect(await usageReport([], options())).toBe("No usage was recorded.");
  });

  test("never lets a title or a model reach the terminal raw", async () => {
    const hostile = "\u001b]0;pwned\u0007\u202eevil";
    const sessions = [session("s", [request("r", { model: hostile })], { title: hostile, project: hostile })];
    for (const by of GROUPINGS)
      expect(await usageReport(sessions, options({ by }))).not.toMatch(/[\u0000-\u0009\u001b\u202e]/u);
    expect(await usageReport(sessions, options({ audit: "claude:s" }))).not.toMatch(/[\u0000-\u0009\u001b\u202e]/u);
  });

  test("--audit shows the requests behind a number and the duplicates left out", async () => {
    const sessions = await fixtureSessions();
    const fork = "claude:7e4bc244-9706-40b6-a21c-40a6995c0468";
    const original = "claude:24f85cc9-b93c-4485-a0eb-03ca52fa0c02";
    const { audit } = JSON.parse(await usageReport(sessions, options({ audit: fork, json: true })));
    expect(audit.requests.map((one: { key: string }) => one.key)).toEqual(["claude:msg_fx_c3_01"]);
    expect(audit.leftOut.map((one: { owner: string }) => one.owner)).toEqual([original, original, original, original]);
    expect(audit.own.cost).toBeCloseTo(0.014775, 9);
    expect(await usageReport(sessions, options({ audit: fork }))).toContain(
      "left out, because another session owns them: 4",
    );
    await expect(usageReport(sessions, options({ audit: "claude:none" }))).rejects.toThrow(NoSuchSession);
    expect(auditOf("none", sessions, prices)).toBeNull();
  });

  test.each([
    [{ by: "week" }, "--by is one of"],
    [{ since: "yesterday" }, "--since"],
    [{ until: "2026-02-30" }, "--until"],
    [{ timezone: "Mars/Base" }, "--timezone"],
  ])("refuses %j", (raw, message) => {
    expect(() => readUsageOptions(raw)).toThrow(WrongUsage);
    expect(() => readUsageOptions(raw)).toThrow(message);
  });

  test("takes days with and without dashes", () => {
    expect(readUsageOptions({ since: "20261101", until: "2026-11-30", timezone: "UTC" })).toMatchObject({
      by: "day",
      since: "2026-11-01",
      until: "2026-11-30",
    });
  });
});
