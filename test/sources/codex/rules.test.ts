import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { codexFold } from "../../../src/sources/codex/fold.ts";
import { typedText } from "../../../src/sources/codex/prompt-text.ts";
import { parseRolloutName } from "../../../src/sources/codex/rollout-name.ts";
import { codexRoots } from "../../../src/sources/codex/roots.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { fixture } from "../../support/fixtures.ts";
import { foldInPieces } from "../../support/fold-in-pieces.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { append, Rollout, type Row, uuid7 } from "./rows.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const DAY = "2026-11-10T09:00:00.000Z";
const LATER = "2026-11-10T10:00:00.000Z";

async function read(rollouts: Rollout[], evidence = evidenceOf(NOW)) {
  const root = temporaryDirectory();
  for (const one of rollouts) one.write(root);
  return { root, ...(await readSource(codexSource, [root], evidence)) };
}

const own = async (rollouts: Rollout[], of: Rollout) => {
  const { seen } = await read(rollouts);
  const { usage, own } = seen.byId(of.id);
  return { all: [usage?.input, usage?.output], own: [own?.input, own?.output], requests: own?.requests };
};

describe("names and places", () => {
  test.each([
    [
      "rollout-2026-11-10T09-00-00-01a1c4af-8680-7420-8bd3-761f8580dbb6.jsonl",
      "01a1c4af-8680-7420-8bd3-761f8580dbb6",
      null,
      false,
    ],
    ["rollout-2026-11-10T09-00-00-abc_def.jsonl.zst", "abc", "def", true],
  ])("%s", (name, thread, rollout, compressed) => {
    expect(parseRolloutName(name)).toMatchObject({ thread, rollout, compressed });
  });

  test.each([
    "notes.txt",
    "rollout-2026.jsonl",
    "rollout-2026-11-10T09-00-00-a/b.jsonl",
    ".rollout-2026-11-10T09-00-00-a.jsonl.x.tmp",
  ])("%s is none", (name) => {
    expect(parseRolloutName(name)).toBeNull();
  });

  test("CODEX_HOME moves it", () => {
    expect(codexRoots({ HOME: "/h" })).toEqual(["/h/.codex"]);
    expect(codexRoots({ HOME: "/h", CODEX_HOME: "/c" })).toEqual(["/c"]);
  });
});

describe("a prompt", () => {
  test.each([
    ["Fix it", false, "Fix it"],
    ["<environment_context>x", false, null],
    ["# AGENTS.md instructions for /x", false, null],
    ["<turn_aborted>", false, null],
    ["# Context from my IDE setup\n\n## Open tabs\n\n## My request for Codex:\nDo it\n", false, "Do it\n"],
    ["<user_shell_command>ls", true, null],
    ["<div>", true, "<div>"],
  ])("%j is %j", (text, fromModelRows, typed) => {
    expect(typedText(text, fromModelRows)).toBe(typed);
  });
});

describe("a title", () => {
  const request = (files: number): string =>
    `# Context from my IDE setup:\n\n## Open tabs:\n${"- file.ts\n".repeat(files)}\n## My request for Codex:\nFix the kettle\n`;

  test.each([
    [true, 1],
    [true, 5000],
    [true, 60_000],
    [false, 1],
    [false, 5000],
    [false, 60_000],
  ])(
    "of an IDE's prompt is what was asked, however long the context (paginated %s, %i open files)",
    async (paginated, n) => {
      const one = new Rollout(DAY, { paginated }).prompt(request(n)).reply("a").done();
      const { seen } = await read([one]);
      const asked = "Fix the kettle";
      expect(seen.byId(one.id)).toMatchObject({ title: asked, extra: { firstPrompt: asked, lastPrompt: asked } });
    },
  );

  test("keeps nothing of the context it stands behind", () => {
    const one = new Rollout(DAY).prompt(request(60_000));
    const state = codexFold.initial();
    runNow(codexFold.advance(state, bytesOf(Buffer.from(one.text())), 0));
    expect(JSON.stringify(state).length).toBeLessThan(2000);
  });
});

