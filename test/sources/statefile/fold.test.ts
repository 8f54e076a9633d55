import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advanceFile, bytesOf, runNow } from "../../../src/files/fold.ts";
import { fileWork } from "../../../src/files/open.ts";
import { allowedByTool, planCut } from "../../../src/sources/statefile/cuts.ts";
import {
  anomaliesOf,
  type StateOfFile,
  shapeOf,
  statefileFold,
  statusOf,
} from "../../../src/sources/statefile/fold.ts";
import { encode } from "../../../src/sources/statefile/index.ts";
import { fixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { expected } from "./expected.ts";

function foldOf(bytes: Buffer): { state: StateOfFile; good: number } {
  const state = statefileFold.initial();
  return { good: runNow(statefileFold.advance(state, bytesOf(bytes), 0)), state };
}

const all = Object.entries(expected.sessions);

describe("the tolerant fold", () => {
  test.each(all)("%s agrees with the oracle", (id, one) => {
    const { state, good } = foldOf(readFileSync(fixture("statefile", "sessions", `${id}.state`)));
    // The oracle sorts them; ours are in order of first use (design §4).
    const models = [...state.models].sort();
    const step = state.steps.at(-1);
    const usage = step?.usage;
    const used = usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0;
    const limit = state.conf?.context ?? null;
    const total = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
      state.steps.reduce((sum, each) => sum + (each.usage?.[key] ?? 0), 0);
    const ms = (time: string | null): number | null => (time === null ? null : Date.parse(time));
    const title = state.firstMessage?.split("\n")[0] ?? null;
    expect({
      is_session: state.records > 0,
      records: state.records,
      good_bytes: good,
      dropped_bytes: state.tailBytes,
      tail: state.tail,
      torn: state.tail.startsWith("torn"),
      corrupt: state.tail.startsWith("bad"),
      anomalies: anomaliesOf(state).map((anomaly) => anomaly.text),
      status: state.records > 0 ? statusOf(state) : null,
      shape: shapeOf(state),
      waiting: state.waiting.map((call) => ({ n: call.n, id: call.id })),
      prompt_tokens: used,
      context_limit: limit,
      context_fill: limit === null ? null : used / limit,
      totals: {
        input: total("input"),
        output: total("output"),
        cache_read: total("cacheRead"),
        cache_write: total("cacheWrite"),
      },
      steps: state.steps.length,
      config_model: state.conf?.model ?? null,
      last_model: step?.model ?? null,
      last_provider: step?.provider ?? null,
      models,
      workers: state.conf?.workers.map((worker) => worker.name) ?? [],
      created: ms(state.created),
      updated: ms(state.updated),
      kinds: state.kinds,
      next_upto: state.lastN,
      first_message: title,
    }).toEqual({
      is_session: one.is_session,
      records: one.records,
      good_bytes: one.good_bytes,
      dropped_bytes: one.dropped_bytes,
      tail: one.tail,
      torn: one.torn,
      corrupt: one.corrupt,
      anomalies: one.anomalies,
      status: one.status,
      shape: one.shape,
      waiting: one.waiting,
      prompt_tokens: one.prompt_tokens,
      context_limit: one.context_limit,
      context_fill: one.context_fill,
      totals: one.totals,
      steps: one.steps,
      config_model: one.config_model,
      last_model: one.last_model ?? (one.steps > 0 ? "" : null),
      last_provider: one.last_provider ?? (one.steps > 0 ? "" : null),
      models: one.models,
      workers: one.workers,
      created: ms(one.created),
      updated: ms(one.updated),
      kinds: one.kinds,
      next_upto: one.next_upto,
      first_message: one.first_message?.split("\n")[0] ?? null,
    });
  });

  test.each(all)("%s offers exactly the cuts that the tool allows", (_id, one) => {
    const { state } = foldOf(readFileSync(fixture("statefile", "sessions", one.file)));
    for (const cut of one.cuts) {
      const kindOf = (n: number): string => one.record_table[n - 1]?.kind ?? "";
      expect(allowedByTool(state, cut.n, kindOf) ?? "").toBe(cut.reason);
      const plan = planCut(state, "x", cut.n, kindOf);
      expect(plan.allowed).toBe(cut.allowed);
      if (!plan.allowed || cut.copy_status === null) continue;
      expect(plan.status).toBe(cut.copy_status === "closed" ? "idle" : cut.copy_status);
      // A copy that would start running by itself is only made after a question.
      expect(plan.ask !== null).toBe(cut.copy_status === "open");
    }
  });

  test.each(all)("%s: growing in random pieces ends like one reading, at every stop", (_id, one) => {
    const bytes = readFileSync(fixture("statefile", "sessions", one.file));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 30 }), (steps) => {
        const state = statefileFold.initial();
        let good = 0;
        let size = 0;
        for (const step of [...steps, bytes.length]) {
          size = Math.min(bytes.length, size + step);
          good = runNow(statefileFold.advance(state, bytesOf(bytes.subarray(0, size)), good));
          const whole = foldOf(bytes.subarray(0, size));
          expect(good).toBe(whole.good);
          expect(state).toEqual(whole.state);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe("a file on disk", () => {
  const record = (n: number, text: string): Buffer =>
    encode({
      n,
      kind: n === 1 ? "start" : "message",
      id: "5eed0001",
      time: "2026-09-28T20:01:03Z",
      len: 0,
      type: "text/plain",
      body: Buffer.from(text),
    });

  test("a torn tail that is cut and written anew leaves no mixture", () => {
    const path = join(temporaryDirectory(), "0badf00d.state");
    const good = Buffer.concat([record(1, ""), record(2, "two")]);
    writeFileSync(path, Buffer.concat([good, record(3, "the first try").subarray(0, 90)]));
    const first = runNow(advanceFile(statefileFold, path, null));
    if (!first.ok) throw new Error(first.message);
    expect(first.folded.state.tail).toMatch(/^torn/u);
    truncateSync(path, good.length);
    appendFileSync(path, record(3, "the second.."));
    const second = runNow(advanceFile(statefileFold, path, first.folded));
    if (!second.ok) throw new Error(second.message);
    expect(second.folded.state).toEqual(foldOf(readFileSync(path)).state);
    expect(second.folded.state.records).toBe(3);
  });

  test("a file that was replaced, shrank or was rewritten in place is read from its start", () => {
    const path = join(temporaryDirectory(), "0badf00d.state");
    writeFileSync(path, Buffer.concat([record(1, ""), record(2, "two"), record(3, "three")]));
    let last = runNow(advanceFile(statefileFold, path, null));
    for (const bytes of [
      Buffer.concat([record(1, ""), record(2, "two")]),
      Buffer.concat([record(1, ""), record(2, "owt"), record(3, "eerht"), record(4, "four")]),
      Buffer.alloc(0),
    ]) {
      writeFileSync(path, bytes);
      last = runNow(advanceFile(statefileFold, path, last.ok ? last.folded : null));
      if (!last.ok) throw new Error(last.message);
      expect(last.folded.state).toEqual(foldOf(bytes).state);
    }
  });

  test("an append of k bytes to a 20 MB session costs O(k) bytes read", () => {
    const path = join(temporaryDirectory(), "0badf00d.state");
    const body = "x".repeat(2000);
    const records = [record(1, "")];
    for (let n = 2; n < 10_000; n += 1) records.push(record(n, body));
    writeFileSync(path, Buffer.concat(records));
    const first = runNow(advanceFile(statefileFold, path, null));
    if (!first.ok) throw new Error(first.message);
    expect(first.folded.size).toBeGreaterThan(20_000_000);
    appendFileSync(path, record(10_000, body));
    const before = fileWork.bytesRead;
    const second = runNow(advanceFile(statefileFold, path, first.folded));
    if (!second.ok) throw new Error(second.message);
    expect(second.folded.state.records).toBe(10_000);
    expect(fileWork.bytesRead - before).toBeLessThan(3 * 2200);
  });

  test("a large body is stepped over, not read", () => {
    const path = join(temporaryDirectory(), "0badf00d.state");
    const big = encode({
      n: 2,
      kind: "result",
      id: "5eed0002",
      time: "2026-09-28T20:01:03Z",
      len: 0,
      type: "image/png",
      body: Buffer.alloc(40_000_000, 1),
    });
    writeFileSync(path, Buffer.concat([record(1, ""), big, record(3, "after")]));
    const before = fileWork.bytesRead;
    const folded = runNow(advanceFile(statefileFold, path, null));
    if (!folded.ok) throw new Error(folded.message);
    expect(folded.folded.state.records).toBe(3);
    expect(fileWork.bytesRead - before).toBeLessThan(1_000_000);
  });

  test.each([
    ["negative", "-5"],
    ["a fraction", "1.5"],
    ["a string", '"37"'],
    ["above the cap", "9000000000000000"],
    ["just above the cap", String(256 * 1024 * 1024 + 1)],
  ])("a length that is %s is damage, and nothing is allocated by it", (_what, len) => {
    const bytes = Buffer.concat([record(1, ""), Buffer.from(`{"n":2,"kind":"message","len":${len}}\nhello\n`)]);
    const { state, good } = foldOf(bytes);
    expect(state.tail).toBe("bad-len");
    expect(state.records).toBe(1);
    expect(good).toBe(record(1, "").length);
  });

  test.each([
    ["an array", "[1]"],
    ["null", "null"],
    ["a number", "7"],
    ["an empty line", ""],
    ["not JSON", "{n:1}"],
    ["a nested bomb", `${"[".repeat(100_000)}`],
  ])("a header that is %s is damage", (_what, line) => {
    const { state } = foldOf(Buffer.concat([record(1, ""), Buffer.from(`${line}\n`)]));
    expect(state.tail).toBe("bad-header");
  });

  test("a header of more than 1 MiB without its end is damage; a shorter one is a write in progress", () => {
    const long = (bytes: number): string =>
      foldOf(Buffer.concat([record(1, ""), Buffer.alloc(bytes, 0x20)])).state.tail;
    expect(long(1000)).toBe("torn-header");
    expect(long(1024 * 1024 + 10)).toBe("bad-header");
  });
});
