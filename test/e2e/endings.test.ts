import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ptyWith } from "../support/pty.ts";
import type { Pty } from "../support/pty-program.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";
import { program } from "./program.ts";

/** The program on a terminal of its own, outside tmux, and everything that it wrote. */
async function started(more: Record<string, string> = {}) {
  const made = program();
  const pty = ptyWith(made.argv, { cols: 80, rows: 24, env: { ...made.env, TERM: "xterm-256color", ...more } });
  let written = "";
  pty.onData = (data) => {
    written += data;
  };
  await pty.see("Reindex the archive");
  expect(pty.terminal.alternate).toBe(true);
  return { ...made, pty, written: () => written };
}

/** Modes that the program set and did not take back. */
function modesLeft(written: string): string[] {
  const on = new Set<string>();
  for (const [, modes = "", end] of written.matchAll(/\x1b\[\?([0-9;]+)([hl])/gu)) {
    for (const mode of modes.split(";")) {
      // The cursor (25) and wrapping (7) are on to begin with.
      if ((end === "h") !== (mode === "25" || mode === "7")) on.add(mode);
      else on.delete(mode);
    }
  }
  return [...on];
}

function expectRestored(pty: Pty, written: string): void {
  expect(pty.terminal.alternate).toBe(false);
  expect(modesLeft(written)).toEqual([]);
}

describe("every way out restores the terminal", () => {
  test("q, without a word", async () => {
    const { pty, written } = await started();
    pty.press("q");
    expect(await pty.ending).toEqual({ code: 0, signal: 0 });
    expectRestored(pty, written());
    expect(pty.screen().join("").trim()).toBe("");
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("%s, with one line", async (signal, code) => {
    const { pty, written } = await started();
    pty.press("Enter");
    await pty.see("following");
    pty.kill(signal);
    expect(await pty.ending).toEqual({ code, signal: 0 });
    expectRestored(pty, written());
    expect(pty.screen().filter((line) => line !== "")).toEqual([
      `forktail: stopped by ${signal}; no session was touched`,
    ]);
  });

  test("a crash, with one line and no stack", async () => {
    const crash = join(temporaryDirectory(), "crash.mjs");
    writeFileSync(crash, 'process.on("SIGUSR2", () => { throw new Error("a fault\\x1b[2J of ours"); });\n');
    const { pty, written } = await started({ NODE_OPTIONS: `--import=${crash}` });
    pty.kill("SIGUSR2");
    expect(await pty.ending).toEqual({ code: 1, signal: 0 });
    expectRestored(pty, written());
    const said = pty.screen().filter((line) => line !== "");
    expect(said.join("")).toBe("forktail: it crashed: a fault·[2J of ours. No session was touched; please report it");
  });

  test("a terminal that goes away ends the program", async () => {
    const { pty } = await started();
    const { pid } = pty.process;
    (pty.process as unknown as { destroy(): void }).destroy();
    await until(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
});

describe("resume outside tmux", () => {
  test("gives the terminal to the program, and takes it back when that ends", async () => {
    const { pty, calls } = await started();
    pty.press("G", "r");
    await pty.see("mainplane here: chat cccccccc");
    expect(pty.terminal.alternate).toBe(false);
    expect(readFileSync(calls, "utf8")).toBe("chat cccccccc\n");
    pty.type("hello\r");
    await pty.see("back from mainplane");
    expect(pty.terminal.alternate).toBe(true);
    await pty.see("Reindex the archive");
    pty.press("g", "q");
    expect(await pty.ending).toEqual({ code: 0, signal: 0 });
  });

  test("ctrl+c in the program is the program's, not ours", async () => {
    const { pty } = await started();
    pty.press("G", "r");
    await pty.see("mainplane here: chat cccccccc");
    pty.press("ctrl+c");
    await pty.see("interrupted");
    pty.type("hello\r");
    await pty.see("back from mainplane");
    await pty.see("Reindex the archive");
    pty.press("q");
    expect(await pty.ending).toEqual({ code: 0, signal: 0 });
  });

  test("a program that is not there is said before the screen goes away", async () => {
    const made = program();
    const env = { ...made.env, PATH: "/nowhere", TERM: "xterm-256color" };
    const pty = ptyWith(made.argv, { env });
    await pty.see("Reindex the archive");
    pty.press("r");
    await pty.see("mainplane is not on PATH");
    expect(pty.terminal.alternate).toBe(true);
    expect(existsSync(made.calls)).toBe(false);
  });
});