const files = readdirSync(fixture("codex", "home"), { recursive: true, encoding: "utf8" }).filter((name) =>
  /rollout.*\.jsonl$/u.test(name),
);

describe("the fold", () => {
  test.each(files)("of %s is the same however the file grew", (name) => {
    const bytes = readFileSync(join(fixture("codex", "home"), name));
    const whole = foldInPieces(codexFold, bytes, []);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 6 }), (sizes) => {
        expect(
          foldInPieces(
            codexFold,
            bytes,
            sizes.sort((a, b) => a - b),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 10 },
    );
  });

  test("loses one bad line, recovers records behind NULs, and never keeps a torn tail", () => {
    const one = new Rollout(DAY).prompt("p").reply("a").done();
    const [meta, ...rest] = one.text().trimEnd().split("\n");
    const text = `${meta}\n{bad\n\0\0\0${rest.join("\n")}\n{"torn":`;
    const state = codexFold.initial();
    runNow(codexFold.advance(state, bytesOf(Buffer.from(text)), 0));
    expect(state.bad).toEqual({ lines: [2], count: 1 });
    expect(state.torn).toBe('{"torn":'.length);
    expect(state.meta?.id).toBe(one.id);
  });

  test("reads a line of 100 MB without keeping it", () => {
    const one = new Rollout(DAY)
      .prompt("p")
      .call("c")
      .result("c", "x".repeat(100 * 1024 * 1024))
      .reply("a")
      .done();
    const state = codexFold.initial();
    runNow(codexFold.advance(state, bytesOf(Buffer.from(one.text())), 0));
    expect(state.bad.count).toBe(0);
    expect(JSON.stringify(state).length).toBeLessThan(10_000);
  });
});

describe("usage", () => {
  test("by records counts each response once, the one in flight too, and never a total beside", async () => {
    const one = new Rollout(DAY)
      .prompt("p")
      .record("r1", 100, 10)
      .record("r1", 100, 10)
      .total([100, 10])
      .record("r2", 50, 5);
    expect(await own([one], one)).toEqual({ all: [150, 15], own: [150, 15], requests: 2 });
  });

  test("by totals is differences; a smaller total is a new count; a repeated one is none", async () => {
    const one = new Rollout(DAY, { paginated: false }).prompt("p");
    one.event("token_count", { info: null }).total([100, 10]).total([100, 10]).total([150, 15], [50, 5]);
    one.total([30, 3], [25, 2]).total([30, 3], [0, 0]);
    expect(await own([one], one)).toEqual({ all: [175, 17], own: [175, 17], requests: 3 });
  });

  test.each(["1", "2e5", ""])("by totals counts every reset, also where turns are called %j", async (name) => {
    const one = new Rollout(DAY, { paginated: false });
    const totals: [[number, number], [number, number]][] = [
      [
        [100, 10],
        [100, 10],
      ],
      [
        [50, 5],
        [50, 5],
      ],
      [
        [100, 10],
        [50, 5],
      ],
    ];
    for (const [n, [total, last]] of totals.entries()) {
      one.event("task_started", { turn_id: `${name}${n}` }).message("user", "p");
      one.event("user_message", { message: "p" }).total(total, last);
    }
    expect(await own([one], one)).toEqual({ all: [200, 20], own: [200, 20], requests: 3 });
  });

  test("takes what was cached, and what was written to the cache, out of input", async () => {
    const one = new Rollout(DAY).prompt("p");
    const usage = { input_tokens: 100, cached_input_tokens: 60, cache_write_input_tokens: 30, output_tokens: 1 };
    one.line("token_usage_record", { thread_id: one.id, response_id: "r", usage });
    const { seen } = await read([one]);
    expect(seen.byId(one.id).own).toMatchObject({ input: 10, cacheRead: 60, cacheWrite: 30, output: 1 });
  });

  test("belongs to the model in force", async () => {
    const one = new Rollout(DAY).prompt("p", { model: "gpt-5-codex" }).record("r1", 1, 1).done();
    one.prompt("q", { model: "gpt-5.3-codex" }).record("r2", 1, 1).done();
    const { reader, seen } = await read([one]);
    const requests = await reader.requests(seen.byId(one.id).key);
    expect(requests.map((request) => request.model)).toEqual(["gpt-5-codex", "gpt-5.3-codex"]);
  });
});

