import { describe, expect, test } from "vitest";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { answer, ask, ID, meta, oneChat, ran } from "../gemini/chat.ts";
import { addSession, newDatabase, type Turn } from "../opencode/database.ts";
import { header, oneSession, reply, user } from "../pi/pi-file.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);

describe("the files a session edited", () => {
  test("in pi are those of its edits and writes, relative ones below its directory", async () => {
    const calls = (id: string, parentId: string, ...made: [string, unknown][]) => {
      const content = made.map(([name, args], i) => ({ type: "toolCall", id: `${id}${i}`, name, arguments: args }));
      return reply(id, parentId, { content, stopReason: "toolUse" });
    };
    const { root } = oneSession([
      header("s1"),
      { ...user("u1", null, "Brew"), timestamp: "2026-11-20T08:00:00.000Z" },
      { ...calls("a1", "u1", ["write", { path: "early.ts" }]), timestamp: "2026-11-20T08:00:01.000Z" },
      calls("a2", "a1", ["read", { path: "read.ts" }], ["edit", { path: "lib/a.ts" }], ["bash", { command: "ls" }]),
      calls("a3", "a2", ["write", { path: "/opt/b.ts" }], ["edit", { path: "lib/a.ts" }]),
    ]);
    const { seen } = await readSource(piSource, [root], evidence);
    expect(seen.byId("s1").extra.edits).toEqual(["/opt/b.ts", "/home/dana/code/pot/lib/a.ts"]);
  });

  test("in Gemini CLI are those of calls that succeeded", async () => {
    const call = (name: string, file: string, status = "success") => ({
      ...ran(file, status),
      ...{ name, args: { file_path: file } },
    });
    const calls = [call("replace", "a.ts"), call("write_file", "/opt/b.ts"), call("replace", "c.ts", "cancelled")];
    const more = [call("read_file", "d.ts")];
    const { root } = oneChat([
      meta(),
      ask(1, "Brew"),
      answer(2, "", { toolCalls: calls }),
      answer(3, "", { toolCalls: more }),
    ]);
    const { seen } = await readSource(geminiSource, [root], evidence);
    expect(seen.byId(ID).extra.edits).toEqual(["/home/dana/code/pot/a.ts", "/opt/b.ts"]);
  });

  test("in OpenCode are those of calls that were completed", async () => {
    const turn = (name: string, filePath: string, status = "completed"): Turn => ({
      ...{ prompt: "Do", reply: "" },
      tool: { name, status, input: { filePath } },
    });
    const patch: Turn = {
      ...{ prompt: "Do", reply: "" },
      tool: { name: "apply_patch", status: "completed", input: { patchText: "*** Add File: new.ts\n+a" } },
    };
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [
      turn("edit", "/work/pot/a.ts"),
      turn("read", "/work/pot/b.ts"),
      turn("write", "/work/pot/c.ts", "error"),
      patch,
    ]);
    database.close();
    const { seen } = await readSource(opencodeSource, [root], evidence);
    expect(seen.byId("ses_a").extra.edits).toEqual(["/work/pot/a.ts", "/work/pot/new.ts"]);
  });
});

describe("a session that two processes have on their command lines", () => {
  const pi = (pid: number, ppid: number | null, more: Partial<Process> = {}): Process => ({
    ...{ pid, ppid, comm: "pi", argv: ["pi", "--session", "s1"], cwd: "/", startTicks: "1", tty: null, locksHeld: [] },
    ...more,
  });
  const said = async (...all: Process[]): Promise<unknown> => {
    const { root } = oneSession([header("s1"), user("u1", null, "Brew"), reply("a1", "u1")]);
    const { seen } = await readSource(piSource, [root], evidenceOf(NOW, processTable(all)));
    return seen.byId("s1").extra.openTwice;
  };

  test.each<[string, Process[], string[]]>([
    ["is open twice", [pi(9, 1), pi(7, 1, { tty: "/dev/pts/3" })], ["process 7 on /dev/pts/3", "process 9"]],
    ["is open once where one of them is the other's launcher", [pi(7, 1), pi(8, 7, { argv: ["sh"] }), pi(9, 8)], []],
    ["is open once where the other is in its folder only", [pi(7, 1), pi(9, 1, { argv: ["pi"] })], []],
    ["is open once by one process", [pi(7, 1)], []],
    ["is open nowhere by none", [], []],
  ])("%s", async (_, all, places) => {
    expect(await said(...all)).toEqual(places);
  });

  test("is told when the second one comes and goes", async () => {
    const { root } = oneSession([header("s1"), user("u1", null, "Brew"), reply("a1", "u1")]);
    const { reader, seen } = await readSource(piSource, [root], evidenceOf(NOW, processTable([pi(7, 1)])));
    seen.take(reader.tick(evidenceOf(NOW, processTable([pi(7, 1), pi(9, 1)]))));
    expect(seen.byId("s1").extra.openTwice).toEqual(["process 7", "process 9"]);
    seen.take(reader.tick(evidenceOf(NOW, processTable([pi(7, 1)]))));
    expect(seen.byId("s1").extra.openTwice).toEqual([]);
  });
});
