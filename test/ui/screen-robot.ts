import { PassThrough } from "node:stream";
import { createElement } from "react";
import { onTestFinished } from "vitest";
import { openWorkplace, type Workplace } from "../../src/commands/context.ts";
import type { ResumeCommand } from "../../src/session/snapshot.ts";
import { feed } from "../../src/store/feed.ts";
import { newStore, type Store } from "../../src/store/store.ts";
import { App } from "../../src/ui/app.tsx";
import { keymapOf } from "../../src/ui/keymap.ts";
import { Screen, type Terminal } from "../../src/ui/screen.ts";
import { resolveTheme } from "../../src/ui/theme.ts";
import { type Robot, robotAt } from "../support/robot.ts";
import { temporaryDirectory } from "../support/temp.ts";

interface ScreenOptions {
  cols?: number;
  rows?: number;
  env?: NodeJS.ProcessEnv;
  ascii?: boolean;
}

/** The real screen over real files, and a robot in front of it. */
export interface AtScreen {
  robot: Robot;
  screen: Screen;
  store: Store;
  place: Workplace;
  /** What was asked of the terminal: programs it was lent to, leaving, stopping. */
  asked: { ran: ResumeCommand[]; quits: number; stops: number; written: PassThrough };
}

/** Opens the screen on the statefile sessions of a directory, and reads them. Taken down when the test is over. */
export async function screenOn(directory: string, options: ScreenOptions = {}): Promise<AtScreen> {
  const { cols = 80, rows = 24, ascii = false } = options;
  const env = { HOME: "/nowhere", FORKTAIL_STATE_DIR: temporaryDirectory(), PATH: "", ...options.env };
  const place = await openWorkplace({ root: [`statefile=${directory}`] }, { env, only: true });
  const store = newStore(Date.now());
  const written = new PassThrough();
  const asked: AtScreen["asked"] = { ran: [], quits: 0, stops: 0, written };
  const terminal: Terminal = {
    output: written as unknown as NodeJS.WriteStream,
    lend: (work) => work(),
    run: async (command) => {
      asked.ran.push(command);
      return 0;
    },
    quit: () => {
      asked.quits += 1;
    },
    stop: () => {
      asked.stops += 1;
    },
  };
  const screen = new Screen(store, place, place.config, terminal, ascii);
  const { keymap } = keymapOf(place.config.keys);
  const look = {
    theme: resolveTheme({ TERM: "xterm-256color", COLORTERM: "truecolor" }, {}).theme,
    ascii,
    still: false,
  };
  const robot = await robotAt(createElement(App, { screen, keymap, look }), { cols, rows });
  onTestFinished(async () => {
    screen.close();
    await place.live.close();
  });
  await place.live.start(feed(store));
  await robot.seeNo("Reading the sessions");
  await robot.settle();
  return { robot, screen, store, place, asked };
}
