import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BEGINNING, type Draft, finished, records, turn, writeSession } from "../../support/state-writer.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { screenOn } from "../screen-robot.ts";
import { SIZES, words } from "./sizes.ts";

const failing = (prompt: string, why: string): Draft[] => [
  ...BEGINNING,
  { kind: "message", type: "text/plain", body: prompt },
  { kind: "error", type: "text/plain", source: "provider", body: why },
];

const WHY = "the disk is full: free some of it and go on, or move the archive to another one";

/** One at peace, two that failed: the newer written first, the older one waiting longest. */
function sessions(): string {
  const dir = temporaryDirectory();
  writeSession(dir, "aaaaaaaa", finished("Run the linter"));
  writeSession(dir, "bbbbbbbb", [
    ...failing("Reindex the archive", WHY).slice(0, 3),
    { kind: "error", type: "text/plain", source: "provider", body: WHY },
  ]);
  const late = failing("Ship the release", "no network").map((draft, n) => ({
    ...draft,
    time: `2026-09-02T09:00:0${n}Z`,
  }));
  writeSession(dir, "cccccccc", late);
  return dir;
}

describe.each(SIZES)("the inbox at $cols×$rows", ({ cols, rows }) => {
  test("shows who needs the person, longest waiting first, with what is said in full", async () => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows });
    await robot.see("✗2");
    await robot.press("i");
    await robot.see("── inbox");
    const below = robot.screen().slice(robot.screen().findIndex((line) => line.includes("── inbox")));
    expect(words(below)).toContain(WHY);
    const at = (title: string): number => below.findIndex((line) => line.includes(title));
    expect(at("Reindex the archive")).toBeGreaterThan(0);
    expect(at("Reindex the archive")).toBeLessThan(at("Ship the release"));
    expect(at("Run the linter")).toBe(-1);
    await robot.see("x snooze");
    await robot.press("j", "Enter");
    await until(() => screen.session()?.id === "cccccccc" && screen.place() === "transcript");
    await robot.see("no network");
  });

  test("x snoozes one: it leaves the counts and the inbox, and m wakes it", async () => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows });
    await robot.press("i", "x");
    await robot.see("snoozed for an hour");
    expect(screen.attention().inbox.map(({ id }) => id)).toEqual(["cccccccc"]);
    await robot.press("Escape");
    await robot.see("✗1");
    await robot.press("i");
    await robot.see("inbox · 1 snoozed");
    await robot.press("Escape");
    screen.select("statefile:bbbbbbbb");
    await robot.press("m");
    await robot.see("wake up");
    await robot.press("4");
    await robot.see("awake again");
    await robot.see("✗2");
  });

  test("! goes round those that need the person, and an empty inbox says so", async () => {
    const dir = sessions();
    const { robot, screen } = await screenOn(dir, { cols, rows });
    screen.select("statefile:aaaaaaaa");
    const seen: (string | null)[] = [];
    for (let n = 0; n < 3; n += 1) {
      await robot.press("!");
      seen.push(screen.view.selected);
    }
    expect(seen).toEqual(["statefile:bbbbbbbb", "statefile:cccccccc", "statefile:bbbbbbbb"]);
    await robot.press("i", "x", "x", "Escape");
    await robot.press("!");
    await robot.see("no session needs you");
    await robot.press("i");
    await until(() => words(robot.screen()).includes("Nobody needs you. Finished work that you have not seen"));
  });

  test("what happened while one looked elsewhere is offered once, and D shows it", async () => {
    const dir = sessions();
    const env: NodeJS.ProcessEnv = { FORKTAIL_NOW: "2026-09-02T10:00:00Z" };
    const { robot, store, place } = await screenOn(dir, { cols, rows, env });
    await robot.press("D");
    await until(() => words(robot.screen()).includes("Nothing happened since this screen last lost the focus"));
    await robot.press("Escape");

    await robot.type("\x1b[O");
    appendFileSync(join(dir, "aaaaaaaa.state"), records(turn(6, "Fix them", "They are fixed."), 6));
    await until(() => store.getState().sessions.get("statefile:aaaaaaaa")?.messages === 2);
    place.env.FORKTAIL_NOW = "2026-09-02T10:05:00Z";
    await robot.type("\x1b[I");
    await until(() => words(robot.screen()).includes("while you were away: 1 session changed · D shows what"));
    // A glance away and back takes nothing away.
    await robot.type("\x1b[O");
    await robot.type("\x1b[I");
    await robot.press("D");
    await robot.see("── while you were away");
    await robot.see("Run the linter");
    await robot.see("+1 message");
    await robot.press("Enter");
    await robot.see("They are fixed.");
  });
});
