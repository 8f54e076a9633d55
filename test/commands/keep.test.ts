import { execFile } from "node:child_process";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fixture } from "../support/fixtures.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";

const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

/** The real program over a copy of the state files, with a home of its own. */
function program() {
  const home = temporaryDirectory();
  const sessions = join(home, "sessions");
  cpSync(fixture("statefile", "sessions"), sessions, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, FORKTAIL_STATE_DIR: join(home, "state"), NODE_NO_WARNINGS: "1" };
  const run = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
    new Promise((done) => {
      const argv = [CLI, "--root", `statefile=${sessions}`, ...args];
      execFile(process.execPath, argv, { env }, (error, out, err) =>
        done({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  return { home, sessions, run };
}

test("a session is kept, listed, deleted by its tool and restored; the tool's other files are as before", async () => {
  const { sessions, run } = program();
  const before = treeHash(sessions);
  const list = JSON.parse((await run("list", "--json")).out) as { sessions: { key: string; path: string }[] };
  const [session] = list.sessions;
  if (!session) throw new Error("the fixture has no session");
  expect(await run("restore", session.key)).toMatchObject({ code: 1, err: expect.stringContaining("nothing is kept") });
  expect(await run("keep", session.key)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`kept ${session.key}`),
  });
  expect(treeHash(sessions)).toEqual(before);
  expect((await run("kept")).out).toContain(session.key);
  rmSync(session.path);
  expect(await run("restore", session.key)).toMatchObject({ code: 0, out: expect.stringContaining(session.path) });
  const after = treeHash(sessions);
  const content = (row = ""): string | undefined => row.split(" ").at(-1);
  expect(Object.keys(after)).toEqual(Object.keys(before));
  for (const [name, row] of Object.entries(after))
    if (content(row)?.length === 64) expect(content(row)).toBe(content(before[name]));
  expect(await run("restore", session.key)).toMatchObject({ code: 1, err: expect.stringContaining("is there") });
});

test("a status bar gets an empty line before forktail ever ran", async () => {
  const { home, run } = program();
  expect(await run("status", "--format", "tmux")).toEqual({ code: 0, out: "\n", err: "" });
  expect(readdirSync(home)).toEqual(["sessions"]);
});

test("the effective config says where each value comes from, and what is wrong with the file", async () => {
  const { home, sessions, run } = program();
  const path = join(home, "config.json");
  writeFileSync(path, '{\n  "notices": { "terminal": "osc9" },\n  "roots": { "claude": ["mine"] }\n}');
  const { out } = await run("--config", path, "config");
  expect(out).toMatch(`notices.terminal   "osc9"  (${path}:2)`);
  expect(out).toContain(`roots.claude       ["${join(home, "mine")}"]  (${path}:3)`);
  expect(out).toContain(`roots.statefile    ["${sessions}"]  (--root)`);
  expect(out).toContain("notices.bell       true  (default)");
  expect((await run("--config", path, "config", "--path")).out).toBe(`${path}\n`);
  writeFileSync(path, '{ "notices": { "sound": 1 } }');
  expect(await run("--config", path, "config")).toMatchObject({
    code: 1,
    err: expect.stringContaining("notices.sound"),
  });
  expect((await run("config", "--schema", "--path")).code).toBe(2);
});
