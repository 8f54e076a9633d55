import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileWork } from "../../../src/files/open.ts";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { claudeRoots } from "../../../src/sources/claude/roots.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { evidenceOf, readSource, servicesFor } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { append, Conversation, uuid } from "./rows.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const NOBODY = evidenceOf(NOW);
const claude = (over: Partial<Process> = {}): Process => ({
  pid: 7,
  ppid: 1,
  startTicks: "100",
  tty: "/dev/pts/4",
  comm: "claude",
  argv: ["claude"],
  cwd: "/work/pot",
  locksHeld: [],
  ...over,
});

function register(root: string, one: Conversation, status: string): string {
  const path = join(root, "sessions", "7.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ pid: 7, sessionId: one.id, procStart: "100", status, statusUpdatedAt: 1 }));
  return path;
}

describe("where Claude's files are", () => {
  test.each<[NodeJS.ProcessEnv, string[]]>([
    [{ HOME: "/h" }, ["/h/.claude", "/h/.config/claude"]],
    [{ HOME: "/h", XDG_CONFIG_HOME: "/x" }, ["/h/.claude", "/x/claude"]],
    [{ HOME: "/h", XDG_CONFIG_HOME: "relative" }, ["/h/.claude", "/h/.config/claude"]],
    [{ HOME: "/h", CLAUDE_CONFIG_DIR: "/a" }, ["/a"]],
    [{ HOME: "/h", CLAUDE_CONFIG_DIR: "/a, ~/b ,,/a" }, ["/a", "/h/b"]],
    [{ HOME: "/h", CLAUDE_CONFIG_DIR: "" }, ["/h/.claude", "/h/.config/claude"]],
  ])("%j", (env, roots) => {
    expect(claudeRoots(env)).toEqual(roots);
  });
});

describe("the reader", () => {
  test("an append changes one session and costs what was appended", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("one").prompt("p", "x".repeat(300_000)).reply("a");
    const path = one.write(root);
    new Conversation("two").prompt("other").reply("b").write(root);
    const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
    const before = fileWork.bytesRead;
    append(path, one.prompt("next").rows.slice(-1));
    const delta = await reader.apply([path], NOBODY);
    expect(fileWork.bytesRead - before).toBeLessThan(10_000);
    expect(delta.changed.map((snapshot) => snapshot.id)).toEqual([one.id]);
    expect(delta.changed[0]).toMatchObject({ native: "interrupted", messages: 3 });
    expect(delta.problems).toBeNull();
    expect(seen.snapshots.size).toBe(2);
    expect((await reader.apply([path], NOBODY)).changed).toEqual([]);
  });

  test("a registry file that appears, changes and goes is seen, and the pane is found", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("one").prompt("p").call("c");
    one.write(root);
    const { reader } = await readSource(claudeSource, [root], NOBODY);
    const pane = {
      id: "%12",
      session: "s",
      window: 0,
      index: 0,
      pid: 3,
      tty: "/dev/pts/4",
      dead: false,
      inMode: false,
      cwd: null,
      command: null,
      role: "",
      visible: true,
    };
    const evidence = {
      ...evidenceOf(NOW, processTable([claude()])),
      tmux: { panes: [pane], sessions: new Set(["s"]), server: true },
    };
    const path = register(root, one, "busy");
    const busy = await reader.apply([path], evidence);
    expect(busy.changed[0]).toMatchObject({ status: "working", livePane: "%12", can: ["attach"], activity: "Bash ls" });
    expect(reader.tick(evidence).changed).toEqual([]);
    register(root, one, "idle");
    expect((await reader.apply([path], evidence)).changed[0]).toMatchObject({ status: "done", native: "waiting-user" });
    const gone = reader.tick(evidenceOf(NOW));
    expect(gone.changed[0]).toMatchObject({ native: "interrupted", livePane: null });
    expect(gone.changed[0]?.why.join(" ")).toContain("process 7 is gone or another one");
    rmSync(path);
    expect((await reader.apply([path], NOBODY)).changed[0]?.why.join(" ")).toContain("no process is known");
  });

  test("a session in two roots is one: the longer file, and its key follows it", async () => {
    const [a, b] = [temporaryDirectory(), temporaryDirectory()];
    const one = new Conversation("twin").prompt("p");
    const short = one.write(b);
    one.reply("a").write(a);
    const { reader, seen } = await readSource(claudeSource, [a, b], NOBODY);
    expect([...seen.snapshots.keys()]).toEqual([`claude:${one.id}`]);
    expect(seen.problems.map((problem) => problem.kind)).toEqual(["duplicate"]);
    append(short, one.prompt("q").reply("b").rows.slice(1));
    const delta = await reader.apply([short], NOBODY);
    expect(delta.removed).toEqual([`claude:${one.id}`]);
    expect(delta.changed.map((snapshot) => snapshot.key)).toEqual([`claude@2:${one.id}`]);
  });

  test("a session that goes takes its sub-agents out of the list, as orphans", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("parent").prompt("p").reply("a");
    const path = one.write(root);
    const deep = join(
      root,
      "projects",
      "-work-pot",
      one.id,
      "subagents",
      ...Array.from({ length: 50 }, (_, i) => `d${i}`),
    );
    mkdirSync(deep, { recursive: true });
    const agent = new Conversation("agent").reply("r", { usage: { input_tokens: 7, output_tokens: 9 } });
    writeFileSync(
      join(deep, "agent-deep.jsonl"),
      agent.rows.map((row) => `${JSON.stringify({ ...row, isSidechain: true, sessionId: one.id })}\n`).join(""),
    );
    writeFileSync(join(deep, "journal.jsonl"), "{}\n");
    const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(one.id).own).toMatchObject({ requests: 2, output: 14 });
    rmSync(path);
    const delta = await reader.apply([path], NOBODY);
    expect(delta.removed).toEqual([`claude:${one.id}`]);
    expect(delta.problems?.map((problem) => problem.kind)).toEqual(["orphan"]);
  });

  test("a sidechain inside the file (1.x) is a sub-agent of its own", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("inline").prompt("p").call("task", "Task", { prompt: "look" });
    const leaf = one.leaf;
    one.rewindTo(null).row("user", "side", { isSidechain: true, message: { role: "user", content: "look" } });
    one.row("assistant", "side reply", {
      isSidechain: true,
      message: {
        id: "m_side",
        model: "claude-haiku-4-5",
        content: [{ type: "text", text: "found" }],
        usage: { output_tokens: 3 },
      },
    });
    one.rewindTo(leaf).result("done", "task").reply("end").write(root);
    const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
    const snapshot = seen.byId(one.id);
    expect(snapshot.extra.counts).toEqual({ human: 1, assistant: 2, toolCalls: 1 });
    expect(snapshot.own).toMatchObject({ requests: 3 });
    const transcript = await reader.transcript(snapshot.key);
    const of = `agent:${uuid("side")}`;
    const page = await transcript.page({ view: "branch", of, at: { edge: "end" }, limit: 9 });
    expect(page.entries.map((entry) => entry.text)).toEqual(["look", "found"]);
  });

  test("replies that two sessions share are one session's own, however they were copied", async () => {
    const root = temporaryDirectory();
    const original = new Conversation("one").prompt("p").reply("a").prompt("q").reply("b");
    original.write(root);
    // Other rows with the same messages, and nothing that says where they are from.
    const other = new Conversation("two", "2026-11-11T09:00:00.000Z");
    other.prompt("p2").reply("a2", { id: "msg_a" }).prompt("more").reply("c").write(root);
    const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
    const own = () => [original, other].map((one) => seen.byId(one.id).own?.requests);
    expect(own()).toEqual([2, 1]);
    // Copied rows behind a root of its own, while it is watched.
    const third = new Conversation("three", "2026-11-12T09:00:00.000Z").row("attachment", "root", {});
    const [, second, ...rows] = original.rows;
    third.raw({ ...second, parentUuid: third.leaf, sessionId: third.id });
    for (const row of rows) third.raw({ ...row, sessionId: third.id });
    third.rewindTo(original.leaf).prompt("on").reply("d");
    seen.take(await reader.apply([third.write(root)], NOBODY));
    expect(own()).toEqual([2, 1]);
    expect(seen.byId(third.id)).toMatchObject({ own: { requests: 1 }, usage: { requests: 3 } });
    expect(seen.byId(third.id).parent?.key).toContain(original.id);
    // With the original gone, its replies are another's: again each once.
    rmSync(original.path(root));
    seen.take(await reader.apply([original.path(root)], NOBODY));
    expect([other, third].map((one) => seen.byId(one.id).own?.requests)).toEqual([1, 3]);
  });

  test("of sessions that share a reply one has it, whichever of them goes", async () => {
    const root = temporaryDirectory();
    const all = ["10", "11", "12"].map((day, n) => {
      const one = new Conversation(`s${n}`, `2026-11-${day}T09:00:00.000Z`);
      return one.prompt(`p${n}`).reply(`a${n}`, { id: "msg_shared" }).prompt(`q${n}`).reply(`b${n}`);
    });
    const paths = all.map((one) => one.write(root));
    for (const gone of [0, 1, 2]) {
      const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
      rmSync(paths[gone] ?? "");
      seen.take(await reader.apply([paths[gone] ?? ""], NOBODY));
      const left = all.filter((_, n) => n !== gone);
      expect(left.map((one) => seen.byId(one.id).own?.requests)).toEqual([2, 1]);
      all[gone]?.write(root);
    }
  });

  test("a fork that begins at a compaction is a fork of what was compacted", async () => {
    const root = temporaryDirectory();
    const original = new Conversation("long").prompt("p").reply("a");
    const over = { parentUuid: null, logicalParentUuid: original.leaf, subtype: "compact_boundary" };
    original.row("system", "boundary", over).row("user", "sum", { isCompactSummary: true, message: { content: "s" } });
    original.prompt("q").reply("b").write(root);
    const fork = new Conversation("cut", "2026-11-11T09:00:00.000Z").rewindTo(original.leaf);
    for (const row of original.rows.slice(2)) fork.raw({ ...row, sessionId: fork.id });
    fork.prompt("on").reply("c").write(root);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(fork.id)).toMatchObject({ own: { requests: 1 }, usage: { requests: 2 } });
    expect(seen.byId(fork.id).parent?.key).toContain(original.id);
  });

  test("two agents of one id in two workflows are two, a copy of one elsewhere is not", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("boss").prompt("p").reply("a");
    const beside = dirname(one.write(root));
    const agent = (name: string) => {
      const made = new Conversation(name).prompt(`${name} p`).reply(`${name} a`);
      return made.rows.map(
        (row) => `${JSON.stringify({ ...row, sessionId: one.id, agentId: "x1", isSidechain: true })}\n`,
      );
    };
    const write = (path: string, lines: string[]): void => {
      mkdirSync(dirname(join(beside, path)), { recursive: true });
      writeFileSync(join(beside, path), lines.join(""));
    };
    write(`${one.id}/subagents/workflows/wf_1/agent-x1.jsonl`, agent("first"));
    write(`${one.id}/subagents/workflows/wf_2/agent-x1.jsonl`, agent("second"));
    write("agent-x1.jsonl", agent("first").slice(0, 1));
    const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
    const { key, own, extra } = seen.byId(one.id);
    expect(own?.requests).toBe(3);
    const agents = extra.subagents as { agentId: string; calls: number }[];
    expect(agents.map(({ calls }) => calls)).toEqual([1, 1]);
    expect(agents.map(({ agentId }) => agentId)).toEqual(["wf_2/x1", "x1"]);
    // A name stays when the other one grows.
    const grown = join(beside, `${one.id}/subagents/workflows/wf_1/agent-x1.jsonl`);
    appendFileSync(grown, "\n".repeat(5000));
    seen.take(await reader.apply([grown], NOBODY));
    expect((seen.byId(one.id).extra.subagents as typeof agents).map(({ calls }) => calls)).toEqual([1, 1]);
    const of = { view: "branch", of: "agent:x1", at: { edge: "start" }, limit: 9 } as const;
    expect((await (await reader.transcript(key)).page(of)).entries[0]?.text).toBe("first p");
    const transcript = await reader.transcript(key);
    const prompts = agents.map(async ({ agentId }) => {
      const at = { edge: "start" } as const;
      return (await transcript.page({ view: "branch", of: `agent:${agentId}`, at, limit: 9 })).entries[0]?.text;
    });
    expect((await Promise.all(prompts)).sort()).toEqual(["first p", "second p"]);
  });

  test("a summary names a session while its file is there, the same whatever was read first", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("one").prompt("p").reply("a");
    const beside = dirname(one.write(root));
    const named = (name: string, summary: string): string => {
      const path = join(beside, `${uuid(name)}.jsonl`);
      writeFileSync(path, `${JSON.stringify({ type: "summary", summary, leafUuid: one.leaf })}\n`);
      return path;
    };
    const [last = "", first = ""] = [named("s1", "One"), named("s2", "Two")].sort().reverse();
    const title = last.includes(uuid("s1")) ? "One" : "Two";
    for (const times of [
      [1000, 2000],
      [2000, 1000],
    ]) {
      utimesSync(first, 0, times[0] ?? 0);
      utimesSync(last, 0, times[1] ?? 0);
      const { seen } = await readSource(claudeSource, [root], NOBODY);
      expect(seen.byId(one.id).title).toBe(title);
    }
    const { reader, seen } = await readSource(claudeSource, [root], NOBODY);
    for (const [gone, left] of [
      [last, title === "One" ? "Two" : "One"],
      [first, "p"],
    ] as const) {
      rmSync(gone);
      seen.take(await reader.apply([gone], NOBODY));
      expect(seen.byId(one.id).title).toBe(left);
    }
  });

  test("a copied row's summary is the copy's when the original is gone", async () => {
    const root = temporaryDirectory();
    const fork = new Conversation("fork").prompt("p").reply("a");
    for (const row of fork.rows) row.forkedFrom = { sessionId: uuid("gone"), messageUuid: row.uuid };
    const beside = dirname(fork.prompt("q").reply("b").write(root));
    const line = { type: "summary", summary: "The pot", leafUuid: fork.rows[1]?.uuid };
    writeFileSync(join(beside, `${uuid("s")}.jsonl`), `${JSON.stringify(line)}\n`);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(fork.id).title).toBe("The pot");
  });

  test("replies that tell no numbers make no sum, and a window that was ever exceeded is a long one", async () => {
    const root = temporaryDirectory();
    const silent = new Conversation("silent").prompt("p").row("assistant", "a", {
      message: { id: "m", role: "assistant", model: "claude-sonnet-4-5", content: [], stop_reason: "end_turn" },
    });
    silent.write(root);
    const model = "claude-haiku-4-5-20251001";
    const long = new Conversation("long")
      .prompt("p2")
      .reply("a2", { model, usage: { input_tokens: 500_000, output_tokens: 1 } });
    long
      .prompt("q2")
      .reply("b2", { model, usage: { input_tokens: 50_000, output_tokens: 1 } })
      .write(root);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(silent.id)).toMatchObject({ usage: null, own: null, messages: 2 });
    expect(seen.byId(long.id).context).toEqual({ used: 50_001, limit: 1_000_000 });
  });

  test("links, special files and what cannot be read are left alone and said", async () => {
    const root = temporaryDirectory();
    const outside = new Conversation("outside").prompt("p").reply("a").write(temporaryDirectory());
    const one = new Conversation("one").prompt("p").reply("a");
    const path = one.write(root);
    symlinkSync(outside, join(dirname(path), `${uuid("link")}.jsonl`));
    const closed = new Conversation("closed").prompt("p").write(root);
    chmodSync(closed, 0o000);
    const before = treeHash(root);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(treeHash(root)).toEqual(before);
    expect(seen.problems.map((problem) => problem.kind)).toContain("not-regular");
    if (process.getuid?.() !== 0) expect(seen.problems.map((problem) => problem.kind)).toContain("unreadable");
  });

  test("a root that was asked for and is not there is a problem; a usual one is not", async () => {
    const missing = join(temporaryDirectory(), "none");
    const { seen } = await readSource(claudeSource, [missing], NOBODY);
    expect(seen.problems).toMatchObject([{ kind: "gone", path: missing }]);
  });

  test("the end of a big file is there at once, and paging back goes on to its start", async () => {
    const root = temporaryDirectory();
    const one = new Conversation("big").prompt("the beginning").reply("first reply");
    const path = one.write(root);
    const filler = `${JSON.stringify({ type: "progress", data: "y".repeat(1_000_000) })}\n`;
    for (let i = 0; i < 70; i += 1) appendFileSync(path, filler);
    append(path, one.prompt("near the end").reply("last reply").rows.slice(2));
    const reader = claudeSource.open([{ source: "claude", index: 1, path: root, explicit: true }], {
      ...servicesFor(),
      files: { advance: () => new Promise(() => undefined), forget: () => undefined },
    });
    const before = fileWork.bytesRead;
    const scan = reader.scan(NOBODY)[Symbol.asyncIterator]();
    const first = await scan.next();
    const snapshot = first.done ? undefined : first.value.changed[0];
    expect(snapshot).toMatchObject({ title: "the beginning", native: "idle", usage: null });
    const transcript = await reader.transcript(snapshot?.key ?? "");
    const page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 2 });
    expect(page.entries.map((entry) => entry.text)).toEqual(["near the end", "last reply"]);
    expect(fileWork.bytesRead - before).toBeLessThan(16 * 1024 * 1024);
    const earlier = await transcript.page({ view: "timeline", at: { before: page.before }, limit: 9 });
    expect(earlier.entries.map((entry) => entry.text)).toEqual(["the beginning", "first reply"]);
    expect(earlier.atStart).toBe(true);
  });
});
