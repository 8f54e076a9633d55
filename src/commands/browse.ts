import { isFirstStart } from "../memory/state-directory.ts";
import { now } from "../probe/clock.ts";
import { type Feed, feed } from "../store/feed.ts";
import { newStore, type Store } from "../store/store.ts";
import { listed, openWorkplace, print, readEverything, type SharedOptions, type Workplace } from "./context.ts";
import { list } from "./list.ts";
import { sessionTable } from "./session-table.ts";

/** How long the screen waits for a first reading to be under way, ms, and then for its first sessions. */
const HAND_OVER_MS = 200;
const FIRST_ROWS_MS = 200;

/** A reading that has begun before the screen is there. */
export interface BegunReading {
  done: Promise<void>;
  /** Waits a little for the first sessions. */
  firstSessions(): Promise<void>;
  /** The screen is drawn. */
  goOn(): void;
}

export interface BrowseOptions extends SharedOptions {
  plain?: boolean;
}

/** `forktail`: the screen. Where there is no terminal to draw on, and with `--plain`, the sessions are printed once instead. */
export async function browse(options: BrowseOptions): Promise<number> {
  if (options.json) return list(options);
  const place = await openWorkplace(options);
  if (options.plain || !process.stdout.isTTY || !process.stdin.isTTY) return printOnce(place, options);
  return openScreen(place);
}

/** The screen over a workplace. Its code is only loaded when it is needed. */
export async function openScreen(place: Workplace, greeting?: string): Promise<number> {
  const store = newStore(now(place.env));
  const sink = feed(store);
  const reading = isFirstStart(place.memory.directory) ? await beginReading(place, store, sink) : null;
  const { runScreen } = await withColours(place, () => import("../ui/run.tsx"));
  await reading?.firstSessions();
  return runScreen(place, { store, sink, reading, ...(greeting === undefined ? {} : { greeting }) });
}

/**
 * A first start has nothing remembered that it could show at once. So reading comes first, and goes on in its threads while the
 * screen is loaded; what they find meanwhile waits, but for the first sessions: it would take this thread from the screen.
 */
async function beginReading(place: Workplace, store: Store, sink: Feed): Promise<BegunReading> {
  const drawn = Promise.withResolvers<void>();
  const done = place.live.start({ ...sink, ready: () => drawn.promise });
  await within(HAND_OVER_MS, place.live.handedOver(), done);
  return {
    done,
    firstSessions: () => within(FIRST_ROWS_MS, firstSessions(store), done),
    goOn: drawn.resolve,
  };
}

/** Waits for the first of these that ends or fails, and not for long: whoever uses them hears of a failure. */
async function within(mostMs: number, ...first: Promise<unknown>[]): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, mostMs);
  await Promise.race([late.promise, ...first]).catch(() => undefined);
  clearTimeout(timer);
}

function firstSessions(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.subscribe(({ sessions }) => {
      if (sessions.size === 0) return;
      stop();
      resolve();
    });
    if (store.getState().sessions.size > 0) resolve();
  });
}

/**
 * The theme decides about colours, from the same variables; bold and reverse must reach the screen without colours too. The
 * library that writes them looks at the environment once, while it is loaded; programs that we start see it as it was.
 */
async function withColours<T>({ env, config }: Workplace, load: () => Promise<T>): Promise<T> {
  const plain = Boolean(env.NO_COLOR) || env.TERM === "dumb" || config.theme === "none";
  const full = /truecolor|24bit/iu.test(env.COLORTERM ?? "");
  const { FORCE_COLOR, NO_COLOR } = process.env;
  process.env.FORCE_COLOR = plain ? "1" : full ? "3" : "2";
  delete process.env.NO_COLOR;
  try {
    return await load();
  } finally {
    if (FORCE_COLOR === undefined) delete process.env.FORCE_COLOR;
    else process.env.FORCE_COLOR = FORCE_COLOR;
    if (NO_COLOR !== undefined) process.env.NO_COLOR = NO_COLOR;
  }
}

/** The sessions of a workplace as plain lines, once. */
export async function printOnce(place: Workplace, options: SharedOptions): Promise<number> {
  const { sessions, problems } = await readEverything(place);
  const { sessions: shown, hidden } = listed(sessions, place.memory, options.all ?? false);
  await print(
    sessionTable(shown, {
      problems,
      hidden,
      now: place.live.evidence.now,
      columns: process.stdout.columns ?? Number.POSITIVE_INFINITY,
    }),
  );
  await place.live.close();
  return 0;
}
