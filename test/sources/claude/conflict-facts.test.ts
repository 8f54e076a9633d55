import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { append, Conversation } from "./rows.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const NOBODY = evidenceOf(NOW);
const claude = (pid: number, over: Partial<Process> = {}): Process => ({
  ...{ pid, ppid: 1, startTicks: String(pid), tty: null, comm: "claude", argv: ["claude"], cwd: "/work/pot" },
  ...{ locksHeld: [], ...over },
});
const edit = (one: Conversation, name: string, file_path: string, tool = "Edit") =>
  one.call(name, tool, { file_path }).result(`${name}-done`, name);

describe("the files a session edited", () => {
  test("are those of its last hour, each once, the latest last", async () => {
    const root = temporaryDirectory();
    const one = edit(new Conversation("one").prompt("p"), "e1", "/work/pot/early.ts", "Write");
    const at = { timestamp: "2026-11-10T10:00:11.000Z" };
    for (const [i, file_path] of ["a.ts", "b.ts", "a.ts"].entries()) {
      const content = [{ type: "tool_use", id: `t${i}`, name: "MultiEdit", input: { file_path } }];
      one.row("assistant", `e2${i}`, { ...at, message: { id: `m${i}`, role: "assistant", content } });
    }
    edit(one, "r1", "/work/pot/read.ts", "Read");
    one.write(root);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(one.id).extra.edits).toEqual(["/work/pot/b.ts", "/work/pot/a.ts"]);
  });

  test("are its sub-agents' too", async () => {
    const root = temporaryDirectory();
    const one = edit(new Conversation("one").prompt("p"), "e1", "/work/pot/own.ts");
    const path = one.write(root);
    const agent = edit(new Conversation("agent").prompt("q"), "e2", "/work/pot/theirs.ts");
    const rows = agent.rows.map((row) => ({ ...row, isSidechain: true, agentId: "a1", sessionId: one.id }));
    const file = join(dirname(path), one.id, "subagents", "agent-a1.jsonl");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    append(file, rows);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(one.id).extra.edits).toEqual(["/work/pot/own.ts", "/work/pot/theirs.ts"]);
  });

  test("are not those of rows that were copied from another session", async () => {
    const root = temporaryDirectory();
    const one = edit(new Conversation("one").prompt("p"), "e1", "/work/pot/a.ts");
    const copy = new Conversation("copy");
    for (const row of one.rows) {
      copy.raw({ ...row, sessionId: copy.id, forkedFrom: { sessionId: one.id, messageUuid: row.uuid } });
    }
    one.write(root);
    copy.write(root);
    const { seen } = await readSource(claudeSource, [root], NOBODY);
    expect(seen.byId(one.id).extra.edits).toEqual(["/work/pot/a.ts"]);
    expect(seen.byId(copy.id).extra.edits).toEqual([]);
  });
});

describe("a session that several processes have", () => {
  const register = (root: string, pid: number, one: Conversation): void => {
    const path = join(root, "sessions", `${pid}.json`);
    mkdirSync(dirname(path), { recursive: true });
    const entry = { pid, sessionId: one.id, procStart: String(pid), status: "idle", statusUpdatedAt: pid };
    writeFileSync(path, JSON.stringify(entry));
  };
  const resuming = (pid: number, one: Conversation, over: Partial<Process> = {}) =>
    claude(pid, { argv: ["claude", "--resume", one.id], ...over });

  const one = new Conversation("one").prompt("p").reply("a");
  test.each<[string, number[], Process[], string[]]>([
    ["two that registered it", [7, 9], [claude(7), claude(9, { tty: "/dev/pts/2" })], ["7", "9 on /dev/pts/2"]],
    ["one that registered it, one that resumes it", [7], [claude(7), resuming(9, one)], ["7", "9"]],
    ["one that forks from it", [7], [claude(7), claude(9, { argv: ["claude", "-r", one.id, "--fork-session"] })], []],
    ["one of them dead", [7, 9], [claude(7)], []],
    ["one whose pid is another's now", [7, 9], [claude(7), claude(9, { startTicks: "5" })], []],
    ["one that started the other", [], [resuming(7, one), resuming(9, one, { ppid: 7 })], []],
    ["one in its folder", [7], [claude(7), claude(9)], []],
  ])("%s", async (_, registered, processes, places) => {
    const root = temporaryDirectory();
    one.write(root);
    for (const pid of registered) register(root, pid, one);
    const { reader, seen } = await readSource(claudeSource, [root], evidenceOf(NOW, processTable(processes)));
    expect(seen.byId(one.id).extra.openTwice).toEqual(places.map((place) => `process ${place}`));
    seen.take(reader.tick(evidenceOf(NOW, processTable([claude(7)]))));
    expect(seen.byId(one.id).extra.openTwice).toEqual([]);
  });
});

describe("when Claude Code deletes a transcript", () => {
  const written = new Date("2026-11-10T09:00:00.000Z");
  const read = async (settings: unknown) => {
    const root = temporaryDirectory();
    const one = new Conversation("one").prompt("p").reply("a");
    const path = one.write(root);
    utimesSync(path, written, written);
    if (settings !== undefined) writeFileSync(join(root, "settings.json"), JSON.stringify(settings));
    return { root, one, path, ...(await readSource(claudeSource, [root], NOBODY)) };
  };

  test.each<[string, unknown, string | null]>([
    ["30 days after it was last written to", undefined, "2026-12-10T09:00:00.000Z"],
    ["as its settings say", { cleanupPeriodDays: 7 }, "2026-11-17T09:00:00.000Z"],
    ["at once", { cleanupPeriodDays: 0 }, "2026-11-10T09:00:00.000Z"],
    ["by settings that say nothing of it", { model: "opus" }, "2026-12-10T09:00:00.000Z"],
    ["by settings that are no number", { cleanupPeriodDays: "7" }, "2026-12-10T09:00:00.000Z"],
    ["by settings that are no settings", [7], "2026-12-10T09:00:00.000Z"],
    ["never", { cleanupPeriodDays: 1e12 }, null],
  ])("%s: %j", async (_, settings, at) => {
    const { seen, one } = await read(settings);
    expect(seen.byId(one.id).extra.expiresAt).toBe(at);
  });

  test("settings that change are followed, and nothing else of them is kept", async () => {
    const { root, one, path, reader, seen } = await read({ cleanupPeriodDays: 7, env: { TOKEN: "hush-hush" } });
    expect(JSON.stringify([...seen.snapshots.values()])).not.toContain("hush");
    writeFileSync(join(root, "settings.json"), JSON.stringify({ cleanupPeriodDays: 60 }));
    seen.take(await reader.apply([path], NOBODY));
    expect(seen.byId(one.id).extra.expiresAt).toBe("2027-01-09T09:00:00.000Z");
    rmSync(join(root, "settings.json"));
    seen.take(await reader.apply([], NOBODY));
    expect(seen.byId(one.id).extra.expiresAt).toBe("2026-12-10T09:00:00.000Z");
  });
});
