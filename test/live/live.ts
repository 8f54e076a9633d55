import { onTestFinished } from "vitest";
import { Live, type Sink } from "../../src/live/live.ts";
import { Memory } from "../../src/memory/memory.ts";
import type { Problem } from "../../src/session/problem.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { SOURCES } from "../../src/sources/index.ts";
import type { Source } from "../../src/sources/source.ts";
import type { WatchTrouble } from "../../src/watch/watcher.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";

/** The live pipeline over directories, and all it has said so far. */
export class Followed {
  readonly sessions = new Map<string, Snapshot>();
  readonly problems = new Map<string, Problem[]>();
  readonly troubles: WatchTrouble[] = [];
  /** Keys in the order in which they were told. */
  readonly told: string[] = [];
  readonly live: Live;

  constructor(
    roots: readonly string[],
    { poll = false, sources = SOURCES, source = sources[0]?.name ?? "", state }: FollowOptions = {},
  ) {
    this.live = new Live({
      sources,
      roots: roots.map((path, at) => ({ source, index: at + 1, path, explicit: true })),
      memory: new Memory(state ?? temporaryDirectory()),
      env: {},
      poll,
    });
    onTestFinished(() => this.live.close());
  }

  readonly sink: Sink = {
    commit: (source, delta) => {
      for (const one of delta.changed) this.sessions.set(one.key, one);
      for (const key of delta.removed) this.sessions.delete(key);
      this.told.push(...delta.changed.map((one) => one.key), ...delta.removed.map((key) => `-${key}`));
      if (delta.problems !== null) this.problems.set(source, delta.problems);
    },
    trouble: (trouble) => this.troubles.push(trouble),
    scanned: () => this.told.push("scanned"),
  };

  /** Waits until a session is as it should be; fails with what it was last. */
  async until(key: string, ok: (snapshot: Snapshot | undefined) => boolean, mostMs = 8000): Promise<void> {
    await until(() => this.sessions.get(key), ok, mostMs);
  }
}

interface FollowOptions {
  poll?: boolean;
  sources?: readonly Source[];
  /** Whose roots they are; the first source's. */
  source?: string;
  /** Our own state directory; a new one. */
  state?: string;
}

/** Follows these directories until the test is over; resolves when everything was read once. */
export async function following(roots: readonly string[], options: FollowOptions = {}): Promise<Followed> {
  const followed = new Followed(roots, options);
  await followed.live.start(followed.sink);
  return followed;
}
