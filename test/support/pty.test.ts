import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ptyWith } from "./pty.ts";

const tiny = [process.execPath, fileURLToPath(new URL("./tiny-program.ts", import.meta.url))] as const;
const env = { HOME: "/nowhere", PATH: "/usr/bin:/bin" };

test("a pty shows what the program draws, and takes keys and resizes", async () => {
  const pty = ptyWith([...tiny], { cols: 40, rows: 8, env });
  await pty.see("40x8");
  pty.press("j", "j", "j");
  await pty.see("count 3");
  pty.resize(50, 9);
  await pty.see("50x9");
  expect(pty.terminal.misfit()).toBeNull();
  expect(pty.terminal.alternate).toBe(true);
  pty.press("q");
  expect(await pty.ending).toEqual({ code: 0, signal: 0 });
  expect(pty.terminal.alternate).toBe(false);
  expect(pty.screen().slice(0, 2)).toEqual(["before", "after"]);
});

test("a pty sees a handled signal's exit code and the terminal restored", async () => {
  const pty = ptyWith([...tiny], { env });
  await pty.see("bottom");
  pty.kill("SIGTERM");
  expect(await pty.ending).toEqual({ code: 143, signal: 0 });
  expect(pty.terminal.alternate).toBe(false);
});

test("a pty sees that a program was killed", async () => {
  const pty = ptyWith([...tiny], { env });
  await pty.see("bottom");
  pty.kill("SIGKILL");
  expect((await pty.ending).signal).toBe(9);
});

test("a pty shows the screen when a text does not come", async () => {
  const pty = ptyWith(["/bin/echo", "here"], { cols: 20, rows: 2, env });
  await pty.ending;
  await expect(pty.see("there", 50)).rejects.toThrow("│here                │");
});
