import { rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codexSource } from "../../../src/sources/codex/source.ts";
import type { SourceReader } from "../../../src/sources/source.ts";
import { ledgerOf } from "../../../src/usage/ledger.ts";
import { evidenceOf, readSource, type Seen } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { Copies } from "./copies.ts";
import { append, Rollout, uuid7 } from "./rows.ts";

const NOBODY = evidenceOf("2026-11-20T12:00:00.000Z");
const DAY = "2026-11-10T09:00:00.000Z";
const LATER = "2026-11-10T10:00:00.000Z";

type Sums = Record<string, { requests: number; output: number }>;

/** What sessions are counted for, by `usage` and by `list`; those of nothing are left out. */
async function counted({ reader, seen }: { reader: SourceReader; seen: Seen }): Promise<{ usage: Sums; own: Sums }> {
  const snapshots = [...seen.snapshots.values()];
  const sessions = await Promise.all(
    snapshots.map(async (snapshot) => ({ snapshot, requests: await reader.requests(snapshot.key) })),
  );
  const ledger = ledgerOf(sessions, { by: "session", since: null, until: null, timezone: "UTC" }, null);
  const usage: Sums = {};
  for (const { name, usage: sum } of ledger.rows) usage[name] = { requests: sum.requests, output: sum.output };
  const own: Sums = {};
  for (const { key, own: sum } of snapshots) {
    if (sum !== null && sum.requests > 0) own[key] = { requests: sum.requests, output: sum.output };
  }
  return { usage, own };
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((all, one) => all + one, 0);
}

const does = fc.constantFrom("say", "say", "say", "fork", "copy", "revert");
const steps = fc.array(fc.record({ does, of: fc.nat(7), kept: fc.nat(4) }), { maxLength: 14 });
/** Which files something happened to. */
const some = fc.oneof(fc.constant(0), fc.nat(255));
const isIn = (bits: number, i: number): boolean => ((bits >> i) & 1) === 1;

function build(copies: Copies, all: { does: string; of: number; kept: number }[]): void {
  copies.begin();
  for (const { does, of, kept } of [{ does: "say", of: 0, kept: 0 }, ...all]) {
    const from = copies.current(of % copies.files.length);
    if (from === undefined) continue;
    if (does === "say") copies.say(from);
    else if (copies.files.length === 8) continue;
    else if (does === "fork") copies.fork(from, kept);
    else if (does === "copy") copies.copy(from, kept);
    else copies.revert(from, kept);
  }
}

describe("a request is counted once, for the same thread by list and by usage", () => {
  test.each([
    ["in legacy files", { paginated: false, records: false }],
    ["by records", { paginated: true, records: true }],
    ["by totals", { paginated: true, records: false }],
  ])("%s, whatever was forked, copied and reverted, whichever files are gone or lost their header", async (_, kind) => {
    await fc.assert(
      fc.asyncProperty(steps, some, some, async (all, goneBits, headless) => {
        const root = temporaryDirectory();
        const copies = new Copies(kind);
        build(copies, all);
        const ids = [...new Set(copies.files.map((one) => one.rollout.id))];
        const files = copies.files.map((one) => ({ ...one, path: one.rollout.write(root) }));
        for (const [i, { rollout, path }] of files.entries()) {
          if (isIn(headless, i)) writeFileSync(path, rollout.text().slice(3));
        }
        const read = await readSource(codexSource, [root], NOBODY);
        const isGone = ({ rollout }: { rollout: Rollout }): boolean => isIn(goneBits, ids.indexOf(rollout.id));
        const gone = files.filter(isGone).map((one) => one.path);
        for (const path of gone) rmSync(path);
        read.seen.take(await read.reader.apply(gone, NOBODY));
        const now = await counted(read);
        expect(now.own).toEqual(now.usage);
        expect(now).toEqual(await counted(await readSource(codexSource, [root], NOBODY)));
        const there = files.filter((one) => !isGone(one)).flatMap((one) => one.turns.map((turn) => turn.output));
        expect(sum(Object.values(now.own).map((one) => one.output))).toBe(sum(new Set(there)));
        if (goneBits + headless > 0) return;
        for (const { id, usage } of read.seen.snapshots.values()) expect(usage?.output).toBe(sum(copies.outputs(id)));
      }),
      { numRuns: 40 },
    );
  });
});

