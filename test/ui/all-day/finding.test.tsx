import { describe, expect, test } from "vitest";
import type { Robot } from "../../support/robot.ts";
import { BEGINNING, turn, turnWithCall, writeSession } from "../../support/state-writer.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { screenOn } from "../screen-robot.ts";
import { SIZES, words } from "./sizes.ts";

function sessions(): string {
  const dir = temporaryDirectory();
  const long = Array.from({ length: 30 }, (_, n) => turn(3 + n * 3, `question ${n + 1}`, `answer ${n + 1}`)).flat();
  writeSession(dir, "aaaaaaaa", [...BEGINNING, ...long]);
  writeSession(dir, "bbbbbbbb", [...BEGINNING, ...turn(3, "Reindex the archive", "It is reindexed.")]);
  writeSession(dir, "cccccccc", [
    ...BEGINNING,
    ...turnWithCall(3, "Run the linter", "npm run lint", "warning: Zeppelin unused\nsecond line", 1),
    ...turn(10, "And now the tests", "They pass."),
  ]);
  return dir;
}

/** The texts that are drawn in the look of a hit. */
function marked(robot: Robot, row: number): string {
  let text = "";
  for (let x = 0; x < robot.terminal.cols; x += 1) {
    const cell = robot.cell(x, row);
    if (cell.bg !== null || cell.inverse) text += cell.text;
  }
  return text;
}

describe.each(SIZES)("finding at $cols×$rows", ({ cols, rows }) => {
  test("filter operators narrow the list, and the letters that matched are marked", async () => {
    const { robot, screen, place } = await screenOn(sessions(), { cols, rows });
    place.memory.set("tags", "statefile:bbbbbbbb", ["urgent"]);
    place.memory.set("pinned", "statefile:cccccccc", true);
    screen.memoryChanged();
    const filtered = async (text: string): Promise<string[]> => {
      await robot.press("/");
      await robot.type(text);
      await robot.press("Enter");
      const found = screen.rows().keys.map((key) => key.slice(10));
      await robot.press("Escape");
      return found;
    };
    expect(await filtered("tag:urgent")).toEqual(["bbbbbbbb"]);
    expect(await filtered("is:pinned")).toEqual(["cccccccc"]);
    expect(await filtered("status:idle")).toHaveLength(3);
    expect(await filtered("status:failed")).toEqual([]);
    expect(await filtered("model:opus reindex")).toEqual(["bbbbbbbb"]);
    expect(await filtered("source:codex")).toEqual([]);
    expect(await filtered("since:1h")).toEqual([]);
    await robot.press("/");
    await robot.type("rchiv");
    await robot.see("/rchiv");
    expect(marked(robot, 1)).toBe("rchiv");
    await robot.press("Escape");
    await robot.press("/");
    await robot.type("qqq zzz");
    // Beside the list stands a session; the words may be broken anywhere in their own half.
    const half = screen.sideBySide() ? screen.list.width : cols;
    const listed = (): string => words(robot.screen().map((line) => line.slice(0, half)));
    await until(() => listed().includes("Nothing matches qqq zzz. Esc shows all 3 again."));
  });

  test("// finds text of all sessions, tool output too, and Enter goes to the entry", async () => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows });
    await robot.press("/", "/");
    await robot.see("search the text of all sessions");
    await robot.type("zeppelin");
    await robot.see("Enter search");
    await robot.press("Enter");
    await robot.see("search · zeppelin");
    await robot.see("Run the linter");
    await robot.see("result");
    const row = robot.screen().findIndex((line) => line.includes("Zeppelin"));
    await until(
      () =>
        marked(
          robot,
          robot.screen().findIndex((line) => line.includes("Zeppelin")),
        ) === "Zeppelin",
    );
    expect(row).toBeGreaterThan(0);
    await robot.press("Enter");
    await until(() => screen.entry()?.kind === "result");
    expect(screen.session()?.id).toBe("cccccccc");
    await robot.see("Zeppelin");

    await robot.press("ctrl+g");
    await robot.type("answer 7");
    await robot.press("Enter");
    await robot.see("question 1");
    await robot.type("nothing like it");
    await robot.see("Nothing here fits what you typed.");
    await robot.press("Escape");
    await robot.press("ctrl+g");
    await robot.type("never said");
    await robot.press("Enter");
    await until(() => words(robot.screen()).includes("Nothing holds this text. Fewer or other words find more"));
  });

  test("c lists what was asked, and Enter goes there", async () => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows });
    screen.select("statefile:aaaaaaaa");
    await robot.press("Enter");
    await robot.see("answer 30");
    await robot.press("c");
    await robot.see("contents: what the person wrote");
    await robot.see("question 1");
    await robot.type("question 17");
    await until(() => robot.screen().filter((line) => /^ . question \d/u.test(line)).length <= 1);
    await robot.press("Enter");
    await until(() => screen.entry()?.text === "question 17");
    await robot.see("answer 17");
  });

  test("{ } [ ] go from prompt to prompt and entry to entry, e E between errors", async () => {
    const { robot, screen } = await screenOn(sessions(), { cols, rows });
    screen.select("statefile:cccccccc");
    await robot.press("Enter");
    await robot.see("They pass.");
    const kinds: (string | undefined)[] = [];
    for (const key of ["{", "{", "]", "}", "[", "E", "e"]) {
      await robot.press(key);
      await robot.settle();
      kinds.push(`${key} ${screen.entry()?.kind} ${screen.entry()?.text?.slice(0, 8) ?? ""}`);
    }
    expect(kinds).toEqual([
      "{ message And now ",
      "{ message Run the ",
      "] thinking First I ",
      "} message And now ",
      "[ step ",
      "E result warning:",
      "e result warning:",
    ]);
  });
});
