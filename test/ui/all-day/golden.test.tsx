import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { demoScreen } from "../demo-screen.ts";
import type { AtScreen } from "../screen-robot.ts";
import { type Frame, frameOf } from "./frame.ts";
import { SIZES } from "./sizes.ts";

const GOLDEN = fileURLToPath(new URL("../golden", import.meta.url));
const THEMES = ["dark", "light"] as const;
const TITLE = "Make the flaky invoice test";

const SCREENS: Record<string, (at: AtScreen) => Promise<void>> = {
  list: async ({ robot, screen }) => {
    // Beside a wide list the selected session is read a moment later.
    if (screen.sideBySide()) await robot.see("following");
  },
  transcript: async ({ robot, screen }) => {
    const key = [...screen.rows().keys].find((one) => screen.snapshot(one)?.title.startsWith(TITLE)) ?? "";
    screen.select(key);
    await robot.press("Enter");
    await robot.see("The test itself is unchanged.");
    await robot.press("{");
    await until(() => screen.entry()?.kind === "message");
  },
  inbox: async ({ robot, screen }) => {
    if (screen.sideBySide()) await robot.see("following");
    await robot.press("i");
    await robot.see("── inbox");
  },
  help: async ({ robot, screen }) => {
    if (screen.sideBySide()) await robot.see("following");
    await robot.press("?");
    await robot.see("keys: list");
  },
  usage: async ({ robot }) => {
    await robot.press("U");
    await robot.see("cache hit rate");
  },
};

describe.each(SIZES)("frames of $cols×$rows", ({ cols, rows }) => {
  test.each(Object.keys(SCREENS))("%s is drawn as reviewed, dark and light", async (name) => {
    const frames: Frame[] = [];
    for (const theme of THEMES) {
      const at = await demoScreen({ cols, rows, config: { theme } });
      await SCREENS[name]?.(at);
      await at.robot.settle();
      frames.push(frameOf(at.robot.terminal));
      await at.robot.unmount();
    }
    const [dark, light] = frames;
    // A theme changes colours and nothing else.
    expect([light?.text, light?.looks]).toEqual([dark?.text, dark?.looks]);
    const legends = THEMES.map((theme, at) => `${theme}\n${frames[at]?.legend}`);
    const golden = [dark?.text, dark?.looks, ...legends].join("\n");
    await expect(golden).toMatchFileSnapshot(join(GOLDEN, `${name}-${cols}x${rows}.txt`));
  });
});
