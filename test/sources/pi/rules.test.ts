import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { newPiFile, type PiFile } from "../../../src/sources/pi/file.ts";
import { advancePi } from "../../../src/sources/pi/fold.ts";
import { piRoots } from "../../../src/sources/pi/locate.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import { tailOf } from "../../../src/sources/pi/tail.ts";
import { contextRows, contextUsed } from "../../../src/sources/pi/tree.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { call, header, lines, oneSession, reply, result, type Short, user, write } from "./pi-file.ts";

function fold(entries: readonly Record<string, unknown>[]): PiFile {
  const state = newPiFile();
  runNow(advancePi(state, bytesOf(Buffer.from(lines(entries))), 0));
  return state;
}

const asked = [user("u1", null, "Brew")];
const stopped = [...asked, reply("a1", "u1")];
const bash = { role: "bashExecution", command: "ls", output: "x" };

describe("how a session ends", () => {
  const cases: [string, Short[], string][] = [
    ["nothing said", [], "new"],
    ["a prompt without reply", asked, "open"],
    ["a finished reply", stopped, "over"],
    ["a reply that hit its length", [...asked, reply("a1", "u1", { stopReason: "length" })], "over"],
    ["a call without result", [...asked, call("a1", "u1", "c1")], "open"],
    ["a result no model has seen", [...asked, call("a1", "u1", "c1"), result("r1", "a1", "c1")], "open"],
    ["an error", [...asked, reply("a1", "u1", { stopReason: "error", errorMessage: "no credit" })], "error"],
    ["an abort", [...asked, reply("a1", "u1", { stopReason: "aborted" })], "interrupted"],
    ["a local command", [...asked, { type: "message", id: "b1", parentId: "u1", message: bash }], "over"],
    ["a label behind the reply", [...stopped, { type: "label", id: "l1", parentId: "a1", targetId: "u1" }], "over"],
    [
      "a way back to a finished reply",
      [...stopped, ...[user("u2", "a1", "More")], { type: "branch_summary", id: "s1", parentId: "a1", summary: "-" }],
      "over",
    ],
  ];
  test.each(cases)("%s: %#", (_, entries, state) => {
    expect(tailOf(fold([header("s1"), ...entries])).state).toBe(state);
  });
});

describe("the tree", () => {
  const entries = [
    header("s1"),
    user("u1", null, "Brew"),
    reply("a1", "u1"),
    user("u2", "a1", "More"),
    reply("a2", "u2"),
    { type: "compaction", id: "k1", parentId: "a2", summary: "tea", firstKeptEntryId: "u2" },
    user("u3", "k1", "Again"),
    reply("a3", "u3"),
  ];
  const ids = (file: PiFile, rows: readonly number[]): string[] => rows.map((row) => file.ids[row] ?? "?");

  test("after a compaction the model sees its summary, what it kept, and what came after", () => {
    const file = fold(entries);
    expect(ids(file, contextRows(file))).toEqual(["k1", "u2", "a2", "u3", "a3"]);
  });

  test("an entry that a context edit took out is not seen, one that was put back is", () => {
    const edit = (id: string, parentId: string, replacement: unknown) => ({
      ...{ type: "context_edit", id, parentId },
      ...{ targetId: "u2", replacement },
    });
    const out = fold([...entries, edit("e1", "a3", null)]);
    expect(ids(out, contextRows(out))).toEqual(["k1", "a2", "u3", "a3"]);
    const back = fold([...entries, edit("e1", "a3", null), edit("e2", "e1", { content: "less" })]);
    expect(ids(back, contextRows(back))).toContain("u2");
  });

  test("context use is unknown between a compaction and the next reply", () => {
    expect(contextUsed(fold(entries.slice(0, 6)))).toBeNull();
    expect(contextUsed(fold(entries))?.used).toBe(110);
  });

  test("a child written before its parent still hangs on it, and a circle ends", () => {
    const early = fold([header("s1"), reply("a1", "u1"), user("u1", null, "Brew"), user("u2", "a1", "More")]);
    expect(ids(early, contextRows(early))).toEqual(["u1", "a1", "u2"]);
    expect(contextRows(fold([header("s1"), user("u1", "a1", "Brew"), reply("a1", "u1")]))).toHaveLength(2);
  });

  test("a file in pieces is read as the file at once", () => {
    const text = Buffer.from(lines(entries));
    const state = newPiFile();
    let offset = 0;
    for (let end = 1; end <= text.length; end += 97) {
      offset = runNow(advancePi(state, bytesOf(text.subarray(0, end)), offset));
    }
    runNow(advancePi(state, bytesOf(text), offset));
    expect(state).toEqual(fold(entries));
  });
});

