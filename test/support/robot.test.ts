import { createElement } from "react";
import { describe, expect, test } from "vitest";
import { robotAt } from "./robot.ts";
import { TinyApp } from "./tiny-app.ts";

const tiny = () => robotAt(createElement(TinyApp), { cols: 30, rows: 6 });

describe("the robot at the screen", () => {
  test("sees exact lines, wide characters included", async () => {
    const robot = await tiny();
    expect(robot.screen()).toEqual(["count 0", "日本語 30x6", "said", "", "", "bottom"]);
    expect(robot.cell(0, 1)).toMatchObject({ text: "日", width: 2, inverse: true });
    expect(robot.cell(1, 1).width).toBe(0);
    expect(robot.terminal.find("30x6")).toEqual({ x: 7, y: 1 });
  });

  test("sees colours and weights", async () => {
    const robot = await tiny();
    expect(robot.cellOf("count")).toMatchObject({ text: "c", fg: "#ff8800", bg: null, bold: true, dim: false });
    expect(robot.cellOf("said").dim).toBe(true);
  });

  test("presses keys by name and types bursts", async () => {
    const robot = await tiny();
    await robot.press("j", "j");
    expect(robot.screen()[0]).toBe("count 2");
    await robot.type("jjj");
    expect(robot.screen()[0]).toBe("count 5");
    for (const [key, said] of [
      ["Enter", "said enter"],
      ["ctrl+d", "said control d"],
      ["Escape", "said escape"],
      ["ü", "said ü"],
    ] as const) {
      await robot.press(key);
      expect(robot.screen()[2]).toBe(said);
    }
    await expect(robot.press("Entr")).rejects.toThrow('no key is called "Entr"');
  });

  test("waits for what it looks for, and shows the screen when it does not come", async () => {
    const robot = await tiny();
    await robot.see("bottom");
    await robot.seeNo("nothing like it");
    await expect(robot.see("nothing like it", 50)).rejects.toThrow(/to see nothing like it:\n┌─+┐\n│count 0 +│/u);
  });

  test("resizes, and the program draws for the new size", async () => {
    const robot = await tiny();
    for (const [cols, rows] of [
      [20, 4],
      [50, 12],
    ] as const) {
      await robot.resize(cols, rows);
      await robot.see(`${cols}x${rows}`);
      expect(robot.screen()).toHaveLength(rows);
      expect(robot.screen()[rows - 1]).toBe("bottom");
    }
  });

  test("counts frames and bytes: an idle screen has none, and a key only a small change", async () => {
    const robot = await tiny();
    const { frames, bytes } = robot;
    await robot.settle();
    expect([robot.frames, robot.bytes]).toEqual([frames, bytes]);
    await robot.press("j");
    expect(robot.frames).toBe(frames + 1);
    expect(robot.bytes - bytes).toBeLessThan(80);
  });

  test("fails at a frame that is wider than the terminal", async () => {
    const robot = await tiny();
    await robot.terminal.write(`\x1b[1;1H${"x".repeat(31)}`);
    await expect(robot.settle()).rejects.toThrow("wider than 30 columns: row 1 wrapped");
  });

  test("fails at a frame that is taller than the terminal", async () => {
    const robot = await tiny();
    await expect(robot.press("t")).rejects.toThrow("taller than 6 rows");
  });
});
