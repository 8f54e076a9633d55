// Runs the built program at a fixed moment of the demo and draws what it shows, for the README. CJK and emoji need a font of
// the system (Debian: fonts-wqy-microhei, fonts-symbola); all else is in the fonts that npm installs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startDemo } from "../src/demo/play.ts";
import { DARK, LIGHT, pngOf, svgOf } from "../test/support/picture.ts";
import { Pty } from "../test/support/pty-program.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const NOW = new Date("2026-11-20T10:24:00.000Z");
/** Seconds into the story: agents work, one has failed, one has just appeared. */
const AT = 74;

/** Name of the picture, its size, and the session that is selected in it. */
const SHOTS = [
  { name: "wide", cols: 140, rows: 40, select: "Make the flaky" },
  { name: "narrow", cols: 40, rows: 40, select: null },
];

const { values } = parseArgs({ options: { out: { type: "string", default: join(ROOT, "assets") } } });
const out = values.out;
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "forktail-screenshots-"));
try {
  const demo = await startDemo({ dir: join(work, "demo"), speed: Number.POSITIVE_INFINITY, at: AT, now: NOW });
  for (const shot of SHOTS) {
    for (const [name, palette] of [
      ["dark", DARK],
      ["light", LIGHT],
    ]) {
      const svg = await take(shot, name, palette, demo);
      const file = join(out, `${shot.name}-${name}`);
      writeFileSync(`${file}.svg`, svg);
      writeFileSync(`${file}.png`, pngOf(svg));
      console.log(`${file}.png`);
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function take({ cols, rows, select }, theme, palette, demo) {
  const state = join(work, `state-${theme}-${cols}`);
  const config = join(work, `config-${theme}.json`);
  // Still: a picture of a moment has no spinner halfway.
  writeFileSync(config, JSON.stringify({ theme, still: true }));
  const roots = demo.roots.flatMap(({ source, path }) => ["--root", `${source}=${path}`]);
  const pty = new Pty([process.execPath, join(ROOT, "dist/forktail.js"), "--config", config, ...roots], {
    cols,
    rows,
    cwd: work,
    env: {
      HOME: work,
      PATH: "/usr/bin:/bin",
      LANG: "C.UTF-8",
      TZ: "UTC",
      COLORTERM: "truecolor",
      FORKTAIL_NOW: NOW.toISOString(),
      FORKTAIL_STATE_DIR: state,
      ...demo.env,
    },
  });
  try {
    await pty.see("Write the release notes");
    await quiet(pty);
    if (select !== null) await moveTo(select, pty);
    return svgOf(pty.terminal, { palette, title: "forktail" });
  } finally {
    pty.process.kill("SIGKILL");
    await pty.ending;
  }
}

/** Moves down until the session is the selected one: the right half shows it. */
async function moveTo(title, pty) {
  for (let presses = 0; !pty.screen().some((line) => line.split("│")[1]?.trimStart().startsWith(title)); presses += 1) {
    if (presses > 20) throw new Error(`${title} is not in the list:\n${pty.terminal.framed()}`);
    pty.press("j");
    await quiet(pty, 300);
  }
  await quiet(pty);
}

/** Waits until nothing was written for a while: everything is on the screen. */
async function quiet(pty, ms = 600) {
  for (let bytes = -1; bytes !== pty.terminal.bytes; ) {
    bytes = pty.terminal.bytes;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
