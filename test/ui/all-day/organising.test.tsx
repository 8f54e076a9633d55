import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { finished, writeSession } from "../../support/state-writer.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { until } from "../../support/until.ts";
import { demoScreen } from "../demo-screen.ts";
import { screenOn } from "../screen-robot.ts";
import { SIZES, words } from "./sizes.ts";

function sessions(): string {
  const dir = temporaryDirectory();
  for (const [n, title] of ["Run the linter", "Reindex the archive", "Ship it"].entries()) {
    const at = (draft: object, m: number): object => ({ ...draft, time: `2026-09-0${3 - n}T09:00:0${m}Z` });
    writeSession(dir, "abc".charAt(n).repeat(8), finished(title).map(at) as ReturnType<typeof finished>);
  }
  return dir;
}

describe.each(SIZES)("organising at $cols×$rows", ({ cols, rows }) => {
  test("m names, tags, notes, hides and keeps; nothing of it is written to the sessions", async () => {
    const dir = sessions();
    const before = treeHash(dir);
    const { robot, screen, place } = await screenOn(dir, { cols, rows });
    const enter = async (choice: string, text: string): Promise<void> => {
      await robot.press("m");
      await robot.see("organise: kept in forktail only");
      await robot.press(choice);
      await robot.see("Enter keep");
      await robot.type(text);
      await robot.press("Enter");
    };
    await enter("1", "Tidy up");
    await robot.see("Tidy up");
    await enter("2", "blue urgent");
    await robot.see("#blue #urgent");
    await enter("3", "ask Ann first");
    expect(place.memory.get("note", "statefile:aaaaaaaa")).toBe("ask Ann first");
    await robot.press("/");
    await robot.type("tidy");
    await until(() => screen.rows().keys.length === 1);
    await robot.press("Escape");
    await robot.press("m", "1", "ctrl+u", "Enter");
    await robot.see("Run the linter");

    await robot.press("m", "6");
    await robot.see("kept; forktail restore");
    await until(() => existsSync(join(place.memory.directory, "kept")));
    await robot.press("m", "6");
    await robot.see("kept already, nothing new");

    await robot.press("m", "5");
    await until(() => words(robot.screen()).includes("hidden; A lists hidden sessions"));
    expect(screen.rows().keys).not.toContain("statefile:aaaaaaaa");
    await robot.press("A");
    await until(() => screen.rows().keys.includes("statefile:aaaaaaaa"));
    expect(treeHash(dir)).toEqual(before);
  });

  test("p pins to the top, s sorts by the next column, t groups by the next property", async () => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows });
    const order = (): string[] => screen.rows().keys.map((key) => key.slice(10, 11));
    expect(order()).toEqual(["a", "b", "c"]);
    screen.select("statefile:cccccccc");
    await robot.press("p");
    await robot.see("pinned to the top");
    expect(order()).toEqual(["c", "a", "b"]);
    await robot.see("◉ Ship it");
    await robot.press("p");
    await robot.see("no longer pinned");
    const sorted: Record<string, string> = {};
    for (const by of ["status", "created", "title", "tokens", "cost", "updated"]) {
      await robot.press("s");
      await robot.see(`sorted by ${by}`);
      sorted[by] = order().join("");
    }
    expect(sorted).toMatchObject({ created: "abc", title: "bac", updated: "abc" });
    for (const by of ["project", "agent", "status", "day", "tree"]) {
      await robot.press("t");
      await robot.see(`grouped by ${by}`);
      if (by === "agent") await robot.see("mainplane 3");
      if (by === "status") await robot.see("idle 3");
    }
    await robot.press("t");
    await robot.see("not grouped");
  });

  test(". narrows to this directory, says so in the header, and how to see all again", async () => {
    const { robot, screen } = await demoScreen({ cols, rows });
    const all = screen.rows().keys.length;
    await robot.press(".");
    await until(() => words(robot.screen()).includes(`only sessions in ${process.cwd()}`));
    expect(robot.screen()[0]).toContain("here");
    await until(() => robot.terminal.text().includes(`. shows the ${all} of everywhere.`));
    await robot.press(".");
    await robot.see("sessions of everywhere");
    expect(robot.screen()[0]).not.toContain("here");
    expect(screen.rows().keys).toHaveLength(all);
  });

  test("sort, group and scope are written down for the next start", async () => {
    const { robot, place } = await screenOn(sessions(), { cols, rows });
    await robot.press("s", "t", ".");
    expect(place.memory.get("view", "list")).toEqual({ sort: "status", group: "project", here: true });
    expect(readdirSync(place.memory.directory).length).toBeGreaterThan(0);
  });
});
