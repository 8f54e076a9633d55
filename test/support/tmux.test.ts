import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tmuxWith } from "./tmux.ts";
import { until } from "./until.ts";

const tiny = [process.execPath, fileURLToPath(new URL("./tiny-program.ts", import.meta.url))];
const env = { HOME: "/nowhere", PATH: "/usr/bin:/bin", FORCE_COLOR: "3" };

test("tmux runs the program at the given size, sends keys, resizes and sees the end", async () => {
  const tmux = await tmuxWith(tiny, { cols: 40, rows: 8, env });
  await tmux.see("40x8");
  await tmux.press("j", "j");
  await tmux.see("count 2");
  await tmux.press("ctrl+d");
  await tmux.see("said control d");
  await tmux.type("hello");
  await tmux.see("said hello");
  await tmux.resize(60, 10);
  await tmux.see("60x10");
  expect(await tmux.screen()).toHaveLength(10);
  expect((await tmux.screen({ colours: true }))[0]).toContain("\x1b[1m\x1b[38;2;255;136;0mcount 2");
  expect(await tmux.ask("#{alternate_on}")).toBe("1");
  await tmux.press("q");
  expect(await tmux.ended()).toEqual({ code: 0, signal: null });
  const screen = (await tmux.screen({ history: true })).join("\n");
  expect(screen).toContain("before\nafter");
});

test("tmux gives the program the named environment, its own TMUX, and nothing else", async () => {
  const tmux = await tmuxWith(["/usr/bin/env"], { cols: 200, rows: 30, env: { HOME: "/nowhere", ODD: "a b $c" } });
  await tmux.ended();
  // The end may be known before the last of the output is drawn.
  await tmux.see("TMUX_PANE=");
  const lines = (await tmux.screen({ history: true })).filter((line) => /^[A-Z_]+=/u.test(line));
  const names = lines.map((line) => line.slice(0, line.indexOf("=")));
  expect(names.sort()).toEqual(["HOME", "LANG", "ODD", "TERM", "TMUX", "TMUX_PANE"]);
  expect(lines).toContain("ODD=a b $c");
  expect(lines.find((line) => line.startsWith("TMUX="))).toContain(tmux.socket);
});

test("tmux tells how the program ended", async () => {
  const tmux = await tmuxWith(tiny, { env });
  await tmux.see("bottom");
  await tmux.press("x");
  expect(await tmux.ended()).toEqual({ code: 3, signal: null });
});

test("tmux servers of tests are gone when the test is over", async () => {
  await until(
    () => !execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(`forktail-test-${process.pid}-`),
  );
});
