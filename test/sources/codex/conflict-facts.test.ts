import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { Rollout } from "./rows.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const STARTED = "2026-11-18T09:00:00.000Z";
const NOBODY = evidenceOf(NOW);
const patch = (...files: string[]): string =>
  ["*** Begin Patch", ...files.map((file) => `*** Update File: ${file}`), "*** End Patch"].join("\n");

async function edited(...all: Rollout[]): Promise<unknown[]> {
  const root = temporaryDirectory();
  for (const one of all) one.write(root);
  const { seen } = await readSource(codexSource, [root], NOBODY);
  return all.map((one) => seen.byId(one.id).extra.edits);
}

describe("the files a thread edited", () => {
  test.each<[string, (one: Rollout) => Rollout, string[]]>([
    [
      "by a patch of its own kind of call",
      (one) =>
        one.line("response_item", {
          type: "custom_tool_call",
          name: "apply_patch",
          call_id: "c",
          input: patch("a.ts", "/opt/b.ts"),
        }),
      ["/work/pot/a.ts", "/opt/b.ts"],
    ],
    [
      "by a patch in a shell, from another directory",
      (one) => one.call("c", { command: ["apply_patch", patch("a.ts")], workdir: "/work/lid" }, "shell"),
      ["/work/lid/a.ts"],
    ],
    [
      "by a file change of a paginated thread",
      (one) =>
        one.event("item_completed", {
          item: { type: "FileChange", id: "f", changes: { "/work/pot/a.ts": { type: "update" } } },
        }),
      ["/work/pot/a.ts"],
    ],
    [
      "by a file change with a list",
      (one) =>
        one.event("item_completed", {
          item: { type: "FileChange", id: "f", changes: [{ path: "a.ts" }, { path: 4 }, null] },
        }),
      ["/work/pot/a.ts"],
    ],
    [
      "by a patch event",
      (one) => one.event("patch_apply_begin", { changes: { "a.ts": { add: {} } } }),
      ["/work/pot/a.ts"],
    ],
    ["by nothing", (one) => one.call("c", { cmd: "cat a.ts" }), []],
  ])("%s", async (_, change, files) => {
    const one = change(new Rollout(STARTED).prompt("Brew"));
    expect(await edited(one.reply("Done").done())).toEqual([files]);
  });

  test("are not those of rows that were copied from another thread", async () => {
    const parent = new Rollout(STARTED, { paginated: false }).prompt("Brew");
    parent
      .call("c1", { command: ["apply_patch", patch("a.ts")] }, "shell")
      .result("c1")
      .reply("Done")
      .done();
    const fork = new Rollout("2026-11-18T09:10:00.000Z", { paginated: false, meta: { forked_from_id: parent.id } });
    for (const row of parent.rows) fork.line(String(row.type), row.payload as Record<string, unknown>);
    fork
      .prompt("More")
      .call("c2", { command: ["apply_patch", patch("b.ts")] }, "shell")
      .result("c2")
      .reply("Yes")
      .done();
    expect(await edited(parent, fork)).toEqual([["/work/pot/a.ts"], ["/work/pot/b.ts"]]);
  });
});

describe("a thread that several processes have", () => {
  const one = new Rollout(STARTED).prompt("Brew").reply("Done").done();
  const other = new Rollout(STARTED, { n: 1 });
  const codex = (pid: number, over: Partial<Process> = {}): Process => ({
    ...{ pid, ppid: 1, startTicks: "1", tty: null, comm: "codex", argv: ["codex"], cwd: "/work/pot", locksHeld: [] },
    ...over,
  });
  const resuming = (pid: number, over: Partial<Process> = {}): Process =>
    codex(pid, { argv: ["codex", "resume", one.id], ...over });
  const lock = (of: Rollout): string => `thread-writer-locks/${of.id}.lock`;

  test.each<[string, Process[], string[]]>([
    ["one with its lock, one that resumes it", [codex(7, { locksHeld: [lock(one)] }), resuming(9)], ["7", "9"]],
    ["one with its lock, started by the other", [resuming(7), resuming(9, { ppid: 7, locksHeld: [lock(one)] })], []],
    [
      "one that went on to another thread",
      [codex(7, { locksHeld: [lock(one)] }), resuming(9, { locksHeld: [lock(other)] })],
      [],
    ],
    ["one with its lock, one in its folder", [codex(7, { locksHeld: [lock(one)] }), codex(9)], []],
    ["one alone", [resuming(7, { locksHeld: [lock(one)] })], []],
    ["nobody", [], []],
  ])("%s", async (_, processes, places) => {
    const root = temporaryDirectory();
    one.write(root);
    const { reader, seen } = await readSource(codexSource, [root], evidenceOf(NOW, processTable(processes)));
    expect(seen.byId(one.id).extra.openTwice).toEqual(places.map((place) => `process ${place}`));
    seen.take(reader.tick(NOBODY));
    expect(seen.byId(one.id).extra.openTwice).toEqual([]);
  });

  test("by the kernel's list of locks a process that holds another thread's went on to that", async () => {
    const root = temporaryDirectory();
    one.write(root);
    mkdirSync(join(root, "thread-writer-locks"));
    const held = [one, other].map((of, i) => {
      const path = join(root, lock(of));
      writeFileSync(path, "");
      return { kind: "FLOCK" as const, pid: [7, 9][i] ?? 0, device: "0:1", inode: statSync(path).ino };
    });
    const evidence = evidenceOf(NOW, processTable([codex(7), resuming(9)]));
    const placesWith = async (locks: typeof held) =>
      (await readSource(codexSource, [root], { ...evidence, locks })).seen.byId(one.id).extra.openTwice;
    expect(await placesWith(held)).toEqual([]);
    expect(await placesWith(held.slice(0, 1))).toEqual(["process 7", "process 9"]);
  });
});
