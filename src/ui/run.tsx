import { spawn } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { render, useApp } from "ink";
import { useEffect } from "react";
import type { BegunReading } from "../commands/browse.ts";
import type { Workplace } from "../commands/context.ts";
import { shrinkHeap } from "../live/shrink-heap.ts";
import { SnapshotCache } from "../memory/snapshot-cache.ts";
import { now } from "../probe/clock.ts";
import type { ResumeCommand } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import type { Feed } from "../store/feed.ts";
import type { Store } from "../store/store.ts";
import { GROUPS, SORTS } from "../store/view.ts";
import { App } from "./app.tsx";
import { Attendance } from "./attendance.ts";
import { keymapOf } from "./keymap.ts";
import { Screen, type Terminal } from "./screen.ts";
import { TerminalModes } from "./terminal-modes.ts";
import { resolveTheme } from "./theme.ts";

/** Frames a second at most: tmux before 3.5 shows every one of them half-drawn. */
const MOST_FPS = 20;
const MINUTE = 60_000;
/** Leaving is never slower than this, ms, whatever is still to be saved. */
const LINGER_MS = 500;
/** The first screens are drawn and the index is saved by then. */
const SHRINK_AFTER_MS = 3000;

export interface RunOptions {
  store: Store;
  sink: Feed;
  /** The first reading, when it has begun already. */
  reading: BegunReading | null;
  stdin?: NodeJS.ReadStream;
  stdout?: NodeJS.WriteStream;
  /** Said at once, when the screen opens. */
  greeting?: string;
}

/**
 * Opens the screen and runs it until the person leaves. Returns the exit code. The terminal is restored in every way out but
 * SIGKILL: quitting, signals, a crash; what ended it is then said in one line.
 */
export async function runScreen(place: Workplace, options: RunOptions): Promise<number> {
  const { env, config, memory, live } = place;
  const stdout = options.stdout ?? process.stdout;
  const { store, sink } = options;
  const saved = memory.get("view", "list");
  const sort = SORTS.find((one) => one === saved?.sort) ?? "updated";
  const group = GROUPS.find((one) => one === saved?.group) ?? "none";
  const scope = saved?.here === true ? process.cwd() : null;
  store.setState((state) => ({ view: { ...state.view, sort, group, scope } }));
  const { theme, problem } = resolveTheme(env, config.theme ? { theme: config.theme } : {});
  const ascii = config.ascii ?? !speaksUtf8(env);
  const look = { theme, ascii, still: config.still ?? false };
  const { keymap, problems } = keymapOf(config.keys);

  let leave: (code: number) => void = () => undefined;
  const left = new Promise<number>((resolve) => {
    leave = resolve;
  });
  const bridge: { suspend: ReturnType<typeof useApp>["suspendTerminal"] | null } = { suspend: null };
  const stdin = options.stdin ?? process.stdin;
  const modes = new TerminalModes(stdout, config.mouse ?? false);
  let lent = false;
  const terminal: Terminal = {
    output: stdout,
    lend: async (work) => {
      lent = true;
      modes.leave();
      try {
        if (bridge.suspend) {
          await bridge.suspend(async () => {
            await stopReading(stdin);
            await work();
            // The next frame begins where the program left the cursor.
            stdout.write("\r");
          });
        }
      } finally {
        lent = false;
        modes.enter();
      }
    },
    run: runChild,
    quit: () => leave(0),
    stop: () => {
      // Not awaited: the process stops inside the call, and goes on here when it is continued.
      modes.leave();
      void bridge
        .suspend?.(() => {
          process.kill(0, "SIGTSTP");
        })
        .then(() => modes.enter());
    },
  };
  const screen = new Screen(store, place, config, terminal, ascii);
  const cache = new SnapshotCache(memory.directory);
  // The first frame shows the sessions of the last time, unless reading was so quick that it has some.
  if (options.reading === null) sink.remember(cache.load(new Set(place.roots.map((root) => root.path))));
  // Keys typed while the program started must not be echoed into the first frame, and Ink draws from the column it finds.
  if (stdin.isTTY) stdin.setRawMode(true);
  stdout.write("\r");
  modes.enter();
  // Whatever ends the process, the terminal's modes go back.
  const restore = (): void => modes.leave();
  process.on("exit", restore);
  const instance = render(
    <Bridge bridge={bridge}>
      <App screen={screen} keymap={keymap} look={look} />
    </Bridge>,
    {
      stdout,
      stdin,
      alternateScreen: true,
      incrementalRendering: true,
      maxFps: MOST_FPS,
      exitOnCtrlC: false,
      patchConsole: true,
      interactive: true,
    },
  );
  const ended = endings(leave, () => lent);
  const attendance = new Attendance(screen, modes, (text) => stdout.write(text));
  for (const text of [problem, ...problems, options.greeting]) if (text) screen.say(text);
  const minute = setInterval(() => store.setState({ clock: now(env) }), MINUTE);
  minute.unref();
  await memory.compact();
  options.reading?.goOn();
  (options.reading?.done ?? live.start(sink))
    .then(() => setTimeout(shrinkHeap, SHRINK_AFTER_MS).unref())
    .catch((error: unknown) => screen.say(error instanceof Error ? error.message : String(error), "bad"));

  const code = await left;
  clearInterval(minute);
  sink.flush();
  if (!store.getState().scanning) await cache.save(store.getState().sessions.values()).catch(() => undefined);
  screen.close();
  await attendance.close();
  // The screen stays up while the index is saved: what is typed after it is gone belongs to the shell.
  const closed = live.close();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LINGER_MS))]);
  modes.leave();
  instance.unmount();
  await instance.waitUntilExit().catch(() => undefined);
  ended.stop();
  process.off("exit", restore);
  await closed;
  const words = ended.words();
  if (words !== null) process.stderr.write(`forktail: ${cleanLine(words)}\n`);
  return code;
}

