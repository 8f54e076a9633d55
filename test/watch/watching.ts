import { onTestFinished } from "vitest";
import { Watcher, type WatchTarget, type WatchTrouble } from "../../src/watch/watcher.ts";
import { until } from "../support/until.ts";

/** A watcher, and what it has said. */
export interface Watching {
  watcher: Watcher;
  batches: string[][];
  troubles: WatchTrouble[];
  /** Waits until a path is reported that was not before `since` batches. */
  told(path: string, since?: number): Promise<void>;
}

/** Watches a directory until the test is over. */
export function watching(path: string, options: { poll?: boolean } & Partial<WatchTarget> = {}): Watching {
  const { poll = false, depth = 0, matters = () => true } = options;
  const batches: string[][] = [];
  const troubles: WatchTrouble[] = [];
  const watcher = new Watcher({
    poll,
    onPaths: (paths) => batches.push(paths),
    onTrouble: (trouble) => troubles.push(trouble),
  });
  onTestFinished(() => watcher.close());
  watcher.add([{ path, depth, matters }]);
  return {
    watcher,
    batches,
    troubles,
    told: async (wanted, since = 0) => {
      await until(
        () => batches.slice(since),
        (seen) => seen.some((batch) => batch.includes(wanted)),
        8000,
      );
    },
  };
}

/** Waits until changes in the directory are noticed: writes a file of its own until that is told. */
export async function awake(at: Watching, directory: string, write: (path: string) => void): Promise<void> {
  let round = 0;
  await until(
    () => {
      write(`${directory}/awake.${round}`);
      round += 1;
      return at.batches.flat().some((path) => path.includes("/awake."));
    },
    Boolean,
    8000,
  );
}