describe("a copy that we made", () => {
  const forked = () => {
    const parent = new Rollout(DAY).prompt("P1").reply("a").record("r1", 100, 10).done();
    const base = { thread_id: parent.id, end_ordinal_exclusive: parent.rows.length };
    const meta = { forked_from_id: parent.id, history_base: base };
    const one = new Rollout(LATER, { n: 1, ordinal: parent.rows.length, meta });
    one.prompt("F1").reply("b").record("r2", 200, 20).done().prompt("F2").reply("c").record("r3", 300, 30).done();
    return { all: [parent, one], one, header: parent.id };
  };
  const reverted = () => {
    const before = new Rollout(DAY).prompt("P1").reply("a").record("r1", 100, 10).done();
    const ordinal = before.rows.length;
    before.prompt("P2").reply("b").record("r2", 150, 15).done();
    const meta = { history_base: { thread_id: before.id, end_ordinal_exclusive: ordinal } };
    const one = new Rollout(LATER, { id: before.id, rollout: uuid7(LATER), ordinal, meta });
    one.prompt("F1").reply("c").record("r3", 200, 20).done().prompt("F2").reply("d").record("r4", 300, 30).done();
    return { all: [before, one], one, header: before.id };
  };

  test.each([
    ["a fork before its second prompt", forked, "F2", { input: 300, requests: 2 }],
    ["a whole fork", forked, null, { input: 600, requests: 3 }],
    ["a fork before its first prompt", forked, "F1", { input: 100, requests: 1 }],
    ["a reverted thread before its second prompt", reverted, "F2", { input: 300, requests: 2 }],
    ["a whole reverted thread", reverted, null, { input: 600, requests: 3 }],
  ])("of %s has nothing of its own, and that is its parent", async (_, make, before, usage) => {
    const root = temporaryDirectory();
    const { all, one, header } = make();
    for (const rollout of all) rollout.write(root);
    const key = `codex:${one.id}`;
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const owned = sum([...seen.snapshots.values()].map((snapshot) => snapshot.own?.requests ?? 0));
    const page = await (await reader.transcript(key)).page({ view: "timeline", at: { edge: "end" }, limit: 99 });
    const ref = before === null ? null : (page.entries.find((entry) => entry.text === before)?.ref ?? "");
    const made = await reader.fork?.make(key, ref);
    const id = made?.id ?? "";
    const copiedFrom = (of: string): string | null => (of === made?.key ? key : null);
    for (const over of [{ copiedFrom }, {}]) {
      const again = (await readSource(codexSource, [root], NOBODY, over)).seen;
      // Without a row of it, and without our memory, only the header is left to tell.
      const parent = before === "F1" && !("copiedFrom" in over) ? header : one.id;
      expect(again.byId(id)).toMatchObject({
        usage,
        own: { input: 0, requests: 0 },
        parent: { key: `codex:${parent}`, relation: "fork" },
      });
      expect(sum([...again.snapshots.values()].map((snapshot) => snapshot.own?.requests ?? 0))).toBe(owned);
    }
  });

  test("is known by its rows where these have no ids: where a row lies is not what it says", async () => {
    const root = temporaryDirectory();
    const usage = { input_tokens: 100, output_tokens: 10 };
    const one = new Rollout(DAY, { meta: { timestamp: "2026-11-10T09:00:00Z" } });
    for (const text of ["one", "two"]) one.prompt(text).reply("a").line("token_usage_record", { usage }).done();
    one.write(root);
    const { reader } = await readSource(codexSource, [root], NOBODY);
    const made = await reader.fork?.make(`codex:${one.id}`, null);
    const { seen } = await readSource(codexSource, [root], NOBODY, {
      copiedFrom: (of) => (of === made?.key ? `codex:${one.id}` : null),
    });
    expect(seen.byId(made?.id ?? "")).toMatchObject({ usage: { requests: 2 }, own: { requests: 0 } });
  });

  test("goes on with requests of its own", async () => {
    const root = temporaryDirectory();
    const { all, one } = forked();
    for (const rollout of all) rollout.write(root);
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const made = await reader.fork?.make(`codex:${one.id}`, null);
    const path = made?.path ?? "";
    const next = new Rollout("2026-11-29T09:00:00.000Z", { id: made?.id ?? "", ordinal: 99 });
    next.prompt("own").reply("d").record("r9", 900, 90).done();
    append(path, next.rows.slice(1));
    seen.take(await reader.apply([path], NOBODY));
    expect(seen.byId(made?.id ?? "")).toMatchObject({
      usage: { input: 1500, requests: 4 },
      own: { input: 900, requests: 1 },
      extra: { counts: { human: 4, assistant: 4 } },
    });
  });
});

describe("what copies of a thread that is gone have of it", () => {
  const parent = () => new Rollout(DAY, { paginated: false }).prompt("p").reply("a").total([100, 10]).done();
  const fork = (of: Rollout, at: string, n: number) => {
    const one = new Rollout(at, { paginated: false, n, meta: { forked_from_id: of.id } });
    for (const row of of.rows) one.raw(row);
    return one.prompt(`own ${n}`).reply("b").total([300, 30], [200, 20]).done();
  };

  test("is counted for the one that began first, and moves when that goes or the thread comes back", async () => {
    const root = temporaryDirectory();
    const original = parent();
    const [old, young] = [fork(original, LATER, 1), fork(original, "2026-11-10T11:00:00.000Z", 2)];
    const paths = { original: original.path(root), old: old.write(root), young: young.write(root) };
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const requests = () => [original, old, young].map(({ id }) => seen.snapshots.get(`codex:${id}`)?.own?.requests);
    expect(requests()).toEqual([undefined, 2, 1]);
    rmSync(paths.old);
    seen.take(await reader.apply([paths.old], NOBODY));
    expect(requests()).toEqual([undefined, undefined, 2]);
    old.write(root);
    seen.take(await reader.apply([paths.old], NOBODY));
    expect(requests()).toEqual([undefined, 2, 1]);
    original.write(root);
    seen.take(await reader.apply([paths.original], NOBODY));
    expect(requests()).toEqual([1, 1, 1]);
  });
});