/**
 * Ink lets go of the input but leaves one read under way, and the first keys typed into the program would be ours. Only a
 * stream that flows tells the terminal's handle to stop when it is paused; that Ink listens no more is only known a turn later.
 */
async function stopReading(stdin: NodeJS.ReadStream): Promise<void> {
  await setImmediate();
  stdin.resume();
  stdin.pause();
}

/** Hands Ink's way of lending the terminal out of React. */
function Bridge(props: {
  bridge: { suspend: ReturnType<typeof useApp>["suspendTerminal"] | null };
  children: React.ReactNode;
}) {
  const { suspendTerminal } = useApp();
  const { bridge } = props;
  useEffect(() => {
    bridge.suspend = suspendTerminal;
  }, [bridge, suspendTerminal]);
  return props.children;
}

const SIGNALS = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130 } as const;

/** Signals and crashes end the screen the orderly way, and are told afterwards. */
function endings(leave: (code: number) => void, lent: () => boolean): { words(): string | null; stop(): void } {
  let words: string | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    // Ctrl-C in the program that has the terminal reaches us too, and is meant for it alone.
    if (signal === "SIGINT" && lent()) return;
    words = `stopped by ${signal}; no session was touched`;
    leave(signal in SIGNALS ? SIGNALS[signal as keyof typeof SIGNALS] : 1);
  };
  const onCrash = (error: unknown): void => {
    // The terminal went away: there is nobody to tell.
    if (error instanceof Error && "code" in error && (error.code === "EIO" || error.code === "EPIPE")) {
      leave(129);
      return;
    }
    words = `it crashed: ${error instanceof Error ? error.message : String(error)}. No session was touched; please report it`;
    leave(1);
  };
  for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) process.on(signal, onSignal);
  process.on("uncaughtException", onCrash);
  process.on("unhandledRejection", onCrash);
  return {
    words: () => words,
    stop: () => {
      for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) process.off(signal, onSignal);
      process.off("uncaughtException", onCrash);
      process.off("unhandledRejection", onCrash);
    },
  };
}

function runChild(command: ResumeCommand): Promise<number> {
  const [program = "", ...args] = command.argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", ...(command.cwd === null ? {} : { cwd: command.cwd }) });
    child.on("error", (error) => reject(new Error(`${program} did not start: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });
}

/** Whether the locale shows more than ASCII; unset locales mostly do nowadays, the bare C locale does not. */
function speaksUtf8(env: NodeJS.ProcessEnv): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  return locale === "" || /utf-?8/iu.test(locale);
}