describe("the context used", () => {
  const bare = { input_tokens: 500, cached_input_tokens: 100, output_tokens: 50, reasoning_output_tokens: 20 };
  const zeros = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 };
  const count = (one: Rollout, last: Row | null) =>
    one.event("token_count", {
      info: { total_token_usage: bare, last_token_usage: last, model_context_window: 258_400 },
    });
  const record = (one: Rollout, usage: Row | null) => one.line("token_usage_record", { response_id: "r", usage });

  test.each<[string, (one: Rollout) => Rollout, number | null]>([
    ["is the total of the last request", (one) => count(one, { ...bare, total_tokens: 700 }), 700],
    ["is the sum of its parts where no total is written", (one) => count(one, bare), 550],
    ["is the sum of a record's parts where no total is written", (one) => record(one, bare), 550],
    ["is the estimate behind a compaction", (one) => count(one, { ...zeros, total_tokens: 7000 }), 7000],
    ["is unknown where nothing is written", (one) => count(one, null), null],
    ["is unknown where a record has no usage", (one) => record(one, null), null],
    ["is never 0", (one) => count(one, { ...zeros, total_tokens: 0 }), null],
    ["is known again later", (one) => count(record(one, null), bare), 550],
  ])("%s", async (_, write, used) => {
    for (const paginated of [true, false]) {
      const one = write(new Rollout(DAY, { paginated }).prompt("p").reply("a")).done();
      const { seen } = await read([one]);
      expect(seen.byId(one.id).context).toEqual(used === null ? null : { used, limit: 258_400 });
    }
  });
});

/** A legacy fork: own header, the parent's rows re-stamped over seconds, the parent's header first. */
function legacyFork(parent: Rollout, at = LATER): Rollout {
  const fork = new Rollout(at, { paginated: false, n: 9, meta: { forked_from_id: parent.id, cwd: "/work/fork" } });
  for (const [i, row] of parent.rows.entries()) {
    fork.raw({ ...row, timestamp: new Date(Date.parse(at) + i * 700).toISOString() });
  }
  return fork;
}

