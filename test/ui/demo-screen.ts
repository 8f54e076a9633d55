import { startDemo } from "../../src/demo/play.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { type AtScreen, type ScreenOptions, screenOver } from "./screen-robot.ts";

/** The wall's time at a fixed moment of the demo. */
const DEMO_NOW = new Date("2026-11-20T10:24:00.000Z");
/** Seconds into its story: agents work, one has failed, one asks. */
const AT = 74;

/** The screen over the demo's sessions as they are at one moment, drawn without motion. */
export async function demoScreen(options: ScreenOptions = {}): Promise<AtScreen> {
  const demo = await startDemo({
    dir: temporaryDirectory("forktail-demo"),
    speed: Number.POSITIVE_INFINITY,
    at: AT,
    now: DEMO_NOW,
  });
  const at = await screenOver({
    ...options,
    roots: demo.roots,
    config: { still: true, ...options.config },
    env: { FORKTAIL_NOW: DEMO_NOW.toISOString(), ...demo.env, ...options.env },
  });
  await at.robot.see("Watch the canary");
  return at;
}
