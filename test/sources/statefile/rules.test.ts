import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { advanceFile, bytesOf, runNow } from "../../../src/files/fold.ts";
import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import { fileWork } from "../../../src/files/open.ts";
import { noEvidence } from "../../../src/probe/evidence.ts";
import type { Entry } from "../../../src/session/entry.ts";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import type { Page, SourceReader } from "../../../src/sources/source.ts";
import { tailProblem } from "../../../src/sources/statefile/documents.ts";
import { type StateOfFile, statefileFold, statusOf } from "../../../src/sources/statefile/fold.ts";
import {
  BadId,
  build,
  copy,
  decode,
  derive,
  encode,
  type Header,
  parseHeader,
  Sessions,
  StateFile,
  waiting,
} from "../../../src/sources/statefile/index.ts";
import { statefileSource } from "../../../src/sources/statefile/source.ts";
import { judge } from "../../../src/sources/statefile/status.ts";
import { BEGINNING, type Draft, finished, records, turn } from "../../support/state-writer.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const ID = "0badf00d";

interface Opened {
  reader: SourceReader;
  dir: string;
  key: string;
  path: string;
  snapshot: Snapshot;
}

/** One session of these bytes in a directory of its own, as the source shows it an hour later. */
async function opened(bytes: Buffer, directory = "sessions"): Promise<Opened> {
  const dir = join(temporaryDirectory(), directory);
  mkdirSync(dir, { recursive: true });
  const path = join(dir, `${ID}.state`);
  writeFileSync(path, bytes);
  utimesSync(path, NOW / 1000 - 3600, NOW / 1000 - 3600);
  const root = { source: "statefile", index: 1, path: dir, explicit: true };
  const reader = statefileSource.open([root], {
    files: new LocalFoldedFiles(),
    env: {},
    seen: () => null,
    copiedFrom: () => null,
    directories: () => [],
  });
  let snapshot: Snapshot | undefined;
  for await (const delta of reader.scan(noEvidence(NOW))) snapshot = delta.changed[0] ?? snapshot;
  if (snapshot === undefined) throw new Error("no session");
  return { reader, dir, key: snapshot.key, path, snapshot };
}

async function whyNotForked({ key, reader }: Opened, before: string | null): Promise<string> {
  const plan = await reader.fork?.plan(key, before);
  return plan?.allowed === false ? plan.reason : "allowed";
}

async function entriesOf({ key, reader }: Opened, textLimit?: number): Promise<Entry[]> {
  const transcript = await reader.transcript(key);
  const page = await transcript.page({
    view: "timeline",
    at: { edge: "start" },
    limit: 1000,
    ...(textLimit === undefined ? {} : { textLimit }),
  });
  transcript.close();
  return page.entries;
}

function foldOf(bytes: Buffer): StateOfFile {
  const state = statefileFold.initial();
  runNow(statefileFold.advance(state, bytesOf(bytes), 0));
  return state;
}

/** A record whose header the tool would not write. */
const raw = (header: Record<string, unknown>, body = ""): Buffer =>
  Buffer.from(
    `${JSON.stringify({ id: "0000abcd", time: "2026-09-01T13:00:00Z", len: body.length, ...header })}\n${body}\n`,
  );

const healthy = records(finished("Go on."));
const later = (n: number): Buffer => records(turn(n, "Again.", "Done."), n);
const wrongResult = raw({ n: 6, kind: "result", for: "z", exit: "1" });
const wrongTime = raw({ n: 6, kind: "system", time: "2026-13-01T00:00:00Z", type: "text/plain" });