describe("where sessions lie", () => {
  test.each([
    [{ HOME: "/h" }, ["/h/.pi/agent/sessions"]],
    [{ HOME: "/h", PI_CODING_AGENT_DIR: "~/p" }, ["/h/p/sessions"]],
    [{ HOME: "/h", PI_CODING_AGENT_SESSION_DIR: "/flat" }, ["/flat"]],
  ])("%j", (env, roots) => {
    expect(piRoots(env)).toEqual(roots);
  });

  test("a flat directory is read like one with folders, children below a session's folder are hidden", async () => {
    const { root } = oneSession([header("s1"), ...stopped]);
    write(join(root, "2026-11-20T09-00-00-000Z_flat.jsonl"), [header("flat"), ...stopped]);
    write(join(root, "2026-11-20T09-00-00-000Z_flat", "r", "run-0", "session.jsonl"), [header("kid"), ...stopped]);
    const { seen, reader } = await readSource(piSource, [root], evidenceOf("2026-11-20T12:00:00.000Z"));
    expect(
      [...seen.snapshots.values()]
        .filter((one) => !one.hidden)
        .map((one) => one.id)
        .sort(),
    ).toEqual(["flat", "s1"]);
    expect(seen.byId("kid").parent).toEqual({ key: "pi:flat", relation: "subagent" });
    expect(reader.views("pi:flat")).toContain("team");
    const transcript = await reader.transcript("pi:flat");
    const page = await transcript.page({ view: "branch", of: "agent:kid", at: { edge: "start" }, limit: 9 });
    expect(page.entries.map((entry) => entry.text)).toEqual(["Brew", "reply a1"]);
    const by = (await reader.requests("pi:flat")).map((request) => request.by);
    expect(by).toEqual([null, "Brew"]);
  });

  test("an unfinished last line is no damage to the rest and is read when it is whole", async () => {
    const { root } = oneSession([header("s1"), ...stopped], '{"type":"message","id":"x');
    const { seen } = await readSource(piSource, [root], evidenceOf("2026-11-20T12:00:00.000Z"));
    expect(seen.byId("s1")).toMatchObject({ messages: 2, damage: [{ kind: "torn-tail", bytes: 25 }] });
  });

  test("the same session in two roots is listed once, from the file that was written to last", async () => {
    const old = oneSession([header("s1"), ...asked]);
    const young = oneSession([header("s1"), ...stopped]);
    const { seen } = await readSource(piSource, [old.root, young.root], evidenceOf("2026-11-20T12:00:00.000Z"));
    expect([...seen.snapshots.keys()]).toEqual(["pi@2:s1"]);
    expect(seen.problems.map((one) => one.kind)).toEqual(["duplicate"]);
  });
});

