import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startDemo } from "../../src/demo/play.ts";
import { parseScenario, type Scenario, timeline } from "../../src/demo/scenario.ts";
import { demoSessions } from "../../src/demo/sessions.ts";
import { derive, read, Sessions, waiting } from "../../src/sources/statefile/index.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";
import { until } from "../support/until.ts";

const now = new Date("2026-11-20T12:00:00.000Z");

async function written(at: number, sessions?: Scenario[]): Promise<string> {
  const dir = temporaryDirectory();
  await startDemo({ dir, speed: Number.POSITIVE_INFINITY, at, now, ...(sessions === undefined ? {} : { sessions }) });
  return dir;
}

describe("the demo as files", () => {
  test("the same moment of the story is the same bytes and times", async () => {
    const [one, two] = [await written(70), await written(70)];
    const files = (dir: string) => withoutDirectories(treeHash(join(dir, "mainplane")));
    expect(files(one)).toEqual(files(two));
    expect(Object.keys(files(one)).length).toBeGreaterThanOrEqual(8);
  });

  test("shows every status a state file can have, without a step of the clock", async () => {
    const seen = new Set<string>();
    for (const at of [0, 30]) {
      const dir = join(await written(at), "mainplane");
      for (const name of readdirSync(dir)) seen.add(derive(read(join(dir, name))));
    }
    expect([...seen].sort()).toEqual(["closed", "failed", "interrupted", "open"]);
  });

  test("files are as old as their last record, and the records as old as the story says", async () => {
    const dir = join(await written(0), "mainplane");
    for (const name of readdirSync(dir)) {
      const last = read(join(dir, name)).at(-1);
      expect(Math.abs(statSync(join(dir, name)).mtimeMs - Date.parse(last?.time ?? ""))).toBeLessThan(1000);
      expect(Date.parse(last?.time ?? "")).toBeLessThanOrEqual(now.getTime());
    }
  });

  test("a fork begins with the bytes of the session it was made from", async () => {
    const sessions = new Sessions(join(await written(0), "mainplane"));
    for (const { id, forkOf } of demoSessions()) {
      if (forkOf === undefined || forkOf.id.length !== 8) continue;
      const [parent, fork] = [sessions.load(forkOf.id), sessions.load(id)];
      const copied = forkOf.beats + 2;
      expect(fork.slice(0, copied)).toEqual(parent.slice(0, copied));
      expect(fork[copied]?.kind).toBe("message");
      expect(fork[copied]?.body).not.toEqual(parent[copied]?.body);
      expect(waiting(fork)).toEqual([]);
    }
  });

  test("every session of the whole story can be loaded, numbered without a gap, and ends addressed", async () => {
    const sessions = new Sessions(join(await written(3600), "mainplane"));
    for (const id of await sessions.list()) {
      const records = sessions.load(id);
      expect(records.map((record) => record.n)).toEqual(records.map((_, i) => i + 1));
    }
  });

  test("steps grow to the limit of the context, never beyond their session's prompt", async () => {
    const records = new Sessions(join(await written(3600), "mainplane")).load("b27c94d0");
    const prompts = records.flatMap(({ usage }) =>
      usage === undefined ? [] : [usage.input + usage.cacheRead + usage.cacheWrite],
    );
    expect(prompts).toEqual([...prompts].sort((a, b) => a - b));
    expect(prompts.at(-1)).toBeGreaterThan(200_000);
    expect(records.at(-1)?.kind).toBe("error");
  });
});

describe("the demo live", () => {
  const ticking: Scenario = parseScenario({
    source: "statefile",
    id: "00c0ffee",
    begins: -10,
    model: "anthropic/claude-haiku-5",
    limit: 1000,
    cwd: "/",
    beats: [
      { message: "hello" },
      { after: 15, text: "one" },
      { step: { prompt: 10, output: 1 } },
      { after: 5, message: "again" },
    ],
    repeat: { from: 1, pause: 5, times: 2 },
  });

  test("writes the past at once, then the rest beat by beat, and is done when the story is over", async () => {
    const demo = await startDemo({ sessions: [ticking], speed: 40 });
    const path = join(demo.dir, "mainplane", "00c0ffee.state");
    expect(demo.roots).toEqual([{ source: "statefile", path: join(demo.dir, "mainplane") }]);
    const kinds = () => read(path).map((record) => record.kind);
    const past = ["start", "config", "message"];
    expect(kinds().slice(0, 3)).toEqual(past);
    const seen = new Set<number>();
    await until(
      () => seen.add(kinds().length).size > 1 && kinds().length,
      (count) => count === 3 + 9,
    );
    expect(seen.size).toBeGreaterThan(2);
    await demo.done;
    const round = ["text", "step", "message"];
    expect(kinds()).toEqual([...past, ...round, ...round, ...round]);
    await demo.stop();
    expect(existsSync(demo.dir)).toBe(false);
  });

  test("stops at a signal, and keeps a directory that it was given", async () => {
    const dir = temporaryDirectory();
    const stop = new AbortController();
    const demo = await startDemo({ dir, sessions: [ticking], signal: stop.signal });
    stop.abort();
    await demo.done;
    await demo.stop();
    expect(read(join(dir, "mainplane", "00c0ffee.state"))).toHaveLength(3);
  });

  test("a session that cannot be played says what is wrong", async () => {
    expect(() => parseScenario({ ...ticking, limit: "many" })).toThrow("limit");
    expect(() => parseScenario({ ...ticking, repeat: { from: 99, pause: 1, times: 1 } })).toThrow("99 is no beat");
    await expect(
      startDemo({ dir: temporaryDirectory(), sessions: [{ ...ticking, source: "nobody" }] }),
    ).rejects.toThrow("nobody plays sessions of nobody");
    expect(() => [...timeline({ ...ticking, forkOf: { id: "x", beats: 1 } }, [])]).toThrow("fork of x");
  });
});

function withoutDirectories(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([, facts]) => !facts.includes(" dir ")));
}

test("the process table that comes with it is one that the probe takes", async () => {
  const dir = await written(0);
  expect(JSON.parse(readFileSync(join(dir, "processes.json"), "utf8"))).toHaveProperty("processes");
});
