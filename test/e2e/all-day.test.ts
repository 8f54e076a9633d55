import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { BEGINNING, records, turnWithCall, writeSession } from "../support/state-writer.ts";
import type { Tmux } from "../support/tmux.ts";
import { tmuxWith } from "../support/tmux.ts";
import { until } from "../support/until.ts";
import { program } from "./program.ts";

const FAILING = records([{ kind: "error", type: "text/plain", source: "provider", body: "the disk is full" }], 6);

/** Bytes as a terminal sends them by itself: focus and mouse reports. */
async function report(tmux: Tmux, bytes: string): Promise<void> {
  const hex = [...Buffer.from(bytes)].map((byte) => byte.toString(16).padStart(2, "0"));
  await tmux.command("send-keys", "-t", tmux.pane, "-H", ...hex);
}

const paneTitle = (tmux: Tmux): Promise<string> => tmux.ask("#{pane_title}");

/** A config file for a program's home. */
function configure(made: { env: Record<string, string> }, config: object): void {
  const path = join(made.env.HOME ?? "", ".config/forktail/config.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(config));
}

describe.each([
  { cols: 40, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 160, rows: 50 },
])("a day in tmux at $cols×$rows", ({ cols, rows }) => {
  test("one asks: bell, title, status bar, inbox; one is away and back: digest; one finds, reads and exports", async () => {
    const made = program();
    const { argv, env, sessions } = made;
    writeSession(sessions, "eeeeeeee", [
      ...BEGINNING,
      ...turnWithCall(3, "Look for the zeppelin", "grep -r", "one\nfound a Zeppelin here\ntwo\n"),
    ]);
    const tmux = await tmuxWith(argv, { cols, rows, env });
    await tmux.command("set-option", "-g", "monitor-bell", "on");
    await tmux.command("new-window", "-t", "=e2e", "sleep 600");
    await tmux.see("Reindex the archive");
    await until(
      () => paneTitle(tmux),
      (title) => title === "forktail",
    );

    // What is found while it still reads for the first time is no news.
    await until(() => existsSync(join(env.FORKTAIL_STATE_DIR ?? "", "counts.json")));

    // The person works in another window; a session fails.
    await report(tmux, "\x1b[O");
    appendFileSync(join(sessions, "bbbbbbbb.state"), FAILING);
    await until(() => tmux.ask("#{window_bell_flag}").then((flag) => flag === "1"));
    expect(await paneTitle(tmux)).toBe("✗1 forktail");
    await report(tmux, "\x1b[I");
    await tmux.press("D");
    await tmux.see("── while you were away");
    await tmux.see(/idle → failed/u);
    await tmux.press("Escape");
    await tmux.seeNo("── while you were away");

    await tmux.press("i");
    await tmux.see("── inbox");
    await tmux.see("the disk is full");
    await tmux.press("x");
    await tmux.see("snoozed for an hour");
    await until(
      () => paneTitle(tmux),
      (title) => title === "forktail",
    );
    await tmux.press("Escape");
    await tmux.seeNo("── inbox");

    await tmux.press("/", "/");
    await tmux.see("search the text of all sessions");
    await tmux.type("zeppelin here");
    await tmux.press("Enter");
    await tmux.see("found a Zeppelin here");
    await tmux.press("Enter");
    await tmux.see("Look for the zeppelin");
    await tmux.seeNo("search · zeppelin");

    const out = join(env.HOME ?? "", "out.md");
    await tmux.press("X");
    await tmux.see("export as");
    await tmux.press("1");
    await tmux.see("write it to");
    await tmux.press("ctrl+u");
    await tmux.type(out);
    await tmux.press("Enter");
    await tmux.see("exported:");
    expect(readFileSync(out, "utf8")).toContain("found a Zeppelin here");
    await tmux.press("q");
    expect(await tmux.ended()).toEqual({ code: 0, signal: null });
  });
});

test("forktail status answers for the status bar from what the screen keeps", async () => {
  const { argv, env, sessions } = program();
  const [node, built] = argv;
  const tmux = await tmuxWith(argv, { env });
  await tmux.see("Reindex the archive");
  appendFileSync(join(sessions, "cccccccc.state"), FAILING);
  await tmux.see("✗1");
  await until(
    () => execFileSync(node, [built ?? "", "status"], { env, encoding: "utf8" }),
    (line) => line === "✗1\n",
  );
});

test("sort, group and pin are there again after a restart", async () => {
  const { argv, env } = program();
  const first = await tmuxWith(argv, { env });
  await first.see("Reindex the archive");
  await first.press("G", "p");
  await first.see("pinned to the top");
  await first.press("s", "s", "s");
  await first.see("sorted by title");
  await first.press("t", "t");
  await first.see("grouped by agent");
  await first.press("q");
  await first.ended();
  const second = await tmuxWith(argv, { env });
  await second.see("mainplane 3");
  const screen = await second.screen();
  const at = (title: string): number => screen.findIndex((line) => line.includes(title));
  expect(screen[at("Run the linter")]).toContain("◉");
  expect(at("Run the linter")).toBeLessThan(at("question 1"));
  expect(at("question 1")).toBeLessThan(at("Reindex the archive"));
});

test("the mouse is tmux's until it is switched on; then clicks choose and the wheel moves", async () => {
  const off = program();
  const without = await tmuxWith(off.argv, { env: off.env });
  await without.see("Reindex the archive");
  expect(await without.ask("#{mouse_standard_flag}")).toBe("0");

  const on = program();
  configure(on, { mouse: true });
  const tmux = await tmuxWith(on.argv, { env: on.env });
  await tmux.see("Reindex the archive");
  await until(() => tmux.ask("#{mouse_standard_flag},#{mouse_sgr_flag}").then((flags) => flags === "1,1"));
  await report(tmux, "\x1b[<0;5;4M\x1b[<0;5;4m");
  await tmux.see(/^▎○ Reindex/mu);
  await report(tmux, "\x1b[<65;5;4M");
  await tmux.see(/^▎○ Run the linter/mu);
  await tmux.press("q");
  expect(await tmux.ended()).toEqual({ code: 0, signal: null });
  expect(await tmux.ask("#{mouse_standard_flag}")).toBe("0");
});

test("a config that cannot be used says file and line; an action there is not is said on the screen", async () => {
  const made = program();
  const path = join(made.env.HOME ?? "", ".config/forktail/config.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{\n  "theme": "dark",\n  "mouse": "yes"\n}\n');
  const bad = await tmuxWith(made.argv, { env: made.env });
  expect((await bad.ended()).code).not.toBe(0);
  const said = (await bad.screen({ history: true })).join("").replaceAll(/\s+/gu, " ");
  expect(said).toContain(`${path}:3: mouse`);
  expect(said).not.toMatch(/\bat .*\.js:\d/u);

  configure(made, { keys: { "session.fly": ["x"] } });
  const unknown = await tmuxWith(made.argv, { env: made.env });
  await unknown.see("config: keys: there is no action session.fly");
  await unknown.see("Reindex the archive");
});

test("NO_COLOR leaves bold and reverse, and no colour", async () => {
  const { argv, env } = program();
  const tmux = await tmuxWith(argv, { env: { ...env, NO_COLOR: "1" } });
  await tmux.see("Reindex the archive");
  const codes = (await tmux.screen({ colours: true })).join("").match(/\x1b\[[0-9;]*m/gu) ?? [];
  expect(codes.length).toBeGreaterThan(3);
  const colours = codes.filter((code) =>
    code
      .slice(2, -1)
      .split(";")
      .some((one) => /^([34][0-8]|9\d|10\d)$/u.test(one)),
  );
  expect(colours).toEqual([]);
});

test("what one typed before the screen was up does not bend its first frame", async () => {
  const { argv, env } = program();
  const tmux = await tmuxWith(["sh", "-c", 'printf "a prompt> "; sleep 0.3; exec "$@"', "sh", ...argv], { env });
  await tmux.see("a prompt>");
  await report(tmux, "j");
  await tmux.see("Reindex the archive");
  const [head = "", first = ""] = await tmux.screen();
  expect(head).toMatch(/^ forktail /u);
  expect(first).toMatch(/^[▎ ]○ question 1/u);
});

test("pasted text is no row of keys", async () => {
  const { argv, env } = program();
  const tmux = await tmuxWith(argv, { env });
  const paste = async (text: string): Promise<void> => {
    await tmux.command("set-buffer", text);
    await tmux.command("paste-buffer", "-p", "-t", tmux.pane);
  };
  await tmux.see("Reindex the archive");
  await paste("q\n");
  await tmux.see("pasted text runs no keys");
  await tmux.press("/");
  await tmux.see("filter");
  await paste("linter\n");
  await tmux.seeNo("Reindex the archive");
  await tmux.press("ctrl+u");
  await tmux.see("Reindex the archive");
  await tmux.press("Enter", "q");
  expect(await tmux.ended()).toEqual({ code: 0, signal: null });
});

test("--plain prints the sessions once, without a sequence, and leaves", async () => {
  const { argv, env } = program("--plain");
  const tmux = await tmuxWith(argv, { env });
  expect(await tmux.ended()).toEqual({ code: 0, signal: null });
  const text = (await tmux.screen({ colours: true })).join("\n");
  expect(text).toContain("Reindex the archive");
  expect(text.replace(/\x1b\[\d*m/gu, "")).not.toContain("\x1b");
  expect(existsSync(join(env.HOME ?? "", ".config"))).toBe(false);
});
