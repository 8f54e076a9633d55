import { lstat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { Memory } from "../memory/memory.ts";
import { now } from "../probe/clock.ts";
import { type Evidence, noEvidence, type ProbeName } from "../probe/evidence.ts";
import { takeEvidence } from "../probe/take.ts";
import type { SessionKey } from "../session/key.ts";
import { parseKey } from "../session/key.ts";
import type { Problem } from "../session/problem.ts";
import type { Delta, Root, Services, Source, SourceReader } from "../sources/source.ts";
import { Watcher, type WatcherFacts, type WatchTrouble } from "../watch/watcher.ts";
import { IndexedFoldedFiles } from "./indexed-files.ts";

export interface LiveOptions {
  sources: readonly Source[];
  roots: readonly Root[];
  memory: Memory;
  env: NodeJS.ProcessEnv;
  /** Never watch, always poll. */
  poll: boolean;
}

/** Where changes go: the store of a screen, or the lines of `watch --json`. */
export interface Sink {
  commit(source: string, delta: Delta): void;
  trouble(trouble: WatchTrouble): void;
  /** All sources were read once. */
  scanned(): void;
  /** Resolves when more of a scan may come; without it, at once. */
  ready?(): Promise<void>;
}

/** How often what runs on the machine is looked at, ms, while sessions change; only for sources that have any. */
const PROBE_MS = 3000;
/** And when nothing was written for a while: a process that ends silently is noticed within this. */
const QUIET_PROBE_MS = 10_000;
const QUIET_AFTER_MS = 30_000;
/** A first reading that takes longer than this is watched while it still goes on, ms. */
const WATCH_WITHIN_MS = 5000;

interface Running {
  source: Source;
  reader: SourceReader;
  /** Its work, one thing after another: a fold is never advanced twice at once. */
  turn: Promise<unknown>;
  recheck: NodeJS.Timeout | null;
  /** Sessions it has shown, and their main files: a source without any needs nothing probed. */
  shown: Map<SessionKey, string>;
  /** What it last said was wrong. */
  problems: Problem[];
  /** How its reader failed the last time. `reading`: at files, which to look again at processes does not mend. */
  failed: { problem: Problem; reading: boolean } | null;
}

/**
 * Keeps readers, watchers and probes going and hands every change on. Data goes one way: files → readers → sink. One
 * reader's failure is a problem of that source, never of the others.
 */
export class Live {
  readonly #options: LiveOptions;
  readonly #running: Running[];
  readonly #files: IndexedFoldedFiles;
  /** Where sessions worked: one tool's names help to read another's. */
  readonly #directories = new Set<string>();
  #watcher: Watcher | null = null;
  #probe: NodeJS.Timeout | null = null;
  #evidence: Evidence;
  #sink: Sink | null = null;
  #closed = false;
  readonly #ended = Promise.withResolvers<void>();
  /** When a session file last changed, by the machine's own clock. */
  #lastChange = performance.now();

  constructor(options: LiveOptions) {
    this.#options = options;
    const { env, memory } = options;
    this.#files = new IndexedFoldedFiles(memory.directory);
    const services: Services = {
      files: this.#files,
      env,
      seen: (key) => memory.get("seen", key),
      copiedFrom: (key) => memory.get("copied", key),
      directories: () => this.#directories,
    };
    this.#evidence = noEvidence(now(env));
    this.#running = options.sources.flatMap((source) => {
      const roots = options.roots.filter((root) => root.source === source.name);
      if (roots.length === 0) return [];
      const reader = source.open(roots, services);
      const [turn, shown] = [Promise.resolve(), new Map()];
      return [{ source, reader, turn, recheck: null, shown, problems: [], failed: null }];
    });
  }

  /** The reader that a key belongs to. Throws when no such source is read. */
  reader(key: SessionKey): SourceReader {
    const name = parseKey(key)?.source;
    const running = this.#running.find((one) => one.source.name === name);
    if (!running) throw new Error(`${key}: no source of that name is read here`);
    return running.reader;
  }

  /** Resolves when other threads are reading, so that this one is free for a while; never, when there is too little to read. */
  handedOver(): Promise<void> {
    return this.#files.handedOver();
  }

  get roots(): readonly Root[] {
    return this.#options.roots;
  }

  get evidence(): Evidence {
    return this.#evidence;
  }

  facts(): WatcherFacts | null {
    return this.#watcher?.facts() ?? null;
  }

  /** Reads everything once, without watching: for one-shot commands. */
  async scan(sink: Sink): Promise<void> {
    this.#sink = sink;
    const probes = new Set(this.#running.flatMap((one) => one.source.probes));
    const looked = takeEvidence(probes, this.#options.env).then((evidence) => {
      this.#evidence = evidence;
    });
    const scans = this.#running.map((one) =>
      this.#inTurn(one, async () => {
        // Who needs no evidence does not wait for it.
        if (one.source.probes.length > 0) await looked;
        await this.#scan(one);
      }),
    );
    await Promise.all(scans);
    // What one source knows of directories may be news to another that was read before it.
    await Promise.all(this.#running.filter(({ source }) => source.needsDirectories).map((one) => this.#tick(one)));
    sink.scanned();
  }

  /** Reads everything and follows it until `close`. Resolves when everything was read once. */
  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    this.#files.prepare();
    // It tells of all that changes from here on, however late it begins to look: reading comes first.
    this.#watcher = new Watcher({
      poll: this.#options.poll,
      onPaths: (paths) => this.#changed(paths),
      onTrouble: (trouble) => sink.trouble(trouble),
    });
    for (const one of this.#running) {
      one.reader.onLive?.((delta) => this.#commit(one, delta));
    }
    const late = setTimeout(() => this.#watch(), WATCH_WITHIN_MS);
    await this.scan(sink);
    clearTimeout(late);
    if (this.#closed) return;
    this.#watch();
    void this.#files.settle();
    void this.#watcher.ready().then(() => this.#lookForRemoved());
    this.#probeLater();
  }

  /** Judges one source's sessions again, or all: after our own memory changed. */
  async recheck(): Promise<void> {
    await Promise.all(this.#running.map((one) => this.#tick(one)));
  }

  #tick(one: Running): Promise<void> {
    return this.#inTurn(one, async () => this.#commit(one, one.reader.tick(this.#seenNow()), false), false);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ended.resolve();
    this.#files.abandon();
    if (this.#probe) clearTimeout(this.#probe);
    for (const one of this.#running) if (one.recheck) clearTimeout(one.recheck);
    await this.#watcher?.close();
    await Promise.all(this.#running.map((one) => one.turn.then(() => one.reader.close())));
    await this.#files.close();
  }

  #watch(): void {
    if (!this.#closed) this.#watcher?.add(this.#running.flatMap((one) => one.reader.watched()));
  }

  #needs(): Set<ProbeName> {
    return new Set(this.#running.flatMap((one) => (one.shown.size > 0 ? one.source.probes : [])));
  }

  #seenNow(): Evidence {
    return { ...this.#evidence, now: now(this.#options.env) };
  }

  async #scan(one: Running): Promise<void> {
    for await (const delta of one.reader.scan(this.#seenNow())) {
      // Who leaves does not wait for what is still unread.
      if (this.#closed) return;
      this.#commit(one, delta);
      const ready = this.#sink?.ready?.();
      if (ready) await Promise.race([ready, this.#ended.promise]);
      // Keys have their turn.
      await setImmediate();
    }
  }

  #changed(paths: string[]): void {
    this.#lastChange = performance.now();
    for (const one of this.#running) {
      const watched = one.reader.watched();
      const mine = paths.filter((path) => watched.some((at) => path === at.path || path.startsWith(`${at.path}/`)));
      if (mine.length === 0) continue;
      void this.#inTurn(one, async () => {
        // A directory itself: it appeared, or went away with all that was in it.
        const whole = mine.some((path) => watched.some((at) => at.path === path));
        if (whole) await this.#scan(one);
        const files = mine.filter((path) => !watched.some((at) => at.path === path));
        if (files.length > 0) this.#commit(one, await one.reader.apply(files, this.#seenNow()));
        this.#watcher?.add(one.reader.watched());
      });
    }
  }

  /** No watcher tells of a file that went away before it was watched. */
  async #lookForRemoved(): Promise<void> {
    const removed: string[] = [];
    for (const path of new Set(this.#running.flatMap((one) => [...one.shown.values()]))) {
      if (this.#closed) return;
      await lstat(path).catch(() => removed.push(path));
    }
    if (removed.length > 0) this.#changed(removed);
  }

  #probeLater(): void {
    if (this.#closed) return;
    const quiet = performance.now() - this.#lastChange > QUIET_AFTER_MS;
    this.#probe = setTimeout(() => void this.#probeNow(), quiet ? QUIET_PROBE_MS : PROBE_MS);
    this.#probe.unref();
  }

  async #probeNow(): Promise<void> {
    const needs = this.#needs();
    if (needs.size > 0) {
      this.#evidence = await takeEvidence(needs, this.#options.env, this.#evidence);
      await this.recheck();
    }
    this.#probeLater();
  }

  #inTurn(one: Running, work: () => Promise<void>, reading = true): Promise<void> {
    const done = one.turn.then(async () => {
      if (this.#closed) return;
      try {
        await work();
      } catch (error) {
        if (reading || one.failed?.reading !== true) one.failed = { problem: readerFailed(one.source, error), reading };
        this.#handOn(one, { changed: [], removed: [], problems: problemsOf(one), recheckAt: null });
      }
    });
    one.turn = done;
    return done;
  }

  #commit(one: Running, delta: Delta, reading = true): void {
    if (delta.problems !== null) one.problems = delta.problems;
    const isOver = one.failed !== null && (reading || !one.failed.reading);
    if (isOver) one.failed = null;
    this.#handOn(one, isOver || delta.problems !== null ? { ...delta, problems: problemsOf(one) } : delta);
  }

  #handOn(one: Running, delta: Delta): void {
    if (this.#closed) return;
    for (const { key, path, cwd } of delta.changed) {
      one.shown.set(key, path);
      if (cwd !== null) this.#directories.add(cwd);
    }
    for (const key of delta.removed) one.shown.delete(key);
    this.#sink?.commit(one.source.name, delta);
    if (one.recheck) clearTimeout(one.recheck);
    one.recheck = null;
    if (delta.recheckAt === null || this.#watcher === null) return;
    const wait = Math.min(Math.max(50, delta.recheckAt - now(this.#options.env) + 20), 2 ** 31 - 1);
    one.recheck = setTimeout(() => {
      void this.#tick(one);
    }, wait);
    one.recheck.unref();
  }
}

function problemsOf({ problems, failed }: Running): Problem[] {
  return failed === null ? problems : [...problems, failed.problem];
}

function readerFailed(source: Source, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  return {
    source: source.name,
    path: "",
    kind: "reader-failed",
    message: `${source.title} could not be read further: ${message}. The others go on; this is a fault of forktail`,
  };
}