describe("what was copied", () => {
  const parent = () => {
    const one = new Rollout(DAY, { paginated: false }).prompt("p").reply("a").total([100, 10]).done();
    return one.prompt("q").reply("b").total([300, 30], [200, 20]).done();
  };

  test("into a legacy fork belongs to the parent, wherever the fork was cut", async () => {
    const whole = parent();
    const fork = legacyFork(whole).prompt("own").reply("c").total([350, 35], [50, 5]).done();
    expect(await own([whole, fork], fork)).toEqual({ all: [350, 35], own: [50, 5], requests: 1 });
    expect(await own([fork, whole], whole)).toEqual({ all: [300, 30], own: [300, 30], requests: 2 });
    const { seen } = await read([whole, fork]);
    expect(seen.byId(fork.id)).toMatchObject({
      cwd: "/work/fork",
      parent: { key: `codex:${whole.id}`, relation: "fork" },
    });
  });

  test("while the parent went on is still only what both begin with", async () => {
    const whole = parent();
    const fork = legacyFork(whole).prompt("own").total([350, 35], [50, 5]).done();
    whole.prompt("own").reply("other").total([900, 90], [600, 60]).done();
    expect((await own([whole, fork], fork)).own).toEqual([50, 5]);
    expect((await own([whole, fork], whole)).own).toEqual([900, 90]);
  });

  test("of a parent that is gone ends where the first turn is not older than the fork", async () => {
    const whole = parent();
    const [first, second] = [LATER, "2026-11-10T11:00:00.000Z"].map((at) =>
      legacyFork(whole, at).prompt("own").reply("c").total([350, 35], [50, 5]).done(),
    ) as [Rollout, Rollout];
    expect(await own([first, second], second)).toEqual({ all: [350, 35], own: [50, 5], requests: 1 });
    expect(await own([first, second], first)).toEqual({ all: [350, 35], own: [350, 35], requests: 3 });
    expect(await own([second], second)).toEqual({ all: [350, 35], own: [350, 35], requests: 3 });
  });

  test("of a parent that is gone is counted once while an older copy of it still comes in", async () => {
    const whole = parent();
    const [older, younger] = [LATER, "2026-11-10T11:00:00.000Z"].map((at) =>
      legacyFork(whole, at).prompt("own").reply("c").total([350, 35], [50, 5]).done(),
    ) as [Rollout, Rollout];
    const root = temporaryDirectory();
    const rows = older.rows.splice(2);
    const path = older.write(root);
    younger.write(root);
    const { reader, seen } = await readSource(codexSource, [root], evidenceOf(NOW));
    for (let at = 0; at < rows.length; at += 3) {
      append(path, rows.slice(at, at + 3));
      seen.take(await reader.apply([path], evidenceOf(NOW)));
      const fresh = (await readSource(codexSource, [root], evidenceOf(NOW))).seen;
      for (const { id } of [older, younger]) expect(seen.byId(id).own).toEqual(fresh.byId(id).own);
    }
    expect(seen.byId(younger.id).own?.requests).toBe(1);
  });

  test("of a fork of a fork is counted for the first owner", async () => {
    const first = parent();
    const second = legacyFork(first).prompt("second").total([350, 35], [50, 5]).done();
    const third = legacyFork(second, "2026-11-10T11:00:00.000Z");
    third.rows[0] = { ...third.rows[0], payload: { ...(third.rows[0]?.payload as object), id: uuid7(LATER, 77) } };
    const moved = new Rollout("2026-11-10T11:00:00.000Z", {
      paginated: false,
      n: 77,
      meta: { forked_from_id: second.id },
    });
    for (const row of second.rows) moved.raw(row);
    moved.prompt("third").total([360, 36], [10, 1]).done();
    const { seen } = await read([moved, second, first]);
    const owned = [first, second, moved].map((one) => seen.byId(one.id).own?.output);
    expect(owned).toEqual([30, 5, 1]);
    expect(seen.byId(moved.id).usage?.output).toBe(36);
  });

  test("into a sub-agent is not its conversation", async () => {
    const whole = new Rollout(DAY).prompt("p").reply("a").record("r1", 100, 10).done();
    const agent = new Rollout(LATER, {
      n: 5,
      meta: {
        source: { subagent: { thread_spawn: { parent_thread_id: whole.id, depth: 1 } } },
        subagent_history_start_ordinal: whole.rows.length + 1,
      },
    });
    for (const [i, row] of whole.rows.entries()) agent.raw({ ...row, ordinal: i + 1 });
    const start = new Rollout(LATER, { id: agent.id, ordinal: whole.rows.length })
      .prompt("mine")
      .reply("x")
      .record("r9", 7, 1)
      .done();
    for (const row of start.rows.slice(1)) agent.raw(row);
    const { seen } = await read([whole, agent]);
    expect(seen.byId(agent.id)).toMatchObject({
      hidden: true,
      title: "mine",
      parent: { key: `codex:${whole.id}`, relation: "subagent" },
      usage: { input: 7, requests: 1 },
      extra: { counts: { human: 1, assistant: 1, toolCalls: 0 } },
    });
  });
});

