import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KEYMAP } from "../../../src/ui/keymap.ts";
import type { Robot } from "../../support/robot.ts";
import { BEGINNING, finished, records, turn, writeSession } from "../../support/state-writer.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { demoScreen } from "../demo-screen.ts";
import { type AtScreen, type ScreenOptions, screenOn } from "../screen-robot.ts";
import { SIZES, words } from "./sizes.ts";

/** The colours on the screen, apart from the terminal's own two. */
function colours(robot: Robot): Set<string | number> {
  const found = new Set<string | number>();
  for (let y = 0; y < robot.terminal.rows; y += 1) {
    for (let x = 0; x < robot.terminal.cols; x += 1) {
      const { fg, bg } = robot.cell(x, y);
      for (const one of [fg, bg]) if (one !== null) found.add(one);
    }
  }
  return found;
}

const written = ({ asked }: AtScreen): string => String(asked.written.read() ?? "");

describe.each(SIZES)("at $cols×$rows", ({ cols, rows }) => {
  const demo = (options: ScreenOptions = {}): Promise<AtScreen> => demoScreen({ cols, rows, ...options });

  test("U sums up all sessions, and one step back leads to where one was", async () => {
    const { robot, screen } = await demo();
    const { selected } = screen.view;
    await robot.press("U");
    await robot.see("usage of all sessions");
    await robot.see("≥$");
    await robot.press("G");
    await robot.see("Remove jQuery");
    await robot.press("Escape");
    await robot.see("Watch the canary");
    expect([screen.place(), screen.view.selected, screen.view.open?.view ?? null]).toEqual([
      "list",
      selected,
      screen.sideBySide() ? "timeline" : null,
    ]);
    await robot.press("Enter", "U");
    await robot.see("usage of all sessions");
    await robot.press("Escape");
    await until(() => screen.place() === "transcript");
  });

  test("P tells what is in whose way and what could not be read, with the next step", async () => {
    const { robot, store, place } = await demo({ attended: true });
    await until(() => store.getState().conflicts.length > 0);
    await robot.press("P");
    await until(() => words(robot.screen()).includes("which is gone: make it again (git worktree add, or mkdir -p)"));
    await robot.press("Escape");
    await robot.seeNo("── problems");
    expect(place.roots.length).toBeGreaterThan(3);
    const nothing = await screenOn(temporaryDirectory(), { cols, rows });
    await nothing.robot.press("P");
    await until(() => words(nothing.robot.screen()).includes("Nothing is wrong: everything was read."));
  });

  test(": runs anything by name, and help shows every key of the place from the same table", async () => {
    const { robot, screen } = await demo();
    await robot.press(":");
    await robot.type("zzz");
    await until(() => words(robot.screen()).includes("No command is called that."));
    await robot.press("ctrl+u");
    await robot.type("group next");
    await robot.press("Enter");
    await robot.see("grouped by project");
    await robot.press("?");
    await robot.see("keys: list");
    if (cols >= 60) await robot.see("session.open");
    const seen = await scrolled(robot);
    for (const { help, where } of KEYMAP.filter((one) => one.where.includes("list"))) {
      expect(seen, where.join()).toContain(help.split(" ")[0]);
    }
    expect(seen).toContain("interrupted");
    await robot.press("Escape");
    expect(screen.view.overlay).toBeNull();
  });

  test("a remapped key does what it says, in the footer, the help and when it is pressed", async () => {
    const config = { keys: { "screen.inbox": ["f5", "I"], "session.open": ["ctrl+o"] } };
    const { robot, screen } = await screenOn(sessions(), { cols, rows, config });
    await robot.see("^o open");
    await robot.press("Enter");
    expect(screen.place()).toBe("list");
    await robot.press("ctrl+o");
    await until(() => screen.place() === "transcript");
    await robot.press("Escape", "i");
    expect(screen.view.overlay).toBeNull();
    await robot.press("I");
    await robot.see("── inbox");
  });
});

/** All that a long overlay says, read by half pages until nothing moves. */
async function scrolled(robot: Robot): Promise<string> {
  const seen: string[] = [];
  for (let last = ""; last !== robot.terminal.text(); ) {
    last = robot.terminal.text();
    seen.push(last);
    await robot.press("Space");
  }
  return seen.join("\n");
}

function sessions(): string {
  const dir = temporaryDirectory();
  writeSession(dir, "aaaaaaaa", finished("Run the linter"));
  writeSession(dir, "bbbbbbbb", finished("Reindex the archive"));
  return dir;
}

describe("colours", () => {
  test.each(["dark", "light", "contrast", "colourblind"] as const)("%s has colours of its own", async (theme) => {
    const full = await demoScreen({ config: { theme } });
    expect([...colours(full.robot)].every((one) => typeof one === "string")).toBe(true);
    expect(colours(full.robot).size).toBeGreaterThan(4);
    const sixteen = await demoScreen({ config: { theme }, colours: {} });
    expect([...colours(sixteen.robot)].every((one) => typeof one === "number" && one < 16)).toBe(true);
    const plain = await demoScreen({ config: { theme }, colours: { NO_COLOR: "1" } });
    expect(colours(plain.robot).size).toBe(0);
    expect(plain.robot.screen()).toEqual(full.robot.screen());
  });

  test("without colours the chosen row, the statuses and the hits still stand out", async () => {
    const { robot } = await demoScreen({ colours: { NO_COLOR: "1" } });
    await robot.press("/");
    await robot.type("invoice");
    await robot.see("/invoice");
    expect(robot.cellOf("invoice test").inverse).toBe(true);
    expect(robot.cellOf("▎").text).toBe("▎");
    expect(robot.cellOf("▲1").inverse).toBe(true);
  });
});