describe("which process runs which session", () => {
  const process = (pid: number, argv: string[], startedAt: string | null, cwd = "/home/dana/code/pot"): Process => ({
    ...{ pid, argv, cwd, comm: "pi", ppid: null, startTicks: "1", tty: null, locksHeld: [] },
    startedAt: startedAt === null ? null : Date.parse(startedAt),
  });
  const statusOf = async (one: Process): Promise<string | null> => {
    const { root } = oneSession([header("s1"), ...asked]);
    const { seen } = await readSource(piSource, [root], evidenceOf("2026-11-20T12:00:00.000Z", processTable([one])));
    return seen.byId("s1").native;
  };

  test.each([
    ["its id", process(1, ["pi", "--session", "s1"], null, "/elsewhere"), "working"],
    ["its id, cut short", process(1, ["pi", "--session=s"], null, "/elsewhere"), "working"],
    [
      "its path",
      process(1, ["pi", "--session", "/x/2026-11-20T09-00-00-000Z_s1.jsonl"], null, "/elsewhere"),
      "working",
    ],
    ["another session", process(1, ["pi", "--session", "other"], null), "interrupted"],
    ["no session at all", process(1, ["pi", "--no-session"], null), "interrupted"],
    ["its folder, started before it was written to", process(1, ["pi"], "2026-11-20T08:00:00.000Z"), "working"],
    ["its folder, started after it was last written to", process(1, ["pi"], "2026-11-20T10:00:00.000Z"), "interrupted"],
    [
      "node with options and pi's script",
      { ...process(1, ["/usr/bin/node", "--no-warnings", "/usr/bin/pi"], null), comm: "node" },
      "working",
    ],
    ["an editor of a file named pi", { ...process(1, ["vim", "pi"], null), comm: "vim" }, "interrupted"],
    ["a packer of it", { ...process(1, ["bunzip2", "/usr/bin/pi"], null), comm: "bunzip2" }, "interrupted"],
    ["a pager of pi's script", { ...process(1, ["less", "/usr/bin/pi"], null), comm: "less" }, "interrupted"],
    [
      "node with pi's script",
      { ...process(1, ["node", "/opt/pi-coding-agent/dist/cli.js"], null), comm: "node" },
      "working",
    ],
    ["another program", { ...process(1, ["vim"], null), comm: "vim" }, "interrupted"],
  ])("%s", async (_, one, status) => {
    expect(await statusOf(one)).toBe(status);
  });

  test.each([
    [
      "with a name of its own",
      "work.jsonl",
      (path: string) => process(1, ["pi", "--session", path], null, "/elsewhere"),
    ],
    [
      "whose name has another id than its header",
      "2026-11-20T09-00-00-000Z_other.jsonl",
      (path: string) => process(1, ["pi", `--session=${path}`], null, "/elsewhere"),
    ],
    [
      "of a sub-agent",
      "2026-11-20T09-00-00-000Z_gone/r/run-0/session.jsonl",
      (path: string) => process(1, ["pi", "--session", path], null, "/elsewhere"),
    ],
    [
      "below its directory",
      "work.jsonl",
      (path: string) => process(1, ["pi", "--session", "./work.jsonl"], null, dirname(path)),
    ],
  ])("a path %s", async (_, name, runs) => {
    const { root } = oneSession([header("s0"), ...stopped]);
    const path = write(join(root, "--home-dana-code-pot--", name), [header("s1"), ...asked]);
    const evidence = evidenceOf("2026-11-20T12:00:00.000Z", processTable([runs(path)]));
    const { seen } = await readSource(piSource, [root], evidence);
    expect(seen.byId("s1")).toMatchObject({
      native: "working",
      why: ["process 1 has it on its command line", expect.anything()],
    });
    expect(seen.byId("s0").native).toBe("idle");
  });
});

describe("what a session is called and costs", () => {
  const of = async (entries: Short[]) => {
    const { root } = oneSession([header("s1"), ...entries]);
    const { seen } = await readSource(piSource, [root], evidenceOf("2026-11-20T12:00:00.000Z"));
    return seen.byId("s1");
  };
  const picture = { ...user("u1", null, ""), message: { role: "user", content: [{ type: "image", data: "AA==" }] } };

  test("its title is the first prompt that has text", async () => {
    const found = await of([picture, reply("a1", "u1"), user("u2", "a1", "Is it tea?"), reply("a2", "u2")]);
    expect(found).toMatchObject({
      title: "Is it tea?",
      extra: { firstPrompt: "Is it tea?", titleFrom: "first prompt" },
    });
  });

  test("what was paid for without tokens is paid for, and says nothing of the context", async () => {
    const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const found = await of([
      ...stopped,
      { type: "usage", id: "w1", parentId: "a1", provider: "p", model: "m", usage: { ...none, cost: { total: 0.25 } } },
      { type: "usage", id: "w2", parentId: "w1", provider: "p", model: "m", usage: { ...none, cost: { total: 0 } } },
      reply("a2", "w2", { usage: { ...none, cost: { total: 0.5 } } }),
    ]);
    expect(found.usage).toMatchObject({
      requests: 3,
      input: 100,
      cost: expect.closeTo(0.76, 9),
      costBasis: "recorded",
    });
    expect(found.context?.used).toBe(110);
  });
});
