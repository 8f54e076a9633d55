import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { read } from "../../src/sources/statefile/index.ts";
import { finished, records, turn, writeSession } from "../support/state-writer.ts";
import { tmuxWith } from "../support/tmux.ts";
import { treeHash } from "../support/tree-hash.ts";
import { until } from "../support/until.ts";
import { program } from "./program.ts";

const newOf = (sessions: string, before: readonly string[]): string[] =>
  readdirSync(sessions).filter((name) => !name.startsWith(".") && !before.includes(name));

describe.each([
  { cols: 40, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 160, rows: 50 },
])("the program in tmux at $cols×$rows", ({ cols, rows }) => {
  test("lives: start, a live append, filter, open, fold, fork, revert, undo, resize, quit", async () => {
    const { argv, env, sessions } = program();
    const before = treeHash(sessions);
    const names = readdirSync(sessions);
    const tmux = await tmuxWith(argv, { cols, rows, env });
    await tmux.see("Reindex the archive");
    await tmux.see("Run the linter");
    await tmux.see("question 1");

    // A session that appears, and one that grows.
    writeSession(sessions, "dddddddd", finished("Just arrived", "Here I am."), 0);
    await tmux.see("Just arrived");

    await tmux.press("/");
    await tmux.type("linter");
    await tmux.seeNo("Reindex");
    await tmux.press("Enter", "Escape");
    await tmux.seeNo("/linter");
    await tmux.see("Reindex");

    await tmux.press("/");
    await tmux.type("question");
    await tmux.seeNo("Reindex");
    await tmux.press("Enter", "Enter");
    await tmux.see("following");
    await tmux.see("answer 20");
    appendFileSync(join(sessions, "aaaaaaaa.state"), records(turn(63, "question 21", "answer 21"), 63));
    await tmux.see("answer 21");

    await tmux.press("z");
    await tmux.see("showing everything");
    await tmux.press("Enter");

    // Fork before the last prompt, then go back to before it.
    await tmux.press("{", "f");
    await tmux.see("Fork this session?");
    await tmux.press("y");
    const [forked = ""] = await until(
      () => newOf(sessions, [...names, "dddddddd.state"]),
      (made) => made.length === 1,
    );
    expect(read(join(sessions, forked))).toHaveLength(62);
    await tmux.see("forked:");

    await tmux.press("Escape");
    await tmux.see("Enter open");
    await tmux.press("Escape");
    await tmux.seeNo("/question");
    await tmux.press("/");
    await tmux.type("id:aaaaaaaa");
    await tmux.see("/id:aaaaaaaa");
    await tmux.press("Enter", "Enter");
    await tmux.see("answer 21");
    await tmux.press("{", "v");
    await tmux.see("Go back to before this entry?");
    await tmux.press("y");
    await tmux.see("reverted");
    await until(() => newOf(sessions, [...names, "dddddddd.state", forked]).length === 1);
    await tmux.press("u");
    await tmux.see("Undo the revert?");
    await tmux.press("y");
    await tmux.see("is back");

    await tmux.resize(cols + 13, rows - 3);
    await until(async () => (await tmux.screen()).length === rows - 3);
    await tmux.see("answer 21");
    await tmux.resize(cols, rows);
    await tmux.see("answer 21");
    for (const line of await tmux.screen()) expect(line.length).toBeLessThanOrEqual(cols);

    await tmux.press("q");
    expect(await tmux.ended()).toEqual({ code: 0, signal: null });
    for (const name of ["bbbbbbbb.state", "cccccccc.state"]) {
      expect(treeHash(sessions)[`./${name}`]).toBe(before[`./${name}`]);
    }
  });
});

test("after any resize the screen is as if it had always been of that size", async () => {
  const { argv, env } = program();
  const tmux = await tmuxWith(argv, { cols: 120, rows: 20, env });
  await tmux.see("following");
  for (const [cols, rows] of [
    [59, 20],
    [99, 12],
    [40, 10],
    [119, 20],
    [120, 20],
  ] as const) {
    await tmux.resize(cols, rows);
    const fresh = await tmuxWith(argv, { cols, rows, env });
    if (cols >= 100) await fresh.see("following");
    else await fresh.see("Run the linter");
    await until(
      async () => [await tmux.screen(), await fresh.screen()],
      ([one, other]) => JSON.stringify(one) === JSON.stringify(other),
    );
  }
});

describe("resume inside tmux", () => {
  test("r opens a split beside the screen, R lets one choose a window", async () => {
    const { argv, env, calls } = program();
    const tmux = await tmuxWith(argv, { cols: 120, rows: 30, env });
    await tmux.see("Reindex the archive");
    await tmux.press("j", "r");
    await until(() => existsSync(calls) && readFileSync(calls, "utf8") === "chat bbbbbbbb\n");
    expect(Number(await tmux.command("display-message", "-p", "-t", "=e2e:0", "#{window_panes}"))).toBe(2);
    await tmux.see("resumed in a split");

    await tmux.press("R");
    await tmux.see("Resume where?");
    await tmux.press("2");
    await until(() => readFileSync(calls, "utf8") === "chat bbbbbbbb\nchat bbbbbbbb\n");
    expect((await tmux.command("list-windows", "-t", "=e2e", "-F", "#{window_panes}")).trim().split("\n")).toEqual([
      "2",
      "1",
    ]);
  });
});

test("ctrl+z stops the program and gives the shell its terminal; fg brings the screen back", async () => {
  const { argv, env } = program();
  const tmux = await tmuxWith(["bash", "--norc", "-i"], { cols: 80, rows: 24, env: { ...env, PS1: "shell> " } });
  await tmux.see("shell>");
  await tmux.type(argv.map((word) => `'${word}'`).join(" "));
  await tmux.press("Enter");
  await tmux.see("Reindex the archive");
  expect(await tmux.ask("#{alternate_on}")).toBe("1");
  await tmux.press("ctrl+z");
  await tmux.see("Stopped");
  expect(await tmux.ask("#{alternate_on}")).toBe("0");
  await tmux.type("echo still $((40 + 2))");
  await tmux.press("Enter");
  await tmux.see("still 42");
  await tmux.type("fg");
  await tmux.press("Enter");
  await until(async () => (await tmux.ask("#{alternate_on}")) === "1");
  await tmux.see("Reindex the archive");
  await tmux.press("G");
  await tmux.press("Enter");
  await tmux.see("No problems.");
  await tmux.press("q");
  await until(async () => (await tmux.screen()).findLast((line) => line !== "")?.trim() === "shell>");
  expect(await tmux.ask("#{alternate_on}")).toBe("0");
  await tmux.type("echo gone $?");
  await tmux.press("Enter");
  await tmux.see("gone 0");
});
