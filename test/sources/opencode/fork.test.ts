import { chmodSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { processTable } from "../../../src/probe/processes.ts";
import { FreshIds } from "../../../src/sources/opencode/fresh-ids.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { makeDirectory, temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { addSession, newDatabase } from "./database.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const evidence = evidenceOf(NOW);
const KEY = "opencode:ses_a";
const HERE = dirname(fileURLToPath(import.meta.url));

/** A PATH on which `opencode` is the stand-in. */
function fakeProgram(): string {
  const bin = makeDirectory(temporaryDirectory(), "bin");
  cpSync(join(HERE, "fake-opencode.mjs"), join(bin, "fake.mjs"));
  writeFileSync(
    join(bin, "opencode"),
    `#!/bin/sh\nexec ${process.execPath} --no-warnings ${join(bin, "fake.mjs")} "$@"\n`,
  );
  chmodSync(join(bin, "opencode"), 0o755);
  return bin;
}

async function twoTurns(more: { fault?: string; path?: string } = {}) {
  const made = await newDatabase();
  const directory = makeDirectory(dirname(made.root), "pot");
  addSession(
    made.database,
    "ses_a",
    [
      { prompt: "Do", reply: "Did" },
      { prompt: "More", reply: "Most" },
    ],
    { directory, title: "Tea" },
  );
  made.database.close();
  const env = { PATH: more.path ?? fakeProgram(), FORKTAIL_NOW: NOW, FAKE_OPENCODE: more.fault ?? "" };
  return { ...made, directory, env, ...(await readSource(opencodeSource, [made.root], evidence, { env })) };
}

describe("a fork goes through OpenCode itself", () => {
  test("at a prompt: export, cut, import under fresh ids in the session's directory", async () => {
    const { root, path, reader, directory } = await twoTurns();
    const before = treeHash(root);
    const plan = await reader.fork?.plan(KEY, "msg_ses_a_1a");
    expect(plan).toMatchObject({ allowed: true, status: "idle", ask: null });
    expect(JSON.stringify(plan)).toContain("keeps 2 of 4 messages");
    expect(treeHash(root)).toEqual(before);
    const made = await reader.fork?.make(KEY, "msg_ses_a_1a");
    if (made === undefined) throw new Error("no fork");
    expect(made.id).toMatch(/^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/u);
    expect(made.resume).toEqual({ argv: ["opencode", "-s", made.id], cwd: directory });
    const { changed } = await reader.apply([path], evidence);
    const copy = changed.find((one) => one.id === made.id);
    expect(copy).toMatchObject({
      title: "Tea (fork #1)",
      messages: 2,
      parent: { key: KEY, relation: "fork" },
      usage: { requests: 1 },
      own: { requests: 0 },
    });
    const transcript = await reader.transcript(made.key);
    const page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 9 });
    expect(page.entries.map((one) => one.text)).toEqual(["Do", "Did"]);
    expect(page.entries.map((one) => one.ref.slice(0, 4))).toEqual(["msg_", "msg_"]);
    expect(readFileSync(join(dirname(root), "calls.txt"), "utf8")).toBe(`export ${directory}\nimport ${directory}\n`);
    expect(changed.some((one) => one.id === "ses_a" && one.messages !== 4)).toBe(false);
  });

  test.each([
    ["is imported only in part", "half", "2 messages are there"],
    ["cannot be imported", "fail", "no space left"],
  ])("a copy that %s is taken back", async (_, fault, reason) => {
    const { path, reader } = await twoTurns({ fault });
    await expect(reader.fork?.make(KEY, "msg_ses_a_1a")).rejects.toThrow(reason);
    const { changed, removed } = await reader.apply([path], evidence);
    expect([changed, removed]).toEqual([[], []]);
  });

  test("is refused with the reason where the program or the directory is missing, or it runs", async () => {
    const none = await twoTurns({ path: temporaryDirectory() });
    const why = async (reader: typeof none.reader, before: string | null) => {
      const plan = await reader.fork?.plan(KEY, before);
      return plan?.allowed === false ? plan.reason : "allowed";
    };
    expect(await why(none.reader, null)).toContain("not on PATH");
    await expect(none.reader.fork?.make(KEY, null)).rejects.toThrow("not on PATH");
    const some = await twoTurns();
    expect(await why(some.reader, "msg_ses_a_1b")).toContain("without its answer");
    expect(await why(some.reader, "msg_ses_a_0a")).toContain("nothing was said");
    expect(await why(some.reader, "nope")).toContain("no entry nope");
    const one = { pid: 5, ppid: null, startTicks: "1", tty: null, comm: "opencode", locksHeld: [], cwd: null };
    some.reader.tick(evidenceOf(NOW, processTable([{ ...one, argv: ["opencode", "-s", "ses_a"] }])));
    expect(await why(some.reader, null)).toContain("opencode -s ses_a --fork");
    expect(await some.reader.resume(KEY)).toMatchObject({ ok: false, reason: expect.stringContaining("process 5") });
    some.reader.tick(evidence);
    expect(await some.reader.resume(KEY)).toMatchObject({ ok: true, command: { argv: ["opencode", "-s", "ses_a"] } });
  });

  test("a session of the JSON files can neither be forked nor resumed by an OpenCode with a database", async () => {
    const root = join(copyOfFixture("opencode"), "home", ".local/share/opencode");
    const env = { PATH: fakeProgram() };
    const { reader } = await readSource(opencodeSource, [root], evidence, { env });
    const key = "opencode:ses_1ZmcHenF5ZtAAgREFv3JpzL41A";
    expect(await reader.fork?.plan(key, null)).toMatchObject({
      allowed: false,
      reason: expect.stringContaining("before 1.2"),
    });
    expect(await reader.resume(key)).toMatchObject({ ok: false, reason: expect.stringContaining("before 1.2") });
  });
});

test("fresh ids sort as OpenCode's do: messages upwards, sessions downwards", () => {
  const early = new FreshIds(1_795_000_000_000);
  const late = new FreshIds(1_795_000_000_001);
  const messages = [early.message(), early.message(), late.message()];
  expect([...messages].sort()).toEqual(messages);
  expect(late.session() < early.session()).toBe(true);
});