describe("a file that the tool refuses", () => {
  test.each([
    ["a header that is none", Buffer.concat([healthy, Buffer.from("oops\n")]), "bad-header"],
    ["a length that is none", Buffer.concat([healthy, raw({ n: 6, kind: "message", len: -1 })]), "bad-len"],
    ["a field of the wrong type", Buffer.concat([healthy, wrongResult]), "record 6"],
    ["a time that is none", Buffer.concat([healthy, wrongTime]), "record 6"],
    ["a wrong field far from its end", Buffer.concat([healthy, wrongResult, later(7), later(10)]), "record 6"],
  ])("%s: it cannot be resumed, and says why", async (_what, bytes, words) => {
    const one = await opened(bytes);
    expect(one.snapshot.resume).toBeNull();
    expect(one.snapshot.can).not.toContain("resume");
    const plan = await one.reader.resume(one.key);
    expect(plan.ok ? "" : plan.reason).toContain(words);
    expect(plan.ok ? "" : plan.reason).toContain("the tool refuses this file");
  });

  test.each([
    ["of all of it", null, true],
    ["before a message behind the wrong field", "10", true],
    ["of all of it, by number", "13", true],
    ["before a message in front of it", "3", false],
  ])("a copy %s says whether the tool will refuse it: %s", async (_what, before, refused) => {
    const one = await opened(Buffer.concat([healthy, wrongTime, later(7), later(10)]));
    const plan = await one.reader.fork?.plan(one.key, before);
    expect(plan?.allowed === true && plan.says.some((said) => said.startsWith("record 6"))).toBe(refused);
    const made = await one.reader.fork?.make(one.key, before);
    expect(made?.resume === null).toBe(refused);
    expect(made?.notes.join().includes("the tool refuses the copy")).toBe(refused);
  });

  const [start, config] = [records(BEGINNING.slice(0, 1)), records(BEGINNING.slice(1), 2)];
  const wrongStart = raw({ n: 1, kind: "start", truncated: 1 });
  const wrongConfig = raw({ n: 2, kind: "config", type: "application/json", truncated: 1 }, '{"model":"p/m"}');
  const oops = Buffer.from("oops\n");
  const waitingCall = records(
    [
      { kind: "call", id: "c", step: "s", type: "application/json", body: "{}" },
      { kind: "step", id: "s" },
    ],
    3,
  );
  const REFUSES = "the tool refuses this file: ";
  const ELSE = "; fork what stands before that instead";

  test.each([
    ["a first record", [wrongStart, config, later(3)], "record 1 has a field of the wrong type"],
    ["a config", [start, wrongConfig, later(3)], "record 2 has a field of the wrong type"],
    [
      "a record that no message stands before",
      [start, config, raw({ n: 3, kind: "system", exit: "1" }), later(4)],
      "record 3 has a field of the wrong type",
    ],
    [
      "a record in a file that is numbered badly",
      [healthy, later(7), raw({ n: 9, kind: "system", exit: "1" })],
      "record 9 has a field of the wrong type",
    ],
    ["an end while a call waits", [start, config, waitingCall, oops], "it is damaged after record 4 (bad-header)"],
    ["an end in front of any config", [start, oops], "it is damaged after record 1 (bad-header)"],
  ])("%s: no fork is recommended that cannot be made", async (_what, parts, words) => {
    const one = await opened(Buffer.concat(parts));
    const plan = await one.reader.resume(one.key);
    expect(plan.ok ? "" : plan.reason).toBe(REFUSES + words);
  });

  test.each([
    ["a damaged end", [healthy, oops], "it is damaged after record 5 (bad-header)"],
    [
      "a damaged end while a call waits",
      [healthy, records(turn(6, "a", "b").slice(0, 1), 6), oops],
      "it is damaged after record 6 (bad-header)",
    ],
    [
      "a message that may be cut away itself",
      [start, config, raw({ n: 3, kind: "message", exit: "1" })],
      "record 3 has a field of the wrong type",
    ],
    ["a record, and a damaged end", [healthy, wrongTime, later(7), oops], "record 6 has a field of the wrong type"],
  ])("%s: the fork that can be made is recommended", async (_what, parts, words) => {
    const one = await opened(Buffer.concat(parts));
    const plan = await one.reader.resume(one.key);
    expect(plan.ok ? "" : plan.reason).toBe(REFUSES + words + ELSE);
  });

  test("of a log copy it is said first that it is one", async () => {
    const one = await opened(Buffer.concat([healthy, oops]), "logs");
    const plan = await one.reader.resume(one.key);
    expect(plan.ok ? "" : plan.reason).toContain("log copy");
  });

  test.each([
    ["no healthy copy", [start, wrongConfig, later(3)], false],
    ["a healthy copy", [healthy, wrongTime, later(7)], true],
  ])("a plan knows of %s", async (_what, parts, there) => {
    const one = await opened(Buffer.concat(parts));
    const plan = await one.reader.fork?.plan(one.key, null);
    const says = plan?.allowed === true ? plan.says.join(" ") : "";
    expect(says).toContain("the tool refuses the copy as it refuses this file");
    expect(says.includes("; a copy that ends before that record is healthy")).toBe(there);
  });

  test("a damaged end is not copied: what stands before it is healthy", async () => {
    const one = await opened(Buffer.concat([healthy, Buffer.from("oops\n")]));
    expect(one.snapshot.can).toEqual(["fork", "revert"]);
    expect(await whyNotForked(one, null)).toBe("allowed");
  });
});

