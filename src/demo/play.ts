import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PLAYERS } from "./players/index.ts";
import type { PlayedSession, Player, Stage } from "./players/player.ts";
import { type Scenario, type TimedBeat, timeline } from "./scenario.ts";
import { demoSessions } from "./sessions.ts";

export interface DemoOptions {
  /** Where to play; made if it is not there, kept afterwards. Without it a temporary directory that `stop` removes. */
  dir?: string;
  /** Story seconds a second, 1 by default. `Infinity`: write everything up to `at` and return. */
  speed?: number;
  /** Where in the story to begin, seconds. Everything before is written at once, with the times it would have. */
  at?: number;
  /** The clock on the wall when the demo starts; the present by default. Fixed for pictures and tests. */
  now?: Date;
  /** Stops the demo. */
  signal?: AbortSignal;
  sessions?: readonly Scenario[];
}

export interface Demo {
  dir: string;
  /** What was made, for `--root source=path`. */
  roots: { source: string; path: string }[];
  /** Variables that make the rest of the machine part of the story: the programs that seem to be running. */
  env: Record<string, string>;
  /** Stops playing and removes the directory if it was a temporary one. */
  stop(): Promise<void>;
  /** Resolves when the story is over or stopped. */
  done: Promise<void>;
}

/**
 * Plays the bundled sessions as real files of real formats: what is in the past is there when this resolves, the rest
 * is written live. The same sessions, times and `now` give the same bytes.
 */
export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { speed = 1, at = 0, now = new Date(), sessions = demoSessions() } = options;
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), "forktail-demo-")));
  await mkdir(dir, { recursive: true });
  const stopped = new AbortController();
  const signal = options.signal === undefined ? stopped.signal : AbortSignal.any([options.signal, stopped.signal]);
  const stage: Stage = { dir, processes: [] };
  const wall = (story: number): Date => {
    const ahead = story - at;
    return new Date(now.getTime() + (ahead <= 0 || !Number.isFinite(speed) ? ahead : ahead / speed) * 1000);
  };

  const started = performance.now();
  const acts = await Promise.all(sessions.map((session) => begin(session, sessions, stage, at, wall)));
  await writeProcesses(stage);

  const live = async (act: Act): Promise<void> => {
    for (let next = act.next(); next !== null; next = act.next()) {
      const inMs = ((next.due - at) / speed) * 1000 - (performance.now() - started);
      if (inMs > 0) await pause(inMs, undefined, { signal, ref: false });
      signal.throwIfAborted();
      const pretended = JSON.stringify(stage.processes);
      act.session.play(next, wall(next.at));
      await act.session.flush(null);
      if (pretended !== JSON.stringify(stage.processes)) await writeProcesses(stage);
    }
  };
  const playing = Number.isFinite(speed) ? acts.map(live) : [];
  const done = Promise.allSettled(playing).then((ends) => {
    const failed = ends.find((end) => end.status === "rejected" && !signal.aborted);
    stopped.abort();
    if (failed?.status === "rejected") throw failed.reason;
  });
  // Whoever does not wait for the end must not be ended by its failure.
  done.catch(() => undefined);

  return {
    dir,
    roots: playersOf(sessions).map((player) => ({ source: player.source, path: player.root(dir) })),
    env: { FORKTAIL_PROCESSES: join(dir, PROCESSES) },
    done,
    async stop() {
      stopped.abort();
      await done.catch(() => undefined);
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

const PROCESSES = "processes.json";

interface Act {
  session: PlayedSession;
  /** The next beat that is still to come, null at the end. */
  next(): TimedBeat | null;
}

/** Writes a session's past. */
async function begin(
  scenario: Scenario,
  all: readonly Scenario[],
  stage: Stage,
  at: number,
  wall: (story: number) => Date,
): Promise<Act> {
  const player = PLAYERS.find((one) => one.source === scenario.source);
  if (player === undefined) throw new Error(`nobody plays sessions of ${scenario.source}`);
  const session = player.begin(scenario, stage);
  const beats = timeline(scenario, all);
  const take = (): TimedBeat | null => {
    const next = beats.next();
    return next.done ? null : next.value;
  };
  let coming = take();
  let last: number | null = null;
  for (; coming !== null && coming.due <= at; coming = take()) {
    session.play(coming, wall(coming.at));
    last = coming.due;
  }
  if (last !== null) await session.flush(wall(last));
  const first = coming;
  let handed = false;
  return {
    session,
    next: () => {
      if (handed) return take();
      handed = true;
      return first;
    },
  };
}

/** Replaced whole, so that nobody reads half a table. */
async function writeProcesses({ dir, processes }: Stage): Promise<void> {
  const temporary = join(dir, `${PROCESSES}.new`);
  await writeFile(temporary, `${JSON.stringify({ processes }, null, 1)}\n`);
  await rename(temporary, join(dir, PROCESSES));
}

function playersOf(sessions: readonly Scenario[]): Player[] {
  return PLAYERS.filter((player) => sessions.some((session) => session.source === player.source));
}