describe("a paginated thread", () => {
  test("reverted twice shows one path, and all its requests were billed", async () => {
    const first = new Rollout(DAY).prompt("one").reply("a").record("r1", 10, 1).done();
    const cut = first.rows.length;
    first.prompt("lost").reply("b").record("r2", 20, 2).done();
    const base = { history_base: { thread_id: first.id, end_ordinal_exclusive: cut } };
    const second = new Rollout(LATER, { id: first.id, rollout: uuid7(LATER), ordinal: cut, meta: base });
    second.prompt("two").reply("c").record("r3", 30, 3).done();
    const end = cut + second.rows.length;
    second.prompt("lost too").record("r4", 40, 4).done();
    const third = new Rollout("2026-11-10T11:00:00.000Z", {
      id: first.id,
      rollout: uuid7("2026-11-10T11:00:00.000Z"),
      ordinal: end,
      meta: { history_base: { thread_id: first.id, end_ordinal_exclusive: end } },
    });
    third.prompt("three").reply("d").record("r5", 50, 5).done();
    const { seen } = await read([third, first, second]);
    expect(seen.snapshots.size).toBe(1);
    expect(seen.byId(first.id)).toMatchObject({
      title: "one",
      usage: { input: 150, requests: 5 },
      own: { input: 150 },
      extra: { counts: { human: 3, assistant: 3 }, abandoned: { human: 2, assistant: 1 } },
    });
  });

  test("forked from a reverted one means the newest file that is older", async () => {
    const first = new Rollout(DAY).prompt("one").reply("a").record("r1", 10, 1).done();
    const cut = first.rows.length;
    const base = { history_base: { thread_id: first.id, end_ordinal_exclusive: cut } };
    const second = new Rollout(LATER, { id: first.id, rollout: uuid7(LATER), ordinal: cut, meta: base });
    second.prompt("two").reply("b").record("r2", 20, 2).done();
    const end = cut + second.rows.length;
    const fork = new Rollout("2026-11-10T11:00:00.000Z", {
      n: 3,
      ordinal: end,
      meta: { forked_from_id: first.id, history_base: { thread_id: first.id, end_ordinal_exclusive: end } },
    });
    fork.prompt("three").record("r3", 30, 3).done();
    const { seen } = await read([fork, second, first]);
    expect(seen.byId(fork.id)).toMatchObject({
      title: "one",
      usage: { input: 60 },
      own: { input: 30 },
      extra: { lastPrompt: "three", counts: { human: 3 } },
    });
  });

  test("rolled back (legacy) drops that many prompts and what follows them", async () => {
    const one = new Rollout(DAY, { paginated: false }).prompt("one").reply("a").done();
    one.prompt("two").reply("b").done().prompt("three").reply("c").done();
    one.event("thread_rolled_back", { num_turns: 2 }).prompt("four").reply("d").done();
    const { seen, reader } = await read([one]);
    expect(seen.byId(one.id).extra).toMatchObject({
      counts: { human: 2, assistant: 2 },
      abandoned: { human: 2, assistant: 2 },
    });
    const transcript = await reader.transcript(`codex:${one.id}`);
    const page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 99 });
    const left = page.entries.filter((entry) => !entry.branch && entry.kind !== "marker").map((entry) => entry.text);
    expect(left).toEqual(["two", "b", "three", "c"]);
  });
});