describe("a file without a config record", () => {
  const bare = records([
    { kind: "start" },
    { kind: "system", type: "text/plain", source: "harness" },
    ...turn(3, "a", "b"),
  ]);

  test.each([null, "3"])("is not forked before %s", async (before) => {
    const one = await opened(bare);
    expect(one.snapshot.can).toEqual([]);
    expect(await whyNotForked(one, before)).toContain("no config record");
    const entries = await entriesOf(one);
    expect(entries.some((entry) => entry.forkable)).toBe(false);
  });

  test("that comes later only serves what is cut behind it", async () => {
    const config = BEGINNING[1] ?? { kind: "config" };
    const drafts: Draft[] = [{ kind: "start" }, { kind: "system", type: "text/plain" }, ...turn(3, "a", "b"), config];
    const one = await opened(records([...drafts, ...turn(7, "c", "d")]));
    expect(await whyNotForked(one, "3")).toContain("no config record");
    expect(await whyNotForked(one, "7")).toBe("allowed");
    expect((await entriesOf(one)).filter((entry) => entry.forkable).map((entry) => entry.n)).toEqual([7]);
  });
});

describe("a worker's log copy", () => {
  test("is shown and never forked, reverted or resumed", async () => {
    const one = await opened(healthy, "logs");
    expect(one.snapshot).toMatchObject({ can: [], resume: null, status: "idle" });
    expect(await whyNotForked(one, null)).toContain("log copy");
    expect(await whyNotForked(one, "3")).toContain("log copy");
    const plan = await one.reader.resume(one.key);
    expect(plan.ok ? "" : plan.reason).toContain("log copy");
    const entries = await entriesOf(one);
    expect(entries.map((entry) => entry.forkable)).toEqual([false, false, false, false, false]);
  });
});

describe("the config", () => {
  const config = (body: string): Draft => ({ kind: "config", type: "application/json", body });
  const sound = (context: number): Draft => config(JSON.stringify({ model: "p/m", context }));

  test.each([
    ["the newest counts", [sound(100), sound(200)], 200, null],
    [
      "a newest one that cannot be read is unknown",
      [sound(100), config("{bad")],
      null,
      "record 3: its config is not JSON",
    ],
    ["a newest one without a limit has none", [sound(100), config('{"model":"p/m"}')], null, null],
    ["a list is none", [config("[]")], null, "record 2: its config is not a JSON object"],
    ["a wrong field is named", [config('{"model":"p/m","input":"x"}')], null, "record 2: its config has a wrong input"],
    [
      "a wrong field within is named",
      [config('{"model":"p/m","workers":[{"name":7}]}')],
      null,
      "record 2: its config has a wrong workers.0",
    ],
    ["a long one is read", [config(JSON.stringify({ context: 7, tools: "x".repeat(300_000) }))], 7, null],
    ["one beyond all measure is not", [config(`"${"x".repeat(5_000_000)}"`)], null, "record 2: its config is too long"],
  ])("%s", async (_what, configs, limit, problem) => {
    const one = await opened(records([{ kind: "start" }, ...configs]));
    expect(one.snapshot.context?.limit ?? null).toBe(limit);
    const plan = await one.reader.resume(one.key);
    const text = JSON.stringify(await one.reader.document(one.key, "info"));
    if (problem === null) {
      expect(plan.ok).toBe(true);
    } else {
      expect(plan.ok ? "" : plan.reason).toContain(problem);
      expect(text).toContain(problem);
      expect(one.snapshot.can).not.toContain("resume");
    }
  });
});

