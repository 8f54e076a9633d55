import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import type { Forked } from "../../../src/sources/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { readForward } from "../../support/walk-pages.ts";
import { Conversation, type Row, uuid } from "./rows.ts";

const NOW = "2026-11-20T12:00:00.000Z";

/** What the program checks when it resumes a file: its name, its ids, one chain to the start, calls answered. */
function resumeStub(path: string): { prompts: string[]; leaf: string } {
  const id = /([0-9a-f-]{36})\.jsonl$/u.exec(path)?.[1] ?? "";
  const rows = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line));
  const chain = rows.filter((row) => typeof row.uuid === "string");
  const byId = new Map(chain.map((row) => [row.uuid, row]));
  expect(byId.size).toBe(chain.length);
  for (const row of rows) if (row.sessionId !== undefined) expect(row.sessionId).toBe(id);
  const order = chain.map((row) => row.uuid);
  for (const row of chain) {
    const parent = row.parentUuid ?? row.logicalParentUuid ?? null;
    if (parent !== null) expect(order.indexOf(parent)).toBeLessThan(order.indexOf(row.uuid));
    if (parent !== null) expect(byId.has(parent)).toBe(true);
  }
  const text = JSON.stringify(chain);
  const calls = [...text.matchAll(/"type":"tool_use","id":"([^"]+)"/gu)].map((found) => found[1]);
  const results = [...text.matchAll(/"tool_use_id":"([^"]+)"/gu)].map((found) => found[1]);
  expect(results.sort()).toEqual(calls.sort());
  const prompts = chain.flatMap((row) => {
    const content = (row.message as { content?: unknown } | undefined)?.content;
    return row.type === "user" && typeof content === "string" && row.isCompactSummary !== true ? [content] : [];
  });
  return { prompts, leaf: String(chain.at(-1)?.uuid) };
}

async function open(conversations: Conversation[], processes = processTable([])) {
  const root = temporaryDirectory();
  for (const one of conversations) one.write(root);
  const { reader, seen } = await readSource(claudeSource, [root], evidenceOf(NOW, processes));
  const fork = reader.fork;
  if (fork === null) throw new Error("no forks");
  return { root, reader, seen, fork };
}

