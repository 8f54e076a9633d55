import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createElement } from "react";
import { onTestFinished } from "vitest";
import { openWorkplace, type Workplace } from "../../src/commands/context.ts";
import type { Config } from "../../src/memory/config.ts";
import { now } from "../../src/probe/clock.ts";
import type { ResumeCommand } from "../../src/session/snapshot.ts";
import { feed } from "../../src/store/feed.ts";
import { newStore, type Store } from "../../src/store/store.ts";
import { App } from "../../src/ui/app.tsx";
import { Attendance } from "../../src/ui/attendance.ts";
import { keymapOf } from "../../src/ui/keymap.ts";
import { Screen, type Terminal } from "../../src/ui/screen.ts";
import { TerminalModes } from "../../src/ui/terminal-modes.ts";
import { resolveTheme } from "../../src/ui/theme.ts";
import { type Robot, robotAt } from "../support/robot.ts";
import { temporaryDirectory } from "../support/temp.ts";

export interface ScreenOptions {
  cols?: number;
  rows?: number;
  env?: NodeJS.ProcessEnv;
  ascii?: boolean;
  /** What the config file says. */
  config?: Config;
  /** Directories of more sources than the one of `screenOn`. */
  roots?: readonly { source: string; path: string }[];
  /** Reads everything before there is a screen, as a first start may. */
  readFirst?: boolean;
  /** With title, notices and counts, as in the program. */
  attended?: boolean;
  /** Variables that say what colours there are; without them, all. */
  colours?: NodeJS.ProcessEnv;
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
export function screenOn(directory: string, options: ScreenOptions = {}): Promise<AtScreen> {
  return screenOver({ ...options, roots: [{ source: "statefile", path: directory }, ...(options.roots ?? [])] });
}

/** Opens the screen on directories of any sources. */
export async function screenOver(options: ScreenOptions): Promise<AtScreen> {
  const { cols = 80, rows = 24, ascii = false, config, roots = [] } = options;
  const env = { HOME: "/nowhere", FORKTAIL_STATE_DIR: temporaryDirectory(), PATH: "", ...options.env };
  const root = roots.map(({ source, path }) => `${source}=${path}`);
  const place = await openWorkplace({ root, ...(config ? { config: configFile(config) } : {}) }, { env, only: true });
  const store = newStore(now(env));
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
  if (options.readFirst) await place.live.start(feed(store));
  const screen = new Screen(store, place, place.config, terminal, place.config.ascii ?? ascii);
  const { keymap } = keymapOf(place.config.keys);
  const look = {
    theme: resolveTheme(
      { TERM: "xterm-256color", ...(options.colours ?? { COLORTERM: "truecolor" }) },
      place.config.theme ? { theme: place.config.theme } : {},
    ).theme,
    ascii: place.config.ascii ?? ascii,
    still: place.config.still ?? false,
  };
  const robot = await robotAt(createElement(App, { screen, keymap, look }), { cols, rows });
  const attendance = options.attended ? attended(screen, written) : null;
  onTestFinished(async () => {
    screen.close();
    await attendance?.close();
    await place.live.close();
  });
  if (!options.readFirst) await place.live.start(feed(store));
  await robot.seeNo("Reading the sessions");
  await robot.settle();
  return { robot, screen, store, place, asked };
}

function attended(screen: Screen, written: PassThrough): Attendance {
  const modes = new TerminalModes(written, screen.config.mouse ?? false);
  modes.enter();
  return new Attendance(screen, modes, (text) => written.write(text));
}

function configFile(config: Config): string {
  const path = join(temporaryDirectory(), "config.json");
  writeFileSync(path, JSON.stringify(config));
  return path;
}