describe("twins", () => {
  test("plain wins over compressed, the longer over the shorter, and both are one thread", async () => {
    const root = temporaryDirectory();
    const one = new Rollout(DAY).prompt("p").reply("a").done();
    const path = one.write(root);
    writeFileSync(`${path}.zst`, zstdCompressSync(Buffer.from(one.text() + one.text())));
    const archived = join(root, "archived_sessions", one.name);
    mkdirSync(dirname(archived));
    cpSync(path, archived);
    append(archived, one.prompt("q").rows.slice(-4));
    const { seen, reader } = await readSource(codexSource, [root], evidenceOf(NOW));
    expect(seen.byId(one.id)).toMatchObject({ path: archived, status: "interrupted", extra: { archived: true } });
    expect(seen.problems.map((problem) => problem.kind)).toEqual(["duplicate", "duplicate"]);
    rmSync(archived);
    const delta = await reader.apply([archived], evidenceOf(NOW));
    expect(delta.changed[0]?.path).toBe(path);
  });

  test("a compressed file that is damaged or unfolds without end costs itself alone", async () => {
    const one = new Rollout(DAY).prompt("p").reply("a").done();
    const root = temporaryDirectory();
    one.write(root);
    const bad = new Rollout(LATER).path(root);
    writeFileSync(`${bad}.zst`, zstdCompressSync(Buffer.from(one.text())).subarray(0, 40));
    const { seen } = await readSource(codexSource, [root], evidenceOf(NOW));
    expect(seen.snapshots.size).toBe(1);
    expect(seen.problems.map((problem) => problem.kind)).toEqual(["damaged"]);
  });

  test("a file that is compressed, archived and renamed under our eyes stays one thread", async () => {
    const root = temporaryDirectory();
    const one = new Rollout(DAY).prompt("p").reply("a").record("r", 5, 1).done();
    const path = one.write(root);
    const { reader, seen } = await readSource(codexSource, [root], evidenceOf(NOW));
    writeFileSync(`${path}.zst`, zstdCompressSync(Buffer.from(one.text())));
    rmSync(path);
    seen.take(await reader.apply([path, `${path}.zst`], evidenceOf(NOW)));
    expect(seen.byId(one.id)).toMatchObject({ path: `${path}.zst`, own: { input: 5 } });
    const archived = join(root, "archived_sessions", `${one.name}.zst`);
    mkdirSync(dirname(archived));
    renameSync(`${path}.zst`, archived);
    seen.take(await reader.apply([`${path}.zst`, archived], evidenceOf(NOW)));
    expect(seen.byId(one.id)).toMatchObject({ path: archived, status: "archived" });
    expect(seen.snapshots.size).toBe(1);
  });
});

const codex = (over: Partial<Process> = {}): Process => ({
  pid: 9,
  ppid: 1,
  startTicks: "1",
  tty: null,
  comm: "codex",
  argv: ["codex"],
  cwd: "/work/pot",
  locksHeld: [],
  ...over,
});

