import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileWork } from "../../../src/files/open.ts";
import { processTable } from "../../../src/probe/processes.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { readForward } from "../../support/walk-pages.ts";
import { append, Rollout } from "./rows.ts";

const NOBODY = evidenceOf("2026-11-20T12:00:00.000Z");
const DAY = "2026-11-10T09:00:00.000Z";

describe("the reader", () => {
  test("an append changes one thread and costs what was appended", async () => {
    const root = temporaryDirectory();
    const one = new Rollout(DAY).prompt("p").call("c").result("c", "x".repeat(300_000)).reply("a").done();
    const path = one.write(root);
    new Rollout(DAY, { n: 2 }).prompt("other").done().write(root);
    const { reader } = await readSource(codexSource, [root], NOBODY);
    const before = fileWork.bytesRead;
    append(path, one.prompt("next").rows.slice(-4));
    const delta = await reader.apply([path], NOBODY);
    expect(fileWork.bytesRead - before).toBeLessThan(10_000);
    expect(delta.changed.map((snapshot) => [snapshot.id, snapshot.native])).toEqual([[one.id, "interrupted"]]);
    expect(reader.tick(NOBODY).changed).toEqual([]);
  });

  test("a name that is given later becomes the title, and the last one stays", async () => {
    const root = temporaryDirectory();
    const one = new Rollout(DAY).prompt("p").done();
    one.write(root);
    const { reader, seen } = await readSource(codexSource, [root], NOBODY);
    const index = join(root, "session_index.jsonl");
    for (const name of ["first", "second\u001b[31m"]) {
      appendFileSync(index, `${JSON.stringify({ id: one.id, thread_name: name })}\n`);
      seen.take(await reader.apply([index], NOBODY));
    }
    expect(seen.byId(one.id)).toMatchObject({ title: "second·[31m", name: "second·[31m" });
  });

  test("a thread in two roots is one: the longer file", async () => {
    const [a, b] = [temporaryDirectory(), temporaryDirectory()];
    const one = new Rollout(DAY).prompt("p").reply("a").record("r", 5, 1).done();
    one.write(a);
    one.prompt("q").write(b);
    for (const roots of [
      [a, b],
      [b, a],
    ]) {
      const { seen } = await readSource(codexSource, roots, NOBODY);
      expect([...seen.snapshots.values()].map((snapshot) => snapshot.root)).toEqual([b]);
      expect(seen.byId(one.id).own).toMatchObject({ requests: 1 });
      expect(seen.problems.map((problem) => problem.kind)).toEqual(["duplicate"]);
    }
  });

  test("50 forks of forks keep one owner a request, whatever is found first", async () => {
    const root = temporaryDirectory();
    let end = 0;
    let last: Rollout | null = null;
    for (let i = 0; i < 50; i += 1) {
      const at = new Date(Date.parse(DAY) + i * 60_000).toISOString();
      const base =
        last === null
          ? {}
          : { forked_from_id: last.id, history_base: { thread_id: last.id, end_ordinal_exclusive: end } };
      const one: Rollout = new Rollout(at, { n: i, ordinal: end, meta: base })
        .prompt(`p${i}`)
        .reply(`a${i}`)
        .record(`r${i}`, 1, 1)
        .done();
      one.write(root);
      end += one.rows.length;
      last = one;
    }
    const { seen } = await readSource(codexSource, [root], NOBODY);
    const deepest = seen.byId(last?.id ?? "");
    expect(deepest).toMatchObject({
      title: "p0",
      usage: { requests: 50 },
      own: { requests: 1 },
      extra: { counts: { human: 50 } },
    });
    const own = [...seen.snapshots.values()].map((snapshot) => snapshot.own?.requests ?? 0);
    expect(own.reduce((sum, one) => sum + one, 0)).toBe(50);
  });

  test("the pane of the process that holds the lock is found", async () => {
    const root = temporaryDirectory();
    const one = new Rollout(DAY).prompt("p");
    one.write(root);
    const shell = { ppid: 1, startTicks: "1", tty: null, comm: "bash", argv: ["bash"], cwd: "/", locksHeld: [] };
    const codex = { ...shell, pid: 9, ppid: 4, comm: "codex", locksHeld: [`thread-writer-locks/${one.id}.lock`] };
    const pane = {
      id: "%3",
      session: "s",
      window: 0,
      index: 0,
      pid: 4,
      tty: null,
      dead: false,
      inMode: false,
      cwd: null,
      command: null,
      role: "",
      visible: true,
    };
    const evidence = {
      ...evidenceOf("2026-11-20T12:00:00.000Z", processTable([{ ...shell, pid: 4 }, codex])),
      tmux: { panes: [pane], sessions: new Set(["s"]), server: true },
    };
    const { seen } = await readSource(codexSource, [root], evidence);
    expect(seen.byId(one.id)).toMatchObject({ native: "working", livePane: "%3", can: ["attach"] });
  });

  test("the end of a big file is there at once, and paging back goes on to its start", async () => {
    const root = temporaryDirectory();
    const one = new Rollout(DAY).prompt("the beginning").reply("first").done();
    const head = one.text();
    const rows = one.rows.length;
    const path = one.write(root);
    writeFileSync(path, head);
    const filler = `${JSON.stringify({ type: "world_state", payload: { data: "y".repeat(1_000_000) } })}\n`;
    for (let i = 0; i < 70; i += 1) appendFileSync(path, filler);
    append(path, one.prompt("near the end").reply("last").done().rows.slice(rows));
    const reader = codexSource.open([{ source: "codex", index: 1, path: root, explicit: true }], {
      files: { advance: () => new Promise(() => undefined), forget: () => undefined },
      env: {},
      seen: () => null,
      copiedFrom: () => null,
      directories: () => [],
    });
    const before = fileWork.bytesRead;
    const first = await reader.scan(NOBODY)[Symbol.asyncIterator]().next();
    const snapshot = first.done ? undefined : first.value.changed[0];
    expect(snapshot).toMatchObject({ title: "the beginning", native: "idle", usage: null });
    const transcript = await reader.transcript(snapshot?.key ?? "");
    const page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 2 });
    expect(page.entries.map((entry) => entry.text)).toEqual(["near the end", "last"]);
    expect(fileWork.bytesRead - before).toBeLessThan(16 * 1024 * 1024);
    const all = await readForward(transcript, { view: "timeline" }, 50);
    expect(all.filter((entry) => entry.kind === "text").map((entry) => entry.text)).toEqual(["first", "last"]);
  });
});