describe("times", () => {
  const start = records([...BEGINNING, { kind: "message", type: "text/plain", body: "x" }]);
  test.each([
    ["a month that is none", "2026-13-01T00:00:00Z"],
    ["a day that is none", "2026-02-30T00:00:00Z"],
    ["Go's unset time", "0001-01-01T00:00:00Z"],
    ["an offset that no date has", "2026-09-01T13:00:00+24:00"],
    ["no time", ""],
  ])("%s is no last time, in pieces and whole", (_what, time) => {
    const bytes = Buffer.concat([start, raw({ n: 4, kind: "error", time }, "boom")]);
    const whole = foldOf(bytes);
    const state = statefileFold.initial();
    const good = runNow(statefileFold.advance(state, bytesOf(start), 0));
    runNow(statefileFold.advance(state, bytesOf(bytes), good));
    expect(state).toEqual(whole);
    expect(whole.updated).toBe("2026-09-01T12:00:03.000Z");
  });

  const open = foldOf(records([...BEGINNING, { kind: "message", type: "text/plain", body: "x" }]));
  const calls = foldOf(
    records([...BEGINNING, { kind: "call", id: "c", step: "s", type: "application/json" }, { kind: "step", id: "s" }]),
  );
  const at = (state: StateOfFile, updated: string): StateOfFile => ({ ...state, updated });
  const DAY = 86_400_000;
  test.each([
    ["a file of next year", open, NOW + 365 * DAY, "open"],
    ["a record of 2099 in an old file", at(open, "2099-01-01T00:00:00.000Z"), NOW - DAY, "open"],
    ["a record of 2099 in a new file", at(open, "2099-01-01T00:00:00.000Z"), NOW - 1000, "working"],
    ["a file of next year with waiting calls", calls, NOW + 365 * DAY, "interrupted"],
    ["a clock that is a little ahead", open, NOW + 2000, "working"],
    ["5 min of silence", open, NOW - 5 * 60_000, "working"],
    ["more than 5 min of silence", open, NOW - 5 * 60_000 - 1, "open"],
    ["10 min of silence in a call", calls, NOW - 10 * 60_000, "working"],
    ["more than 10 min of silence in a call", calls, NOW - 10 * 60_000 - 1, "interrupted"],
  ])("%s", (_what, state, mtimeMs, status) => {
    const judged = judge(state, mtimeMs, NOW, null);
    expect(judged.status).toBe(status);
    // Whatever runs out by the clock is looked at later, not now.
    if (status === "working") expect(judged.until).toBeGreaterThan(NOW);
    else expect(judged.until).toBeNull();
  });

  test.each([
    ["with a record of 2099", at(calls, "2099-01-01T00:00:00.000Z"), "all its times lie in the future"],
    ["with no time in it", { ...calls, updated: null }, "all its times lie in the future"],
    ["with an old record", calls, "nothing was written for 10 min"],
  ])("a file of next year %s says why it is not at work", (_what, state, words) => {
    expect(judge(state, NOW + 365 * DAY, NOW, null).why.join()).toContain(words);
  });

  test("a file with no time in it is as old as it is", () => {
    const silent = { ...calls, updated: null };
    expect(judge(silent, NOW - 1000, NOW, null).status).toBe("working");
    expect(judge(silent, NOW - DAY, NOW, null).why.join()).toContain("nothing was written for 10 min");
  });

  test("a lone start record of next year is announced at once", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, `${ID}.state`);
    writeFileSync(path, records([{ kind: "start" }]));
    utimesSync(path, NOW / 1000 + 86_400, NOW / 1000 + 86_400);
    const root = { source: "statefile", index: 1, path: dir, explicit: true };
    const services = {
      files: new LocalFoldedFiles(),
      env: {},
      seen: () => null,
      copiedFrom: () => null,
      directories: () => [],
    };
    const found: string[] = [];
    for await (const delta of statefileSource.open([root], services).scan(noEvidence(NOW)))
      found.push(...delta.changed.map((one) => one.id));
    expect(found).toEqual([ID]);
  });
});

describe("an open transcript", () => {
  test("shows what replaced its file in place, with an equal first record", async () => {
    const before = records([...BEGINNING, ...turn(3, "one", "first answer")]);
    const after = records([
      ...BEGINNING,
      { kind: "message", type: "text/plain", via: "cli", body: "two" },
      { kind: "text", type: "text/markdown", step: "other", body: "other answer" },
      { kind: "step", id: "other", upto: 3, model: "m" },
    ]);
    const one = await opened(before);
    const transcript = await one.reader.transcript(one.key);
    const read = async (): Promise<Page> => transcript.page({ view: "timeline", at: { edge: "start" }, limit: 100 });
    expect((await read()).entries.map((entry) => entry.text)).toContain("first answer");
    writeFileSync(one.path, after);
    const { entries } = await read();
    expect(entries.map((entry) => entry.text)).toContain("other answer");
    expect(entries.map((entry) => entry.text)).not.toContain("first answer");
    expect(entries.every((entry) => entry.kind === "start" || entry.kind === "config" || entry.inContext)).toBe(true);
  });
});

describe("the rewrite of a last record that is long", () => {
  test("is noticed, whatever stands at its end", () => {
    const path = join(temporaryDirectory(), `${ID}.state`);
    const bytes = records([...finished("x"), { kind: "message", type: "text/plain", body: "y".repeat(3000) }]);
    writeFileSync(path, bytes);
    const first = runNow(advanceFile(statefileFold, path, null));
    writeFileSync(path, bytes.toString().replace('"n":6,"kind":"message"', '"n":6,"kind":"systemx"'));
    const second = runNow(advanceFile(statefileFold, path, first.ok ? first.folded : null));
    expect(second.ok && second.folded.state.kinds).toMatchObject({ message: 1, systemx: 1 });
  });
});

