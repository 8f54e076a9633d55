import { dirname, join } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Evidence } from "../../probe/evidence.ts";
import { paneOfProcess } from "../../probe/pane-of-process.ts";
import type { Document } from "../../session/document.ts";
import { parseKey, type SessionKey, sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { loadPrices, type PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { byModified, type Found } from "../agents/locate-files.ts";
import { sameVerdict } from "../agents/same-verdict.ts";
import { SourceFiles } from "../agents/source-files.ts";
import { foldEndsIfThere, readEndsFirst } from "../jsonl/ends-first.ts";
import { BIG_FILE } from "../jsonl/fold-ends.ts";
import type { Delta, ForkAbility, Root, Services, SourceReader, Transcript, ViewName, Watched } from "../source.ts";
import { SnapshotChanges, ToldProblems } from "../told.ts";
import { type Described, describe } from "./describe.ts";
import { codexDocument } from "./documents.ts";
import { type CodexFile, newCodexFile } from "./file.ts";
import { advanceCodex, codexFold, codexZstFold } from "./fold.ts";
import { codexForks } from "./fork.ts";
import { type Guess, guessOwners } from "./guess.ts";
import { locate } from "./locate.ts";
import { type Holder, holderOf, isCodex, LOCK_DIRECTORY, lockInode, lockPath, openedTwice } from "./locks.ts";
import { threadRequests } from "./requests.ts";
import { codexResume } from "./resume.ts";
import { baseOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";
import { snapshotOf } from "./snapshot.ts";
import { judge } from "./status.ts";
import { ThreadNames } from "./thread-names.ts";
import { CodexThreads, type Place, placeOf } from "./threads.ts";
import { CodexTranscript } from "./transcript.ts";

const NAME = "codex";

/** What is known of one thread. */
export interface HeldThread {
  current: Rollout;
  described: Described;
  holder: Holder;
  snapshot: Snapshot;
}

/** Reads Codex's rollouts (agents.md §2) and keeps snapshots of its threads up to date. */
export class CodexReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #services: Services;
  readonly #threads = new CodexThreads();
  readonly #held = new Map<string, HeldThread>();
  readonly #files: SourceFiles;
  readonly #problems = new ToldProblems();
  readonly #names: ThreadNames;
  /** Lock path → inode. */
  readonly #locks = new Map<string, number>();
  #listing: Problem[] = [];
  #prices: PriceBook | null = null;
  #lookup: RolloutLookup;
  #guesses = new Map<string, Guess>();
  readonly fork: ForkAbility;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    this.#services = services;
    this.#files = new SourceFiles(NAME, services.files);
    this.#names = new ThreadNames(services.files);
    this.#lookup = this.#newLookup();
    this.fork = codexForks({
      heldOf: (key) => this.#must(key),
      refresh: (held) => this.#refresh(held),
      lookup: () => this.#lookup,
      now: () => new Date(),
    });
  }

  /** Not the whole root: caches and logs lie there too. */
  watched(): Watched[] {
    return this.#roots.flatMap((root) => {
      const matters = (path: string): boolean => placeOf(root.path, path) !== null;
      return [
        { path: root.path, depth: 0, matters },
        { path: join(root.path, "sessions"), depth: 3, matters },
        { path: join(root.path, "archived_sessions"), depth: 0, matters },
        { path: join(root.path, LOCK_DIRECTORY), depth: 0, matters },
      ];
    });
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    const located = await Promise.all(this.#roots.map((root) => locate(root)));
    this.#listing = located.flatMap((one) => one.problems);
    const found = located.flatMap((one) => one.found);
    const there = new Set(found.map((one) => one.path));
    const dirty = new Set<string>();
    const add = (threads: Iterable<string>): void => {
      for (const thread of threads) dirty.add(thread);
    };
    for (const path of this.#threads.paths()) if (!there.has(path)) add(await this.#read(path));
    for (const one of found) if (one.place.kind !== "rollout") add(await this.#read(one.path));
    const rollouts = found.filter((one) => one.place.kind === "rollout").sort(byModified);
    const reading = readEndsFirst(
      rollouts.map((one) => [one]),
      {
        ends: async (one) => {
          const ends = await this.#endsOfBig(one);
          return ends === null ? null : this.#threads.take(one.root, one.path, ends);
        },
        whole: (one) => this.#read(one.path),
      },
    );
    for await (const threads of reading) {
      this.#prices ??= await loadPrices();
      add(threads);
      yield this.#delta(dirty, evidence);
      dirty.clear();
    }
    yield { ...this.#delta(dirty, evidence), problems: this.#newProblems() };
  }

  async #endsOfBig({ size, path }: Found<Place>): Promise<Folded<CodexFile> | null> {
    if (size < BIG_FILE || path.endsWith(".zst") || this.#threads.knows(path)) return null;
    return await foldEndsIfThere(path, newCodexFile(), advanceCodex);
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    this.#prices ??= await loadPrices();
    const dirty = new Set<string>();
    for (const path of new Set(paths)) for (const thread of await this.#read(path)) dirty.add(thread);
    return { ...this.#delta(dirty, evidence), problems: this.#newProblems() };
  }

  /** All problems when they are others than before, else null. */
  #newProblems(): Problem[] | null {
    return this.#problems.news([...this.#listing, ...this.#files.problems(), ...this.#threads.problems()]);
  }

  tick(evidence: Evidence): Delta {
    return this.#delta(new Set(), evidence);
  }

  views(key: SessionKey): ViewName[] {
    const thread = parseKey(key)?.id ?? "";
    const views: ViewName[] = ["timeline", "context", "branches", "usage"];
    if (this.#threads.children(thread).some((child) => this.#held.get(child)?.snapshot.hidden === true))
      views.push("team");
    return [...views, "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    this.#must(key);
    return new CodexTranscript({
      refresh: async () => {
        const held = this.#must(key);
        const current = await this.#refresh(held);
        return { current, files: this.#threads.of(held.described.thread), lookup: this.#lookup };
      },
      thread: (id) => this.#threads.of(id),
    });
  }

  /** Its current file and those it is based on; bytes of compressed ones say nothing. */
  files(key: SessionKey): string[] | null {
    const { current } = this.#must(key);
    const files = [current];
    for (let base = baseOf(current, this.#lookup)?.file; base && !files.includes(base); ) {
      files.push(base);
      base = baseOf(base, this.#lookup)?.file;
    }
    return files.some((file) => file.name.compressed) ? null : files.map((file) => file.path);
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const held = this.#must(key);
    const children = this.#threads.children(held.described.thread).map((child) => this.#held.get(child)?.snapshot);
    return codexDocument(
      view,
      held,
      children.filter((child) => child !== undefined && child.parent?.key === key),
      this.#lookup,
    );
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    return this.#must(key).described.requests();
  }

  async resume(key: SessionKey): ReturnType<SourceReader["resume"]> {
    return codexResume(this.#must(key));
  }

  actions(): [] {
    return [];
  }

  async close(): Promise<void> {
    this.#held.clear();
  }

  #newLookup(): RolloutLookup {
    return this.#threads.lookup((thread) => {
      const root = this.#threads.of(thread).at(-1)?.root.index ?? 1;
      const from = this.#services.copiedFrom(sessionKey(NAME, root, thread));
      return from === null ? null : (parseKey(from)?.id ?? null);
    });
  }

  #must(key: SessionKey): HeldThread {
    const held = this.#held.get(parseKey(key)?.id ?? "");
    if (held === undefined || held.snapshot.key !== key) throw new Error(`there is no session ${key}`);
    return held;
  }

  /** The current file as it is now; of a big one that is still being read, what is known. */
  async #refresh(held: HeldThread): Promise<Rollout> {
    const { current } = held;
    if (current.folded.state.low > 0) return current;
    return { ...current, folded: await this.#files.fresh(foldFor(current.path), current.path) };
  }

  /** Brings one path up to date; returns the threads it may change. */
  async #read(path: string): Promise<Set<string>> {
    const root = this.#roots.find((one) => placeOf(one.path, path) !== null);
    const place = root === undefined ? null : placeOf(root.path, path);
    if (root === undefined || place === null) return new Set();
    if (place.kind === "index") return this.#names.read(root, path);
    if (place.kind === "lock") {
      const inode = lockInode(path);
      if (inode === null) this.#locks.delete(path);
      else this.#locks.set(path, inode);
      return new Set();
    }
    const folded = await this.#files.read(foldFor(path), path);
    return folded === null ? this.#threads.drop(path) : this.#threads.take(root, path, folded);
  }

  #delta(dirty: ReadonlySet<string>, evidence: Evidence): Delta {
    const changes = new SnapshotChanges();
    if (dirty.size > 0) this.#lookup = this.#newLookup();
    const renewed = new Map<string, { current: Rollout; described: Described }>();
    for (const thread of dirty) {
      const files = this.#threads.of(thread);
      const current = files.at(-1);
      const described =
        current === undefined ? null : describe(thread, files, this.#names.of(thread, current.root), this.#lookup);
      if (current !== undefined && described !== null) renewed.set(thread, { current, described });
      else {
        const held = this.#held.get(thread);
        changes.note(held?.snapshot ?? null, null);
        this.#held.delete(thread);
      }
    }
    this.#guess(evidence, renewed);
    for (const thread of new Set([...this.#held.keys(), ...renewed.keys()])) {
      const before = this.#held.get(thread) ?? null;
      const parts = renewed.get(thread) ?? before;
      if (parts === null) continue;
      // No lock file, nobody in its folder: no clock, process or pane can change it.
      if (before !== null && !renewed.has(thread) && this.#isQuiet(thread, before, evidence)) continue;
      const made = this.#judge(thread, parts, evidence, renewed.has(thread) ? null : before);
      changes.note(before?.snapshot ?? null, made.snapshot);
      this.#held.set(thread, made);
    }
    const { changed, removed } = changes;
    return { changed, removed, problems: null, recheckAt: null };
  }

  #isQuiet(thread: string, before: HeldThread, evidence: Evidence): boolean {
    const { holder, current, snapshot } = before;
    if (holder.held !== "no" || snapshot.extra.pid !== null || this.#guesses.has(thread)) return false;
    if (evidence.processes?.all.some((process) => process.locksHeld.length > 0) === true) return false;
    return !this.#locks.has(lockPath(current.root.path, thread));
  }

  /** Codex versions without locks: who is in their folders. */
  #guess(evidence: Evidence, renewed: ReadonlyMap<string, { current: Rollout; described: Described }>): void {
    this.#guesses = new Map();
    const codexes =
      evidence.processes?.all.filter((process) => isCodex(process) && process.locksHeld.length === 0) ?? [];
    if (codexes.length === 0) return;
    const locked = new Set([...this.#locks.keys()].map((path) => dirname(dirname(path))));
    this.#guesses = guessOwners(codexes, new Map([...this.#held, ...renewed]), locked);
  }

  #judge(
    thread: string,
    parts: { current: Rollout; described: Described },
    evidence: Evidence,
    before: HeldThread | null,
  ): HeldThread {
    const { current, described } = parts;
    const key = sessionKey(NAME, current.root.index, thread);
    const path = lockPath(current.root.path, thread);
    const holder = holderOf(path, this.#locks.get(path) ?? null, evidence);
    const guess = holder.held === "yes" ? null : (this.#guesses.get(thread) ?? null);
    const seen = this.#services.seen(key);
    const updatedAt = new Date(described.updatedAt ?? current.folded.mtimeMs).toISOString();
    const verdict = judge({
      tail: described.tail,
      holder,
      guess,
      archived: current.archived,
      seen: seen !== null && seen >= updatedAt,
    });
    const process = holder.process ?? guess?.process ?? null;
    const pane =
      process === null || evidence.processes === null
        ? null
        : paneOfProcess(process, evidence.processes, evidence.tmux);
    const openTwice = process === null ? [] : openedTwice(thread, holder, new Set(this.#locks.values()), evidence);
    const now = { ...verdict, livePane: pane?.id ?? null, openTwice };
    if (before !== null && sameVerdict(before.snapshot, now)) return { ...before, holder };
    const snapshot = snapshotOf({
      key,
      current,
      described,
      verdict,
      holder,
      guess,
      livePane: pane?.id ?? null,
      openTwice,
      prices: this.#prices,
      keyOf: (other) => {
        const there = this.#threads.of(other).at(-1);
        return there === undefined ? null : sessionKey(NAME, there.root.index, other);
      },
      subagents: this.#subagentsOf(thread),
    });
    return { current, described, holder, snapshot };
  }

  #subagentsOf(thread: string): { agentId: string; type: string | null; calls: number }[] {
    return this.#threads.children(thread).flatMap((child) => {
      const files = this.#threads.of(child);
      const current = files.at(-1);
      const meta = current === undefined ? null : metaOf(current);
      if (meta === null || meta.kind === "user") return [];
      const calls = threadRequests(child, files, this.#lookup).length;
      return [{ agentId: child, type: meta.kind === "internal" ? "internal" : meta.role, calls }];
    });
  }
}

function foldFor(path: string): typeof codexFold {
  return path.endsWith(".zst") ? codexZstFold : codexFold;
}