describe("a fork of a Claude session", () => {
  test("before a prompt is a session that the program can go on with, and the original is untouched", async () => {
    const copy = copyOfFixture("claude");
    const root = join(copy, "home/.claude");
    const { reader } = await readSource(claudeSource, [root], evidenceOf(NOW));
    const key = "claude:24f85cc9-b93c-4485-a0eb-03ca52fa0c02";
    const before = treeHash(copy);
    const entries = await readForward(await reader.transcript(key), { view: "timeline" }, 100);
    const ref = entries.find((entry) => entry.text === "Now write the test")?.ref ?? "";
    const plan = await reader.fork?.plan(key, ref);
    expect(plan).toMatchObject({ allowed: true, ask: null, status: "idle" });
    expect(treeHash(copy)).toEqual(before);
    const made = (await reader.fork?.make(key, ref)) as Forked;
    expect(resumeStub(made.path).prompts).toEqual(["Add rate limits to the brew endpoint"]);
    expect(made.resume).toEqual({ argv: ["claude", "--resume", made.id], cwd: "/home/dana/code/teapot-api" });
    const after = treeHash(copy);
    const name = `./home/.claude/projects/-home-dana-code-teapot-api`;
    for (const [path, hash] of Object.entries(before)) if (path !== name) expect(after[path]).toBe(hash);
    expect(Object.keys(after)).toHaveLength(Object.keys(before).length + 1);
    const delta = await reader.apply([made.path], evidenceOf(NOW));
    const forked = delta.changed.find((one) => one.id === made.id);
    expect(forked).toMatchObject({ title: "Brew limits (fork)", native: "idle", parent: { key, relation: "fork" } });
    expect(forked?.own).toMatchObject({ requests: 0 });
    expect(forked?.usage).toMatchObject({ requests: 2 });
  });

  test("of all of it holds the active branch alone", async () => {
    const one = new Conversation("rewound").prompt("first").reply("answer");
    const leaf = one.leaf;
    one.prompt("wrong way").reply("lost").rewindTo(leaf).prompt("right way").reply("kept");
    const { fork } = await open([one]);
    const made = await fork.make(`claude:${one.id}`, null);
    expect(resumeStub(made.path)).toEqual({ prompts: ["first", "right way"], leaf: uuid("kept") });
  });

  test("keeps the answers of calls made at once, which hang beside the chain", async () => {
    const one = new Conversation("parallel")
      .prompt("go")
      .call("a", "Bash", {}, { id: "m" })
      .call("b", "Bash", {}, { id: "m" });
    const { leaf } = one;
    one
      .rewindTo(uuid("a"))
      .result("ra", "a")
      .rewindTo(leaf)
      .result("rb", "b")
      .reply("done")
      .prompt("next")
      .reply("end");
    const { fork, seen } = await open([one]);
    expect(seen.byId(one.id).extra.counts).toEqual({ human: 2, assistant: 3, toolCalls: 2 });
    const made = await fork.make(`claude:${one.id}`, uuid("next"));
    expect(resumeStub(made.path).leaf).toBe(uuid("done"));
  });

  test("goes through a compaction and keeps backups of its own rows only", async () => {
    const one = new Conversation("compacted").prompt("one").reply("two");
    one
      .raw({ type: "file-history-snapshot", messageId: uuid("one"), snapshot: {} })
      .row("system", "boundary", { parentUuid: null, logicalParentUuid: uuid("two"), subtype: "compact_boundary" })
      .row("user", "summary", { isCompactSummary: true, message: { role: "user", content: "Summary" } })
      .prompt("three")
      .raw({ type: "file-history-snapshot", messageId: uuid("three"), snapshot: {} })
      .reply("four")
      .raw({ type: "cost-state", totalCostUSD: 1 })
      .raw({ type: "last-prompt", leafUuid: uuid("four") });
    const { fork } = await open([one]);
    const made = await fork.make(`claude:${one.id}`, uuid("three"));
    expect(resumeStub(made.path)).toEqual({ prompts: ["one"], leaf: uuid("summary") });
    const text = readFileSync(made.path, "utf8");
    expect(text.match(/file-history-snapshot/gu)).toHaveLength(1);
    expect(text).not.toMatch(/cost-state|last-prompt/u);
  });

  const cut = () => {
    const one = new Conversation("cut").prompt("p1").call("c1").result("r1", "c1").reply("a1");
    one.prompt("p2").call("c2");
    const { leaf } = one;
    return one.prompt("p3 while the call was open").rewindTo(leaf).reply("a3");
  };
  test.each([
    ["its first prompt", uuid("p1"), "nothing lies before it"],
    ["a result", uuid("r1"), "without its result"],
    ["a reply", uuid("a1"), "without its answer"],
    ["a prompt behind an open call", uuid("p3 while the call was open"), "without its result"],
    ["no entry", "nonsense", "no entry nonsense"],
    ["a path", "../../x", "no entry"],
    ["the end, with a call open", null, "without its result"],
  ])("is refused before %s, and nothing is written", async (_, before, reason) => {
    const one = cut();
    const { fork, root } = await open([one]);
    const tree = treeHash(root);
    const plan = await fork.plan(`claude:${one.id}`, before);
    expect(plan).toMatchObject({ allowed: false });
    expect(plan.allowed ? "" : plan.reason).toContain(reason);
    await expect(fork.make(`claude:${one.id}`, before)).rejects.toThrow(reason);
    expect(treeHash(root)).toEqual(tree);
  });

  test("of a conversation with a gap goes as far back as that does", async () => {
    const one = new Conversation("gap").prompt("p").reply("a").prompt("q").reply("b").prompt("r").reply("c");
    one.rows.splice(1, 1);
    const { fork } = await open([one]);
    const forked = await fork.make(`claude:${one.id}`, uuid("r"));
    const rows = readFileSync(forked.path, "utf8").trimEnd().split("\n");
    expect(rows.map((line): unknown => JSON.parse(line).uuid)).toEqual([uuid("q"), uuid("b"), undefined]);
  });

  test("keeps every value as it was written", async () => {
    const one = new Conversation("exact").prompt("p").call("c", "Bash", { big: "BIG", one: "ONE" }).result("r", "c");
    one.reply("a");
    const root = temporaryDirectory();
    const path = one.write(root);
    const exact = '"input":{"big":1234567890123456789012,"one":1.0}';
    writeFileSync(path, one.text().replace('"input":{"big":"BIG","one":"ONE"}', exact));
    const { reader } = await readSource(claudeSource, [root], evidenceOf(NOW));
    const forked = await reader.fork?.make(`claude:${one.id}`, null);
    expect(readFileSync(forked?.path ?? "", "utf8")).toContain(exact);
    resumeStub(forked?.path ?? "");
  });

  test("is refused while it runs, with the program's own fork named", async () => {
    const one = new Conversation("live").prompt("p").reply("a").prompt("q").reply("b");
    const process = {
      pid: 7,
      ppid: 1,
      startTicks: "1",
      tty: null,
      comm: "claude",
      argv: ["claude", "--resume", one.id],
      cwd: "/work/pot",
      locksHeld: [],
    };
    const { fork, reader, seen } = await open([one], processTable([process]));
    const key = `claude:${one.id}`;
    const plan = await fork.plan(key, uuid("q"));
    expect(plan.allowed ? "" : plan.reason).toContain(`claude --resume ${one.id} --fork-session`);
    expect(seen.byId(one.id).can).toEqual([]);
    const resume = await reader.resume(key);
    expect(resume.ok ? "" : resume.reason).toContain("open already");
  });

  test("has the mode of its original and leaves nothing else in the folder", async () => {
    const one = new Conversation("mode").prompt("p").reply("a").prompt("q").reply("b");
    const { fork, root } = await open([one]);
    const original = one.path(root);
    const made = await fork.make(`claude:${one.id}`, uuid("q"));
    expect(statSync(made.path).mode).toBe(statSync(original).mode);
    expect(readdirSync(dirname(original)).sort()).toEqual([`${made.id}.jsonl`, `${one.id}.jsonl`].sort());
  });
});