describe("work", () => {
  /** Counts every look into a value, however deep. */
  function counted<T extends object>(value: T, work: { looks: number }, made = new WeakSet<object>()): T {
    if (made.has(value)) return value;
    const proxy = new Proxy(value, {
      get(target, key, receiver) {
        work.looks += 1;
        const found: unknown = Reflect.get(target, key, receiver);
        return typeof found === "object" && found !== null ? counted(found, work, made) : found;
      },
    });
    made.add(proxy);
    return proxy;
  }

  const N = 600;
  const each = (make: (at: number) => Draft[]): Draft[] => Array.from({ length: N }, (_, at) => make(at)).flat();
  const call = (id: string, step: string): Draft => ({ kind: "call", id, step, type: "application/json" });
  const result = (id: string): Draft => ({ kind: "result", for: id, type: "text/plain" });
  const message: Draft = { kind: "message", type: "text/plain", body: "m" };
  const odd: [string, Draft[]][] = [
    ["calls that no step closes", each((at) => [call(`c${at}`, `never${at}`), { kind: "step", id: `s${at}` }])],
    [
      "results in the reverse order of their calls",
      [...each((at) => [call(`c${at}`, "s")]), { kind: "step", id: "s" }, ...each((at) => [result(`c${N - 1 - at}`)])],
    ],
    [
      "results for a call that nobody made",
      [...each((at) => [call(`c${at}`, "s")]), { kind: "step", id: "s" }, ...each(() => [result("x")])],
    ],
    ["steps of one id", each(() => [{ kind: "step", id: "s" }])],
    ["blocks of steps of one id", each(() => [call("c", "s"), { kind: "step", id: "s" }])],
    [
      "messages that a far step saw",
      [...each(() => [message]), ...each((at) => [{ kind: "step", id: `s${at}`, upto: at === N - 1 ? 1e9 : 0 }])],
    ],
    ["a model a step", each((at) => [{ kind: "step", id: `s${at}`, model: `m${at}` }])],
  ];

  test.each(odd)("%s: folding is linear in the records", (_what, drafts) => {
    const bytes = records([...BEGINNING, ...drafts]);
    const work = { looks: 0 };
    const state = counted(statefileFold.initial(), work);
    runNow(statefileFold.advance(state, bytesOf(bytes), 0));
    expect(state.records).toBe(drafts.length + 2);
    expect(work.looks).toBeLessThan(60 * drafts.length);
  });

  test.each(odd)("%s: context order and waiting calls are found in n log n", (_what, drafts) => {
    const bytes = records([...BEGINNING, ...drafts]);
    const chain: Header[] = [];
    for (let next = decode(bytes, 0); next !== null; next = decode(bytes, next.end)) chain.push(next.record);
    const work = { looks: 0 };
    const watched = chain.map((header) => counted(header, work));
    expect(build(watched).records.length).toBeGreaterThan(0);
    waiting(watched);
    expect(work.looks).toBeLessThan(60 * chain.length);
  });

  const waitingOnes: Draft[] = [...each((at) => [call(`c${at}`, "s")]), { kind: "step", id: "s" }];
  const unclosedOnes = each((at) => [call(`d${at}`, `never${at}`)]);
  const modelSteps = each((at): Draft[] => [{ kind: "step", id: `s${at}`, model: `m${at}` }]);
  const text: Draft = { kind: "text", step: "z", type: "text/plain", body: "t" };
  const torn = records([text]).subarray(0, -4);
  const everything = [...waitingOnes, ...unclosedOnes, ...modelSteps];
  const appended: [string, Draft[], Buffer][] = [
    ["a message", everything, records([message])],
    ["a text", everything, records([text])],
    ["a call", everything, records([call("e", "z")])],
    ["a torn tail", everything, torn],
    ["nothing", everything, Buffer.alloc(0)],
    ["a step, where only calls wait", waitingOnes, records([{ kind: "step", id: "z", model: "m" }])],
    ["a step without a model, where many are known", modelSteps, records([{ kind: "step", id: "z" }])],
    ["a result, where calls are not closed", unclosedOnes, records([result("x")])],
  ];

  test.each(appended)("an append of %s looks at nothing that it does not concern", (_what, drafts, bytes) => {
    const before = records([...BEGINNING, ...drafts]);
    const state = foldOf(before);
    const work = { looks: 0 };
    const whole = Buffer.concat([before, bytes]);
    runNow(statefileFold.advance(counted(state, work), bytesOf(whole), before.length));
    expect(work.looks).toBeLessThan(100);
    expect(state).toEqual(foldOf(whole));
  });

  test("calls of several steps are kept alike, however the file came", () => {
    const drafts = [...BEGINNING, call("a", "s"), call("b", "t"), call("c", "s"), call("d", "u"), call("e", "t")];
    const bytes = records([...drafts, { kind: "step", id: "t" }, call("f", "s"), result("b"), call("g", "u"), message]);
    const state = statefileFold.initial();
    let good = 0;
    for (let size = 0; size <= bytes.length; size += 1) {
      good = runNow(statefileFold.advance(state, bytesOf(bytes.subarray(0, size)), good));
      expect(state).toEqual(foldOf(bytes.subarray(0, size)));
    }
    expect(state.unclosed.map(({ id }) => id)).toEqual(["a", "c", "d", "f", "g"]);
    expect(state.waiting.map(({ id }) => id)).toEqual(["e"]);
  });

  test("a step may close more calls than fit on the stack", () => {
    const calls = Array.from(
      { length: 200_000 },
      (_, at): Header => ({ n: at + 1, kind: "call", id: "c", time: "", len: 0, step: "s" }),
    );
    expect(waiting([...calls, { n: 200_001, kind: "step", id: "s", time: "", len: 0 }])).toHaveLength(200_000);
  });
});

