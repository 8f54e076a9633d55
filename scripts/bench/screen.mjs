// The built program on a pseudo-terminal, as a person sees it.
import { readFileSync } from "node:fs";
import { Pty } from "../../test/support/pty-program.ts";

const SIZE = { cols: 140, rows: 40 };
/** Kernel ticks a second, in which /proc/<pid>/stat counts. */
const TICKS = 100;

export const SIZE_TEXT = `${SIZE.cols}×${SIZE.rows}`;

/** Starts the program; ms until a session's row is on the screen, and until the header counts them all and is not reading. */
export async function start(options) {
  const { pty, began, painted } = await launch(options);
  const complete = await onScreen(pty, began, counts(options.sessions));
  return { pty, painted, complete };
}

/** Starts it anew, and asks for the help again and again while everything is read: ms from key to help; none when that is over at once. */
export async function helpWhileReading(options) {
  const { pty, began } = await launch(options);
  const isRead = counts(options.sessions);
  const hasHelp = (lines) => lines.some((line) => line.includes("keys: list"));
  const took = [];
  while (!isRead(pty.terminal.lines())) {
    took.push(await toScreen(pty, "keys: list", () => pty.press("?")));
    pty.press("q");
    await onScreen(pty, began, (lines) => !hasHelp(lines));
  }
  await leave(pty);
  return took;
}

async function launch({ program, roots, state, cwd }) {
  const began = performance.now();
  const flags = roots.flatMap(({ source, path }) => ["--root", `${source}=${path}`]);
  const pty = new Pty([process.execPath, program, ...flags], {
    ...SIZE,
    cwd,
    env: { HOME: cwd, PATH: "/usr/bin:/bin", LANG: "C.UTF-8", COLORTERM: "truecolor", FORKTAIL_STATE_DIR: state },
  });
  const row = /^\s*\S+ .+ (?:now|\d+[smhdw])/u;
  const painted = await onScreen(pty, began, (lines) => lines.slice(1, 4).some((line) => row.test(line)));
  return { pty, began, painted };
}

/** Does the header count so many sessions, and say no more that it is reading? */
function counts(sessions) {
  const count = new RegExp(`(?:^|\\s)(?:${sessions}|${sessions.toLocaleString("en-US")})\\s*$`, "u");
  return (lines) => count.test(lines[0] ?? "");
}

export async function leave(pty) {
  pty.press("q");
  const late = setTimeout(() => pty.process.kill("SIGKILL"), 10_000);
  await pty.ending;
  clearTimeout(late);
}

/** Resolves, with the ms since `began`, when the screen is as wanted. Looks after every piece of output. */
function onScreen(pty, began, ok, mostMs = 120_000) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      pty.process.kill("SIGKILL");
      reject(new Error(`the screen did not become what was waited for:\n${pty.terminal.framed()}`));
    }, mostMs);
    const look = () => {
      if (!ok(pty.terminal.lines())) return;
      clearTimeout(late);
      pty.onScreen = null;
      resolve(performance.now() - began);
    };
    pty.onScreen = look;
    look();
  });
}

/** ms from an action to the first byte of the frame that answers it. */
export function toFrame(pty, act, mostMs = 5000) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no frame within ${mostMs} ms:\n${pty.terminal.framed()}`)), mostMs);
    const began = performance.now();
    pty.onData = () => {
      clearTimeout(late);
      pty.onData = null;
      resolve(performance.now() - began);
    };
    act();
  });
}

/** ms from an action until words of it are on the screen. */
export function toScreen(pty, words, act) {
  const began = performance.now();
  act();
  return onScreen(pty, began, (lines) => lines.some((line) => line.includes(words)), 20_000);
}

/** Waits until nothing was written for a while. */
export async function quiet(pty, ms = 700) {
  for (let bytes = -1; bytes !== pty.terminal.bytes; ) {
    bytes = pty.terminal.bytes;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident memory in MB, now and at its peak. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "mu").exec(status)?.[1] ?? 0) / 1024;
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}