describe("a status", () => {
  const open = () => new Rollout(DAY).prompt("p").call("c");
  const over = () => new Rollout(DAY).prompt("p").reply("a").done();
  const asks = () =>
    new Rollout(DAY).prompt("p").call("c", { questions: [{ question: "Which port?" }] }, "request_user_input");
  const escalates = (approval: string) =>
    new Rollout(DAY).prompt("p", { approval }).call("c", { cmd: "npm i", sandbox_permissions: "require_escalated" });

  async function judged(one: Rollout, held: boolean, more: Process[] = []) {
    const root = temporaryDirectory();
    one.write(root);
    const lock = join(root, "thread-writer-locks", `${one.id}.lock`);
    mkdirSync(dirname(lock));
    writeFileSync(lock, "");
    const locks = held ? [{ kind: "FLOCK" as const, pid: 9, device: "0:1", inode: statSync(lock).ino }] : [];
    const before = treeHash(root);
    const evidence = { ...evidenceOf(NOW, processTable([codex(), ...more])), locks };
    const { seen } = await readSource(codexSource, [root], evidence);
    expect(treeHash(root)).toEqual(before);
    return seen.byId(one.id);
  }

  test.each<[string, () => Rollout, boolean, string, string]>([
    ["open and held", open, true, "working", "working"],
    ["open and not held", open, false, "interrupted", "interrupted"],
    ["over and held", over, true, "done", "waiting-user"],
    ["over and not held", over, false, "idle", "idle"],
    ["a question and held", asks, true, "needs-input", "waiting-user"],
    ["a question and not held", asks, false, "interrupted", "interrupted"],
    ["failed", () => new Rollout(DAY).prompt("p").done("usage limit"), false, "failed", "error"],
    ["failed and held", () => new Rollout(DAY).prompt("p").done("usage limit"), true, "failed", "error"],
    [
      "aborted",
      () => new Rollout(DAY).prompt("p").event("turn_aborted", { reason: "interrupted" }),
      false,
      "interrupted",
      "interrupted",
    ],
    ["aborted and held", () => new Rollout(DAY).prompt("p").event("turn_aborted"), true, "done", "waiting-user"],
  ])("%s", async (_, make, held, status, native) => {
    expect(await judged(make(), held)).toMatchObject({ status, native });
  });

  test("an open call that asks to leave the sandbox is a hint, never a claim", async () => {
    const hint = await judged(escalates("on-request"), true);
    expect(hint).toMatchObject({ native: "working", activity: expect.stringContaining("may wait for your approval") });
    expect((await judged(escalates("never"), true)).activity).not.toContain("approval");
  });

  test("without locks to look at an open turn is unknown, a finished one is not", async () => {
    for (const [one, native] of [
      [open(), "unknown"],
      [over(), "idle"],
    ] as const) {
      const root = temporaryDirectory();
      one.write(root);
      mkdirSync(join(root, "thread-writer-locks"));
      writeFileSync(join(root, "thread-writer-locks", `${one.id}.lock`), "");
      const { seen } = await readSource(codexSource, [root], { ...evidenceOf(NOW), locks: null });
      expect(seen.byId(one.id).native).toBe(native);
    }
  });

  test("of a version without locks is guessed from a codex in its folder", async () => {
    const old = new Rollout(DAY, { paginated: false }).prompt("p").call("c");
    const { seen } = await read([old], evidenceOf(NOW, processTable([codex()])));
    expect(seen.byId(old.id)).toMatchObject({ native: "working", certainty: "guess", extra: { pid: 9 } });
  });

  test.each<[string, boolean, string[], string | null, string, number | null]>([
    ["open, with a codex that ran before it was written", true, [], "08:00", "working", 9],
    ["open, with a codex of which nobody knows since when it runs", true, [], null, "working", 9],
    ["open, with a codex that started later", true, [], "09:30", "interrupted", null],
    ["open, with a codex that resumed it before it was written", true, ["resume"], "08:00", "working", 9],
    ["open, with a codex that resumed it later", true, ["resume"], "09:30", "interrupted", 9],
    ["over, with a codex that ran before it was written", false, [], "08:00", "waiting-user", 9],
    ["over, with a codex that started later", false, [], "09:30", "idle", null],
    ["over, with a codex that resumed it later", false, ["resume"], "09:30", "waiting-user", 9],
  ])("of a version without locks: %s", async (_, isOpen, argv, started, native, pid) => {
    const old = new Rollout(DAY, { paginated: false }).prompt("p").call("c");
    if (!isOpen) old.result("c").reply("a").done();
    const startedAt = started === null ? null : Date.parse(`2026-11-10T${started}:00.000Z`);
    const process = codex({ startedAt, argv: ["codex", ...argv, ...(argv.length > 0 ? [old.id] : [])] });
    const { seen } = await read([old], evidenceOf(NOW, processTable([process])));
    expect(seen.byId(old.id)).toMatchObject({ native, extra: { pid } });
  });
});

