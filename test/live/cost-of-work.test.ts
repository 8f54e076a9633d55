import { appendFileSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeAgentsCorpus } from "../../scripts/agents-corpus.mjs";
import { fileWork } from "../../src/files/open.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";
import { until } from "../support/until.ts";
import { Followed, following } from "./live.ts";

const NOW = new Date("2026-11-20T12:00:00.000Z");

function corpus(source: "claude" | "codex", sessions: number, bytes: number) {
  const made = makeAgentsCorpus({ dir: temporaryDirectory(), sessions, bytes, sources: [source], now: NOW });
  return { root: made.roots[0]?.path ?? "", largest: made.largest.path };
}

/** What the index holds: names, sizes and inodes, which change whenever it is written. */
function indexOf(state: string): string[] {
  return readdirSync(join(state, "folds"))
    .sort()
    .map((name) => {
      const { ino, size } = statSync(join(state, "folds", name));
      return `${name} ${ino} ${size}`;
    });
}

async function started(root: string, source: string, state: string): Promise<Followed> {
  return following([root], { source, state });
}

function reply(n: number): string {
  const message = {
    id: `m${n}`,
    role: "assistant",
    model: "claude-sonnet-4-6",
    content: [{ type: "text", text: "ok" }],
  };
  const usage = { input_tokens: 3, output_tokens: 4 };
  const time = new Date(NOW.getTime() + n).toISOString();
  return `${JSON.stringify({ type: "assistant", uuid: `00000000-0000-4000-8000-00000000000${n}`, parentUuid: null, timestamp: time, message: { ...message, usage } })}\n`;
}

test("a first start hands files to reading threads, and tells nothing more until its screen is ready", async () => {
  const { root } = corpus("claude", 400, 4_000_000);
  const at = new Followed([root], { source: "claude" });
  const drawn = Promise.withResolvers<void>();
  const started = at.live.start({ ...at.sink, ready: () => drawn.promise });
  await at.live.handedOver();
  await until(() => at.sessions.size > 0);
  const first = at.sessions.size;
  expect(first).toBeLessThan(100);
  await new Promise((resolve) => setImmediate(resolve));
  expect(at.sessions.size).toBe(first);
  drawn.resolve();
  await started;
  expect(at.sessions.size).toBe(400);
});

test("leaving does not wait for what is still unread, nor for a screen that never comes", async () => {
  const { root } = corpus("claude", 400, 4_000_000);
  const at = new Followed([root], { source: "claude" });
  const started = at.live.start({ ...at.sink, ready: () => new Promise<void>(() => undefined) });
  await until(() => at.sessions.size > 0);
  await at.live.close();
  await started;
  expect(at.sessions.size).toBeLessThan(400);
});

test.each(["first", "second"])(
  "in a %s reading of thousands the event loop goes on between batches, so that keys are heard",
  async (which) => {
    const { root } = corpus("codex", 3000, 12_000_000);
    const state = temporaryDirectory();
    if (which === "second") await (await started(root, "codex", state)).live.close();
    const at = new Followed([root], { source: "codex", state });
    let most = 0;
    let before = 0;
    let over = false;
    const look = (): void => {
      most = Math.max(most, at.sessions.size - before);
      before = at.sessions.size;
      if (!over) setTimeout(look, 0);
    };
    look();
    await at.live.start(at.sink);
    over = true;
    expect(at.sessions.size).toBe(3000);
    // One batch is used in one go, never the next one with it.
    expect(most).toBeLessThanOrEqual(256);
  },
);

describe.each(["claude", "codex"] as const)("a second start of %s", (source) => {
  test("opens no file that did not change, and writes nothing", async () => {
    const { root } = corpus(source, 60, 600_000);
    const state = temporaryDirectory();
    const first = await started(root, source, state);
    const told = new Map(first.sessions);
    expect(told.size).toBe(60);
    await first.live.close();
    const before = indexOf(state);
    const tree = treeHash(root);
    Object.assign(fileWork, { opens: 0, bytesRead: 0, stats: 0 });
    const second = await started(root, source, state);
    // The index and our own memory; none of the 60.
    expect(fileWork.opens).toBeLessThan(10);
    expect(fileWork.stats).toBeGreaterThanOrEqual(60);
    await second.live.close();
    expect(indexOf(state)).toEqual(before);
    expect(new Map(second.sessions)).toEqual(told);
    expect(treeHash(root)).toEqual(tree);
  });

  test("reads of a changed file what was appended, of a replaced one all", async () => {
    const { root, largest } = corpus(source, 1, 8_000_000);
    const state = temporaryDirectory();
    const first = await started(root, source, state);
    await first.live.close();
    const lines = readFileSync(largest, "utf8").trimEnd().split("\n");
    appendFileSync(largest, `${lines.at(-1)}\n`);
    Object.assign(fileWork, { opens: 0, bytesRead: 0, stats: 0 });
    const index = Number(indexOf(state)[0]?.split(" ").at(-1));
    const second = await started(root, source, state);
    // The state, and the index once more where it is written anew.
    expect(fileWork.bytesRead).toBeLessThan(3 * index + 64 * 1024);
    expect(fileWork.bytesRead).toBeLessThan(2_000_000);
    await second.live.close();
    // As long as before, other contents, an older time: only the inode and the times tell.
    const text = readFileSync(largest, "utf8");
    writeFileSync(largest, text.slice(0, text.indexOf("\n") + 1));
    utimesSync(largest, NOW, NOW);
    const third = await started(root, source, state);
    const fresh = await started(root, source, temporaryDirectory());
    expect(new Map(third.sessions)).toEqual(new Map(fresh.sessions));
  });
});

describe("appends to a large Claude Code session", () => {
  test("read what was appended, whatever the size; the first one also looks up its state once", async () => {
    const { root, largest } = corpus("claude", 1, 24_000_000);
    const at = await started(root, "claude", temporaryDirectory());
    const [key = ""] = at.sessions.keys();
    const requests = at.sessions.get(key)?.usage?.requests ?? 0;
    expect(requests).toBeGreaterThan(500);
    for (const n of [1, 2, 3]) {
      fileWork.bytesRead = 0;
      appendFileSync(largest, reply(n));
      await at.until(key, (one) => one?.usage?.requests === requests + n);
      // The second look ~100 ms later is part of the cost.
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(fileWork.bytesRead).toBeLessThan(n === 1 ? 2_000_000 : 32 * 1024);
    }
  });
});

describe("two forktails on one state directory", () => {
  test("both tell everything, and the index they leave is whole", async () => {
    const { root } = corpus("claude", 80, 1_500_000);
    const state = temporaryDirectory();
    const both = [new Followed([root], { source: "claude", state }), new Followed([root], { source: "claude", state })];
    await Promise.all(both.map((one) => one.live.start(one.sink)));
    const [one, other] = both.map((at) => new Map(at.sessions));
    expect(one?.size).toBe(80);
    expect(other).toEqual(one);
    await Promise.all(both.map((at) => at.live.close()));
    expect(indexOf(state)).toHaveLength(1);
    Object.assign(fileWork, { opens: 0, bytesRead: 0, stats: 0 });
    const third = await started(root, "claude", state);
    expect(fileWork.opens).toBeLessThan(80);
    expect(new Map(third.sessions)).toEqual(one);
  });
});
