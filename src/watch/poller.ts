import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface PollTarget {
  path: string;
  /** Levels of directories below `path` that matter. */
  depth: number;
  matters(path: string): boolean;
}

const STAT_MS = 2000;
const LIST_EVERY = 5;
/** Files written in the last hour are looked at each time, the others only with the listing. */
const RECENT_MS = 60 * 60_000;

/** Looks for changes by itself: recent files every 2 s, all of them and the directories every 10 s. */
export class Poller {
  readonly #onPaths: (paths: string[]) => void;
  readonly #targets: PollTarget[] = [];
  readonly #known = new Map<string, { size: number; mtimeMs: number; ino: number }>();
  #round = 0;
  #directories = 0;
  #busy = false;
  readonly #timer: NodeJS.Timeout;

  constructor(onPaths: (paths: string[]) => void, everyMs = STAT_MS) {
    this.#onPaths = onPaths;
    this.#timer = setInterval(() => void this.#look(), everyMs);
    this.#timer.unref();
  }

  get directories(): number {
    return this.#directories;
  }

  add(target: PollTarget): void {
    this.#targets.push(target);
    this.#round = 0;
    void this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const list = this.#round % LIST_EVERY === 0;
      // Counted before the work: a directory that is added meanwhile asks for a listing next.
      this.#round += 1;
      const changed = list ? await this.#listAll() : await this.#statRecent();
      if (changed.length > 0) this.#onPaths(changed);
    } finally {
      this.#busy = false;
    }
  }

  async #listAll(): Promise<string[]> {
    const changed: string[] = [];
    const seen = new Set<string>();
    let directories = 0;
    const walk = async (directory: string, target: PollTarget, depth: number): Promise<void> => {
      directories += 1;
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = join(directory, entry.name);
        if (entry.isDirectory()) {
          if (depth < target.depth) await walk(path, target, depth + 1);
        } else if (entry.isFile() && target.matters(path)) {
          seen.add(path);
          if (await this.#differs(path)) changed.push(path);
        }
      }
    };
    for (const target of this.#targets) await walk(target.path, target, 0);
    for (const path of this.#known.keys()) {
      if (seen.has(path)) continue;
      this.#known.delete(path);
      changed.push(path);
    }
    this.#directories = directories;
    return changed;
  }

  async #statRecent(): Promise<string[]> {
    const changed: string[] = [];
    const since = Date.now() - RECENT_MS;
    for (const [path, { mtimeMs }] of this.#known) {
      if (mtimeMs >= since && (await this.#differs(path))) changed.push(path);
    }
    return changed;
  }

  async #differs(path: string): Promise<boolean> {
    const now = await lstat(path).catch(() => null);
    const before = this.#known.get(path);
    if (now === null) return this.#known.delete(path);
    this.#known.set(path, { size: now.size, mtimeMs: now.mtimeMs, ino: now.ino });
    return before === undefined || before.size !== now.size || before.mtimeMs !== now.mtimeMs || before.ino !== now.ino;
  }
}
