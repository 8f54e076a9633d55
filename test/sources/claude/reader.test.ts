import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileWork } from "../../../src/files/open.ts";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { claudeRoots } from "../../../src/sources/claude/roots.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
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
      files: { advance: () => new Promise(() => undefined), forget: () => undefined },
      env: {},
      seen: () => null,
      copiedFrom: () => null,
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