describe("waiting calls", () => {
  const header = (n: number, kind: string, more: Partial<Header> = {}): Header => ({
    n,
    kind,
    id: "",
    time: "",
    len: 0,
    ...more,
  });
  test("a result without `for` answers a call without an id", () => {
    const chain = [
      header(1, "start"),
      header(2, "config"),
      header(3, "message"),
      header(4, "call", { step: "s" }),
      header(5, "step", { id: "s", upto: 3 }),
      header(6, "result"),
    ];
    expect(waiting(chain)).toEqual([]);
    expect(derive(chain)).toBe("open");
    const state = foldOf(
      Buffer.concat(chain.map((one) => encode({ ...one, time: "2026-09-01T12:00:00Z", body: Buffer.alloc(0) }))),
    );
    expect(state.waiting).toEqual([]);
    expect(statusOf(state)).toBe("open");
  });
});

describe("kinds that objects have by themselves", () => {
  test.each(["constructor", "toString", "__proto__"])("%s is counted", async (kind) => {
    const bytes = records([...BEGINNING, { kind }, { kind }]);
    const state: StateOfFile = JSON.parse(JSON.stringify(foldOf(bytes)));
    expect(Object.entries(state.kinds)).toEqual([
      ["start", 1],
      ["config", 1],
      [kind, 2],
    ]);
    const one = await opened(bytes);
    expect(JSON.stringify(await one.reader.document(one.key, "info"))).not.toContain("NaN");
  });
});

describe("bodies that are longer than what is shown", () => {
  const LIMIT = 64 * 1024;
  const code = "é".repeat(60_000);
  const callOf = (body: string): Draft => ({ kind: "call", id: "c1", step: "s", type: "application/json", body });
  const entryOf = async (draft: Draft): Promise<Entry | undefined> =>
    (await entriesOf(await opened(records([...BEGINNING, draft])), LIMIT)).at(-1);

  test("a call within the limit keeps its name and its arguments", async () => {
    const body = JSON.stringify({ name: "run", arguments: { code: "é".repeat(LIMIT / 2 - 20) } });
    const entry = await entryOf(callOf(body));
    expect(entry).toMatchObject({ text: null, clipped: 0, call: { id: "c1", name: "run" } });
    expect(JSON.stringify(entry?.call?.args) === JSON.stringify(JSON.parse(body).arguments)).toBe(true);
  });

  test("a call of any size is whole for whoever asks for all of it", async () => {
    const args = { code, more: "x".repeat(3_000_000) };
    const one = await opened(records([...BEGINNING, callOf(JSON.stringify({ name: "run", arguments: args }))]));
    const entry = (await entriesOf(one)).at(-1);
    expect(entry).toMatchObject({ text: null, clipped: 0, call: { id: "c1", name: "run" } });
    expect(JSON.stringify(entry?.call?.args) === JSON.stringify(args)).toBe(true);
  });

  test.each([400, 401, LIMIT])(
    "a call that is cut at %s bytes keeps its name, and no half character",
    async (limit) => {
      const body = JSON.stringify({ name: "run", arguments: { code } });
      const entry = (await entriesOf(await opened(records([...BEGINNING, callOf(body)])), limit)).at(-1);
      expect(entry?.call).toEqual({ id: "c1", name: "run", args: null });
      const text = entry?.text ?? "-";
      expect(body.startsWith(text)).toBe(true);
      expect(Buffer.byteLength(text) + (entry?.clipped ?? 0)).toBe(Buffer.byteLength(body));
      expect(Buffer.byteLength(text)).toBeGreaterThan(limit - 4);
    },
  );

  test.each([
    ["calls", callOf(JSON.stringify({ name: "write", arguments: { content: "x".repeat(300_000) } })), 0],
    [
      "thinking",
      { kind: "thinking", step: "s", body: JSON.stringify({ type: "thinking", thinking: "x".repeat(300_000) }) },
      64 * 1024,
    ],
  ])("of long %s no more is read and kept than was asked for", async (_what, draft, around) => {
    const many = 30;
    const limit = 400;
    const one = await opened(records([...BEGINNING, ...Array.from({ length: many }, (): Draft => draft)]));
    fileWork.bytesRead = 0;
    const entries = await entriesOf(one, limit);
    expect(entries).toHaveLength(many + 2);
    // Headers are read a window of 256 KiB at a time.
    expect(fileWork.bytesRead).toBeLessThan((many + 1) * (256 * 1024 + limit + around));
    expect(JSON.stringify(entries).length).toBeLessThan(many * (limit + 600));
  });

  test("a call beyond all measure keeps its name, and what can be shown of it", async () => {
    const body = JSON.stringify({ name: "run", arguments: { code: "x".repeat(3_000_000) } });
    const entry = await entryOf(callOf(body));
    expect(entry?.call).toMatchObject({ id: "c1", name: "run", args: null });
    expect(entry?.text === body.slice(0, LIMIT)).toBe(true);
    expect(entry?.clipped).toBe(body.length - LIMIT);
  });

  test("a call that is no JSON stays visible as text", async () => {
    expect(await entryOf(callOf("{no"))).toMatchObject({ text: "{no", call: { name: "?", args: null } });
  });

  test.each([0, 1, 2, 3])("a text is never cut within a character (%s bytes before it)", async (before) => {
    const text = "a".repeat(before) + "🐢".repeat(30_000);
    const entry = await entryOf({ kind: "message", type: "text/plain", body: text });
    expect(text.startsWith(entry?.text ?? "-")).toBe(true);
    expect(Buffer.byteLength(entry?.text ?? "") + (entry?.clipped ?? 0)).toBe(Buffer.byteLength(text));
    expect(Buffer.byteLength(entry?.text ?? "")).toBeGreaterThan(LIMIT - 4);
  });

  test("bytes that are no UTF-8 are shown as such at the limit too", async () => {
    const body = Buffer.alloc(LIMIT + 10, 0xff);
    const entry = await entryOf({ kind: "message", type: "text/plain", body });
    expect(entry?.text === "\ufffd".repeat(LIMIT)).toBe(true);
    expect(entry?.clipped).toBe(10);
  });

  test("thinking is read whole, and what it says is cut like any text", async () => {
    const body = JSON.stringify({ type: "thinking", thinking: code, signature: "s" });
    const entry = await entryOf({ kind: "thinking", step: "s", provider: "anthropic", type: "application/json", body });
    expect(entry?.text === "é".repeat(LIMIT / 2)).toBe(true);
    expect(entry?.clipped).toBe(2 * 60_000 - LIMIT);
    const redacted = JSON.stringify({ type: "redacted_thinking", data: "x".repeat(100_000) });
    const other = await entryOf({ kind: "thinking", step: "s", type: "application/json", body: redacted });
    expect(other).toMatchObject({ text: "(redacted by the provider)", clipped: 0 });
  });
});