describe("a fork of a thread", () => {
  /** What the program checks of a rollout: the name, both ids, whole lines, ordinals kept in order. */
  function resumeStub(path: string) {
    const rows = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const [meta] = rows;
    expect(meta.type).toBe("session_meta");
    const name = /^rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-([0-9a-f-]{36})\.jsonl$/u.exec(
      path.split("/").at(-1) ?? "",
    );
    expect(name?.[2]).toBe(meta.payload.id);
    if (meta.payload.history_mode === "paginated") {
      expect(meta.payload.session_id).toBe(meta.payload.id);
      const ordinals = rows.map((row) => row.ordinal);
      expect(ordinals).toEqual([...ordinals].sort((a, b) => a - b));
    }
    return rows;
  }

  test.each([true, false])("before a prompt is whole, and known as a fork (paginated %s)", async (paginated) => {
    const one = new Rollout(DAY, { paginated }).prompt("one").reply("a");
    if (paginated) one.record("r1", 10, 1);
    else one.total([10, 1]);
    one.done().prompt("two").reply("b").done();
    const { root, reader, seen } = await read([one]);
    const key = `codex:${one.id}`;
    const page = await (await reader.transcript(key)).page({ view: "timeline", at: { edge: "end" }, limit: 99 });
    const ref = page.entries.find((entry) => entry.forkable)?.ref ?? "";
    const before = treeHash(root);
    expect(await reader.fork?.plan(key, ref)).toMatchObject({ allowed: true, status: "idle" });
    expect(treeHash(root)).toEqual(before);
    const made = await reader.fork?.make(key, ref);
    const rows = resumeStub(made?.path ?? "");
    expect(rows.at(-1).payload.type).toBe("task_complete");
    expect(JSON.stringify(rows)).not.toContain('"two"');
    const original = Object.entries(before).filter(([path]) => path.endsWith(".jsonl"));
    for (const [path, hash] of original) expect(treeHash(root)[path]).toBe(hash);
    seen.take(await reader.apply([made?.path ?? ""], evidenceOf(NOW)));
    expect(seen.byId(made?.id ?? "")).toMatchObject({
      native: "idle",
      title: "one",
      parent: { key, relation: "fork" },
      usage: { input: 10 },
      own: { input: 0, requests: 0 },
    });
    expect(seen.byId(one.id).own?.input).toBe(10);
  });

  test("of a compressed thread is plain", async () => {
    const one = new Rollout(DAY).prompt("one").reply("a").done();
    const root = temporaryDirectory();
    const path = one.write(root);
    writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
    rmSync(path);
    const { reader } = await readSource(codexSource, [root], evidenceOf(NOW));
    const made = await reader.fork?.make(`codex:${one.id}`, null);
    expect(resumeStub(made?.path ?? "")).toHaveLength(one.rows.length);
  });

  test.each<[string, Rollout, string | null, string]>([
    ["its first prompt", new Rollout(DAY).prompt("one").done(), "first", "nothing was said"],
    ["the end of an open turn", new Rollout(DAY).prompt("one").call("c"), null, "without its result"],
    ["the end of a turn without end", new Rollout(DAY).prompt("one"), null, "did not end"],
    ["no entry", new Rollout(DAY).prompt("one").done(), "../x", "no entry"],
    ["a line that is no prompt", new Rollout(DAY).prompt("one").done(), "@0", "choose one"],
  ])("is refused at %s", async (_, one, before, reason) => {
    const { root, reader } = await read([one]);
    const key = `codex:${one.id}`;
    const page = await (await reader.transcript(key)).page({ view: "timeline", at: { edge: "end" }, limit: 99 });
    const ref = before === "first" ? (page.entries.find((entry) => entry.text === "one")?.ref ?? "") : before;
    const tree = treeHash(root);
    const plan = await reader.fork?.plan(key, ref);
    expect(plan?.allowed === false ? plan.reason : "").toContain(reason);
    await expect(reader.fork?.make(key, ref)).rejects.toThrow(reason);
    expect(treeHash(root)).toEqual(tree);
  });

  test("is refused while its lock is held, with the program's own fork named", async () => {
    const one = new Rollout(DAY).prompt("one").reply("a").done();
    const lock = `thread-writer-locks/${one.id}.lock`;
    const { reader, seen } = await read([one], evidenceOf(NOW, processTable([codex({ locksHeld: [lock] })])));
    const plan = await reader.fork?.plan(`codex:${one.id}`, null);
    expect(plan?.allowed === false ? plan.reason : "").toContain(`codex fork ${one.id}`);
    expect(seen.byId(one.id).can).toEqual([]);
    const resume = await reader.resume(`codex:${one.id}`);
    expect(resume.ok ? "" : resume.reason).toContain("open already");
  });
});