test.each(SIZES)("in ASCII every sign of ours is ASCII, in every place, at $cols×$rows", async ({ cols, rows }) => {
  const { robot, screen } = await demoScreen({ cols, rows, config: { ascii: true } });
  await robot.press("/");
  await robot.type("status:failed");
  await robot.press("Enter");
  for (const keys of [
    [],
    ["i"],
    ["D"],
    ["P"],
    ["?"],
    ["w"],
    ["m"],
    ["y"],
    ["X"],
    [":"],
    ["Enter"],
    ["c"],
    ["z"],
    ["Tab"],
    ["Tab"],
    ["U"],
  ]) {
    await robot.press(...keys);
    await robot.settle();
    await until(() => !robot.terminal.text().includes("looking"));
    const odd = robot.terminal.text().match(/[^\x00-\x7f]/gu) ?? [];
    expect(odd.join(""), `after ${keys.join(" ")}:\n${robot.terminal.framed()}`).toBe("");
    if (screen.view.overlay) await robot.press("Escape");
  }
});

describe("motion", () => {
  const working = (): string => {
    const dir = temporaryDirectory();
    writeSession(dir, "aaaaaaaa", [...BEGINNING, { kind: "message", type: "text/plain", body: "Still at it" }], 0);
    return dir;
  };

  test("a session at work turns, and with still it does not", async () => {
    const moving = await screenOn(working());
    await until(() => [...moving.store.getState().sessions.values()].some((one) => one.status === "working"));
    const glyphs = new Set<string>();
    await until(() => glyphs.add(moving.robot.screen()[1]?.slice(1, 2) ?? "").size > 1);

    const still = await screenOn(working(), { config: { still: true } });
    await still.robot.see("working");
    await still.robot.settle();
    const { frames } = still.robot;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(still.robot.frames).toBe(frames);
  });
});

describe("the mouse", () => {
  test("is left to the terminal unless it is switched on", async () => {
    const off = await screenOn(sessions(), { attended: true });
    expect(written(off)).not.toMatch(/\?1000h/u);
    const on = await screenOn(sessions(), { attended: true, config: { mouse: true } });
    expect(written(on)).toMatch(/\?1000h.*\?1006h/u);
  });

  test.each(SIZES)("clicks choose, the wheel moves, at $cols×$rows", async ({ cols, rows }) => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows, config: { mouse: true } });
    const [first = null, second = null] = screen.rows().keys;
    await robot.type("\x1b[<0;5;4M\x1b[<0;5;4m");
    await until(() => screen.view.selected === second);
    await robot.type("\x1b[<64;5;4M");
    await until(() => screen.view.selected === first);
    await robot.type("\x1b[<65;5;4M");
    await until(() => screen.view.selected === second);
    // A click on nothing, and buttons that mean nothing here.
    await robot.type("\x1b[<0;5;19M\x1b[<2;5;2M");
    expect(screen.view.selected).toBe(second);
    if (!screen.sideBySide()) return;
    await until(() => screen.view.open !== null);
    await robot.type("\x1b[<0;120;9M");
    await until(() => screen.view.focus === "detail");
  });
});

describe("told outside the screen", () => {
  const failing = records([{ kind: "error", type: "text/plain", source: "provider", body: "the disk is full" }], 6);

  test("the title and the status bar's file count who needs the person", async () => {
    const dir = sessions();
    const at = await screenOn(dir, { attended: true });
    expect(written(at)).toContain("\x1b]2;forktail\x07");
    appendFileSync(join(dir, "aaaaaaaa.state"), failing);
    await at.robot.see("✗1");
    let title = "";
    await until(() => {
      title += written(at);
      return title.includes("\x1b]2;✗1 forktail\x07");
    });
    await until(() => /"failed":\s*1/u.test(statusFile(at.place.memory.directory)));
  });

  test("a notice rings once for a turn, says what is asked, and is wrapped for tmux", async () => {
    const dir = sessions();
    const config = { notices: { terminal: "osc9" as const } };
    const at = await screenOn(dir, { attended: true, config, env: { TMUX: "/nowhere,1,0" } });
    written(at);
    appendFileSync(join(dir, "bbbbbbbb.state"), records(turn(6, "Again", "Done again."), 6));
    appendFileSync(join(dir, "aaaaaaaa.state"), failing);
    let heard = "";
    await until(() => {
      heard += written(at).replace(/\x1b\]2;[^\x07]*\x07/gu, "");
      return heard.includes("Failed: Run the linter");
    });
    expect(heard).toContain("\x1bPtmux;\x1b\x1b]9;Failed: Run the linter: the disk is full\x07\x1b\\");
    expect(heard.replace(/\x1bPtmux;[^\\]*\\/gu, "")).toBe("\x07");
  });

  test("the session on screen while one looks at it is not announced", async () => {
    const dir = sessions();
    const at = await screenOn(dir, { attended: true });
    at.screen.select("statefile:aaaaaaaa");
    await at.robot.press("Enter");
    await at.robot.see("Done.");
    written(at);
    appendFileSync(join(dir, "aaaaaaaa.state"), failing);
    await at.robot.see("✗1");
    // Longer than notices are gathered.
    await new Promise((resolve) => setTimeout(resolve, 1800));
    expect(written(at).replace(/\x1b\]2;[^\x07]*\x07/gu, "")).toBe("");
  });
});

function statusFile(directory: string): string {
  try {
    return readFileSync(join(directory, "counts.json"), "utf8");
  } catch {
    return "";
  }
}