describe("media types", () => {
  test.each([
    ["", "hello", null],
    [undefined, "hello", null],
    ["text/plain", "hello", null],
    ["image/png", null, { type: "image/png", bytes: 5 }],
  ])("%j: text %j", async (type, text, media) => {
    const one = await opened(Buffer.concat([records(BEGINNING), raw({ n: 3, kind: "message", type }, "hello")]));
    expect((await entriesOf(one)).at(-1)).toMatchObject({ text, media });
  });
});

describe("a header as Go reads it", () => {
  const head = (line: string): Buffer => Buffer.from(`${line}\nhi\n`);
  test.each([
    ["names in another case", '{"N":3,"KIND":"message","Id":"a","LEN":2,"Type":"text/plain"}', "clean", null, 3],
    ["the later of two that differ by case", '{"n":3,"kind":"message","len":5,"LEN":2}', "clean", null, 3],
    ["usage in another case", '{"n":3,"kind":"step","len":2,"usage":{"INPUT":7,"output":1}}', "clean", null, 3],
    ["a length of 2.0", '{"n":3,"kind":"message","len":2.0}', "bad-len", null, 2],
    ["a length of 2e0", '{"n":3,"kind":"message","len":2e0}', "bad-len", null, 2],
    ["a length with white space around", '{"n":3,"kind":"message","len" : 2 }', "clean", null, 3],
    ["a length of 2.0 with white space around", '{"n":3,"kind":"message","len" : 2.0 }', "bad-len", null, 2],
    ["no length, which is 0", '{"n":3,"kind":"message"}', "bad-newline", null, 2],
    ["fractions in what is opaque", '{"n":3,"kind":"step","len":2,"cache":{"len":2.5,"n":1e3}}', "clean", null, 3],
    ["a text that mentions a length", '{"n":3,"kind":"message","len":2,"via":"\\"len\\":2.0"}', "clean", null, 3],
  ])("%s", (_what, line, tail, firstWrong, count) => {
    const state = foldOf(Buffer.concat([records(BEGINNING), head(line)]));
    expect({ tail: state.tail, firstWrong: state.firstWrong, records: state.records }).toEqual({
      tail,
      firstWrong,
      records: count,
    });
  });

  test.each([
    ["n", '"n":1.0', ["n"]],
    ["exit", '"n":3,"exit":0e0', ["exit"]],
    ["upto in another case", '"n":3,"UpTo":2.0', ["upto"]],
    ["usage", '"n":3,"usage":{"input":1e3,"output":2}', ["usage"]],
    ["usage in another case", '"n":3,"Usage":{"INPUT":1.0}', ["usage"]],
    ["what is nobody's", '"n":3,"x":1.0,"input":2.0,"via":"\\"n\\":1.0"', []],
  ])("an odd number in %s counts alike, however the length is spelled", (_what, fields, wrong) => {
    const told = ['"len":2', '"len": 2', '"len" :2 ', '"Len":2'].map((len) =>
      parseHeader(Buffer.from(`{"kind":"message",${fields},${len}}`)),
    );
    for (const one of told) expect(one).toMatchObject({ ok: true, wrong, header: { len: 2 } });
    for (const one of told) expect(one).toEqual(told[0]);
  });

  test.each([1000, 5000, 9990])("a header that is nested %s deep is one, however its length is spelled", (depth) => {
    const deep = `"a":1.5,"b":${"[".repeat(depth)}1.5${"]".repeat(depth)}`;
    for (const len of ['"len":2', '"len": 2', '"Len":2']) {
      expect(parseHeader(Buffer.from(`{"n":3,"kind":"message",${len},${deep}}`))).toEqual({
        ok: true,
        wrong: [],
        header: { n: 3, kind: "message", id: "", time: "", len: 2 },
      });
    }
  });

  test.each(["cache", "Cache"])("what is opaque is not touched when it is spelled %s", (name) => {
    const parsed = parseHeader(Buffer.from(`{"n":3,"${name}":{"len":1.50,"usage":{"input":2.0}},"len": 2}`));
    expect(parsed.ok && parsed.header.cache).toEqual({ len: 1.5, usage: { input: 2 } });
  });

  test("a header as the tool writes it is parsed once", () => {
    const line = '{"n":3,"kind":"step","id":"5e000003","time":"2026-09-28T22:02:00.374Z","len":0,"model":"m-4.1"}';
    const parse = vi.spyOn(JSON, "parse");
    try {
      expect(parseHeader(Buffer.from(line))).toMatchObject({ ok: true, wrong: [] });
      expect(parse).toHaveBeenCalledTimes(1);
    } finally {
      parse.mockRestore();
    }
  });

  test("opaque fractions stay numbers, and counters in another case are counted", () => {
    const cache = decode(head('{"n":3,"kind":"step","len":2,"cache":{"len":2.5,"n":1e3}}'))?.record.cache;
    expect(cache).toEqual({ len: 2.5, n: 1000 });
    expect(decode(head('{"n":3,"len":2,"usage":{"INPUT":7}}'))?.record.usage?.input).toBe(7);
  });
});

