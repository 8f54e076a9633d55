import { existsSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { Poller, type PollTarget } from "./poller.ts";

/** A directory to watch, as a source names it. */
export type WatchTarget = PollTarget;

export interface WatcherOptions {
  /** Never watch, always poll: for network file systems, whose remote writes no watcher sees. */
  poll: boolean;
  /** A batch of changed, added or removed files and directories, absolute. */
  onPaths(paths: string[]): void;
  /** Something is not watched as it should be; said once per cause. */
  onTrouble(trouble: WatchTrouble): void;
}

export interface WatchTrouble {
  kind: "watch-limit" | "watch-error";
  path: string;
  message: string;
}

export interface WatcherFacts {
  mode: "watching" | "polling";
  /** Directories that are watched, or polled. */
  directories: number;
  /** Asked for, not there yet: looked for every few seconds. */
  missing: string[];
}

/** How long changes are gathered, ms: a burst of appends becomes one batch, and the screen follows well within 300 ms. */
const GATHER_MS = 40;
/** A second look after a change, for writes that no event was sent for. */
const BELT_MS = 120;
const MISSING_MS = 2000;
/** How far a file system's clock may lie behind ours, ms. */
const CLOCK_SLACK_MS = 10;

/**
 * Watches directories, never single files, and falls back to polling when the system's watches run out (design §2; knows
 * nothing about formats).
 */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #targets = new Map<string, WatchTarget>();
  readonly #missing = new Set<string>();
  readonly #gathered = new Set<string>();
  readonly #told = new Set<string>();
  /** Directories that were asked for and not yet seen. */
  readonly #starting = new Set<string>();
  readonly #since = Date.now() - CLOCK_SLACK_MS;
  #ready: Promise<void> = Promise.resolve();
  #chokidar: FSWatcher | null = null;
  #poller: Poller | null = null;
  #gather: NodeJS.Timeout | null = null;
  #look: NodeJS.Timeout | null = null;
  #belts = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    if (options.poll) this.#poller = this.#newPoller();
  }

  /** Watches these directories too; those it watches already are left as they are. */
  add(targets: readonly WatchTarget[]): void {
    const fresh = targets.filter((target) => !this.#targets.has(target.path));
    for (const target of fresh) {
      this.#targets.set(target.path, target);
      if (existsSync(target.path)) this.#start(target);
      else this.#missing.add(target.path);
    }
    this.#lookForMissing();
  }

  /** Resolves when everything asked for so far is watched: what was removed before is not reported. */
  ready(): Promise<void> {
    return this.#ready;
  }

  facts(): WatcherFacts {
    const watched = this.#chokidar ? Object.keys(this.#chokidar.getWatched()).length : 0;
    return {
      mode: this.#poller ? "polling" : "watching",
      directories: this.#poller ? this.#poller.directories : watched,
      missing: [...this.#missing],
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#gather) clearTimeout(this.#gather);
    if (this.#look) clearInterval(this.#look);
    for (const belt of this.#belts) clearTimeout(belt);
    this.#poller?.close();
    await this.#chokidar?.close();
  }

  #start(target: WatchTarget): void {
    if (this.#poller) {
      this.#poller.add(target);
      return;
    }
    this.#chokidar ??= this.#newChokidar();
    this.#starting.add(target.path);
    this.#chokidar.add(target.path);
  }

  #newChokidar(): FSWatcher {
    const watcher = watch([], {
      ignoreInitial: false,
      followSymlinks: false,
      ignorePermissionErrors: true,
      atomic: false,
      ignored: (path, stats) => this.#ignored(path, stats?.isFile() ?? false),
    });
    this.#ready = new Promise((resolve) => watcher.once("ready", resolve));
    let isReady = false;
    watcher.once("ready", () => {
      isReady = true;
    });
    watcher.on("all", (event, path, stats) => {
      // What the first look finds was there already, unless it came while others were being looked at.
      if (event === "addDir" && (this.#starting.delete(path) || !isReady)) return;
      if (event === "add" && !isReady && !this.#isNew(stats)) return;
      if (event === "unlinkDir" && this.#targets.has(path)) {
        this.#missing.add(path);
        this.#lookForMissing();
      }
      this.#changed(path);
    });
    watcher.on("error", (error) => this.#watchFailed(error));
    return watcher;
  }

  /** Files that no target cares for, and directories deeper than any target looks. */
  #ignored(path: string, isFile: boolean): boolean {
    const target = this.#targetOf(path);
    if (!target) return false;
    if (path === target.path) return false;
    const depth = path.slice(target.path.length + 1).split("/").length - 1;
    if (isFile) return !target.matters(path);
    return depth > target.depth;
  }

  #isNew(stats: Stats | undefined): boolean {
    return stats !== undefined && stats.ctimeMs >= this.#since;
  }

  #targetOf(path: string): WatchTarget | null {
    for (let at = path; ; ) {
      const target = this.#targets.get(at);
      if (target) return target;
      const up = dirname(at);
      if (up === at) return null;
      at = up;
    }
  }

  #changed(path: string): void {
    if (this.#closed) return;
    this.#gathered.add(path);
    this.#gather ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #flush(): void {
    this.#gather = null;
    const paths = [...this.#gathered];
    this.#gathered.clear();
    this.#options.onPaths(paths);
    const belt = setTimeout(() => {
      this.#belts.delete(belt);
      this.#options.onPaths(paths);
    }, BELT_MS);
    belt.unref();
    this.#belts.add(belt);
  }

  /** ENOSPC and EMFILE are followed by silence: from then on we look ourselves. */
  #watchFailed(error: unknown): void {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const path = error instanceof Error && "path" in error ? String(error.path) : "";
    if (code !== "ENOSPC" && code !== "EMFILE" && code !== "ENFILE") {
      if (code !== "ENOENT")
        this.#tell({ kind: "watch-error", path, message: `${path}: not watched (${code || String(error)})` });
      return;
    }
    if (this.#poller) return;
    this.#tell({
      kind: "watch-limit",
      path,
      message: `the system's limit of watches is reached (${code}); looking every 2 s instead. Raise fs.inotify.max_user_watches to watch again`,
    });
    this.#poller = this.#newPoller();
    for (const target of this.#targets.values()) {
      if (!this.#missing.has(target.path)) this.#poller.add(target);
    }
    void this.#chokidar?.close();
    this.#chokidar = null;
  }

  #newPoller(): Poller {
    return new Poller((paths) => {
      for (const path of paths) this.#changed(path);
    });
  }

  #tell(trouble: WatchTrouble): void {
    const once = `${trouble.kind} ${trouble.path}`;
    if (this.#told.has(once)) return;
    this.#told.add(once);
    this.#options.onTrouble(trouble);
  }

  /** A directory that appears later is watched from then on, and reported as a whole. */
  #lookForMissing(): void {
    if (this.#missing.size === 0 || this.#look || this.#closed) return;
    this.#look = setInterval(() => {
      for (const path of [...this.#missing]) {
        if (!existsSync(path)) continue;
        this.#missing.delete(path);
        const target = this.#targets.get(path);
        if (target) this.#start(target);
        this.#changed(path);
      }
      if (this.#missing.size === 0 && this.#look) {
        clearInterval(this.#look);
        this.#look = null;
      }
    }, MISSING_MS);
    this.#look.unref();
  }
}