describe("one byte", () => {
  test.each([
    ["oops\n", "5 bytes unreadable"],
    ["\n", "1 byte unreadable"],
    ["{", "1 byte of an unfinished record"],
  ])("%j: %s", (tail, words) => {
    const state = foldOf(Buffer.concat([healthy, Buffer.from(tail)]));
    expect(tailProblem(state)).toContain(words);
  });
});

describe("the library", () => {
  test.each([false, 0, "", null, {}, [1]])("a cache of %j is kept: it is opaque", (cache) => {
    const bytes = encode({
      n: 1,
      kind: "step",
      id: "a",
      time: "2026-09-01T12:00:00Z",
      len: 0,
      cache,
      body: Buffer.alloc(0),
    });
    expect(bytes.toString()).toContain(`"cache":${JSON.stringify(cache)}`);
    expect(decode(bytes)?.record.cache).toEqual(cache);
  });

  test("a FIFO is refused, and hangs nobody", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, `${ID}.state`);
    execFileSync("mkfifo", [path]);
    await expect(StateFile.open(path)).rejects.toMatchObject({ name: "CannotOpen", kind: "not-regular" });
    await expect(new Sessions(dir).open(ID)).rejects.toMatchObject({ name: "CannotOpen" });
    await expect(copy(path, join(dir, "00000001.state"), 3)).rejects.toMatchObject({ name: "CannotOpen" });
  });

  test.each([
    ["start", (sessions: Sessions) => sessions.start("../x", Buffer.from("{}"))],
    ["open", (sessions: Sessions) => sessions.open("../x")],
    ["copy", (sessions: Sessions) => sessions.copy(ID, "../x", 3)],
  ])("%s rejects an id that is none", async (_what, call) => {
    const dir = temporaryDirectory();
    const made = call(new Sessions(dir));
    await expect(made).rejects.toThrow(BadId);
    expect(existsSync(join(dir, "..", "x.state"))).toBe(false);
  });
});
