import { join } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Evidence } from "../../probe/evidence.ts";
import { paneOfProcess } from "../../probe/pane-of-process.ts";
import type { Document } from "../../session/document.ts";
import { parseKey, type SessionKey, sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { loadPrices, type PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import type { Found } from "../agents/locate-files.ts";
import { sameVerdict } from "../agents/same-verdict.ts";
import { SourceFiles } from "../agents/source-files.ts";
import { foldEndsIfThere, readEndsFirst } from "../jsonl/ends-first.ts";
import { BIG_FILE } from "../jsonl/fold-ends.ts";
import type {
  Delta,
  ForkAbility,
  MemberText,
  Root,
  Services,
  SourceReader,
  Transcript,
  ViewName,
  Watched,
} from "../source.ts";
import { SnapshotChanges, ToldProblems } from "../told.ts";
import type { Described } from "./describe.ts";
import { type DescribedWinner, describeFamily } from "./describe-family.ts";
import { claudeDocument } from "./documents.ts";
import { type ClaudeFile, newClaudeFile } from "./file.ts";
import { advanceClaude, claudeFold } from "./fold.ts";
import { claudeForks } from "./fork.ts";
import { findLive, type Live, type Seat } from "./liveness.ts";
import { locate, newestFirst, type Place, placeOf } from "./locate.ts";
import type { Registered } from "./registry.ts";
import { claudeResume } from "./resume.ts";
import { Retention } from "./retention.ts";
import { ClaudeSessions } from "./sessions.ts";
import { snapshotOf } from "./snapshot.ts";
import { judge } from "./status.ts";
import { ClaudeTranscript } from "./transcript.ts";

const NAME = "claude";

/** What is known of one listed session. */
export interface HeldSession extends DescribedWinner {
  id: string;
  archived: boolean;
  /** Was a process known to run it? */
  live: boolean;
  snapshot: Snapshot;
}

/** Reads Claude Code's files (agents.md §1) and keeps snapshots of its sessions up to date. */
export class ClaudeReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #services: Services;
  readonly #sessions = new ClaudeSessions();
  readonly #held = new Map<string, HeldSession>();
  readonly #retention: Retention;
  readonly #files: SourceFiles;
  readonly #problems = new ToldProblems();
  #listing: Problem[] = [];
  #prices: PriceBook | null = null;
  #live = new Map<string, Live>();
  #stale = new Map<string, Registered[]>();
  /** Could processes be looked at the last time? */
  #sight = true;
  #registryRoots = new Set<string>();
  readonly fork: ForkAbility;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    this.#services = services;
    this.#files = new SourceFiles(NAME, services.files);
    this.#retention = new Retention(roots);
    this.fork = claudeForks(
      (key) => this.#must(key),
      (id) => this.#live.get(id) ?? null,
      (held) => this.#fresh(held),
    );
  }

  /** Not the whole root: backups, plug-ins and shell snapshots lie there too. */
  watched(): Watched[] {
    return this.#roots.flatMap((root) => {
      const matters = (path: string): boolean => placeOf(root.path, path) !== null;
      return [
        { path: join(root.path, "projects"), depth: 8, matters },
        { path: join(root.path, "sessions"), depth: 0, matters },
      ];
    });
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    const located = await Promise.all(this.#roots.map((root) => locate(root)));
    this.#listing = located.flatMap((one) => one.problems);
    const found = located.flatMap((one) => one.found);
    const there = new Set(found.map((one) => one.path));
    const dirty = this.#keptOtherwise();
    for (const path of this.#sessions.paths()) {
      if (!there.has(path)) for (const id of await this.#read(path)) dirty.add(id);
    }
    this.#registryRoots = new Set(found.filter((one) => one.place.kind === "registry").map((one) => one.root.path));
    for (const one of found) {
      if (one.place.kind === "session" || one.place.kind === "agent") continue;
      for (const id of this.#sessions.takeSmall(one.root, one.path)) dirty.add(id);
    }
    yield* this.#scanTranscripts(newestFirst(found), dirty, evidence);
  }

  /** Sessions newest first, each with its sub-agents. Big files show their ends first and are read last. */
  async *#scanTranscripts(groups: Found<Place>[][], dirty: Set<string>, evidence: Evidence): AsyncIterable<Delta> {
    const reading = readEndsFirst(groups, {
      ends: async (one) => {
        const ends = await this.#endsOfBig(one);
        return ends === null ? null : this.#sessions.take(one.root, one.path, ends);
      },
      whole: (one) => this.#read(one.path),
    });
    for await (const ids of reading) {
      this.#prices ??= await loadPrices();
      for (const id of ids) dirty.add(id);
      yield this.#delta(dirty, evidence);
      dirty.clear();
    }
    yield { ...this.#delta(dirty, evidence), problems: this.#newProblems() };
  }

  async #endsOfBig({ size, place, path }: Found<Place>): Promise<Folded<ClaudeFile> | null> {
    if (size < BIG_FILE || place.kind !== "session" || this.#held.has(place.id)) return null;
    return await foldEndsIfThere(path, newClaudeFile(), advanceClaude);
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    this.#prices ??= await loadPrices();
    const dirty = this.#keptOtherwise();
    for (const path of new Set(paths)) for (const id of await this.#read(path)) dirty.add(id);
    return { ...this.#delta(dirty, evidence), problems: this.#newProblems() };
  }

  /** All sessions, when settings say another time for them to be deleted. */
  #keptOtherwise(): Set<string> {
    return new Set(this.#retention.refresh() ? this.#held.keys() : []);
  }

  /** All problems when they are others than before, else null. */
  #newProblems(): Problem[] | null {
    return this.#problems.news([...this.#listing, ...this.#files.problems(), ...this.#sessions.problems()]);
  }

  tick(evidence: Evidence): Delta {
    return this.#delta(new Set(), evidence);
  }

  views(key: SessionKey): ViewName[] {
    const held = this.#byKey(key);
    const views: ViewName[] = ["timeline", "context", "branches", "usage"];
    if (held !== null && held.described.subagents.length > 0) views.push("team");
    return [...views, "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    const { id } = this.#must(key);
    return new ClaudeTranscript({
      refresh: async () => this.#fresh(this.#must(key)),
      agents: () => this.#sessions.agents(id),
      advance: (path) => this.#services.files.advance(claudeFold, path),
    });
  }

  files(key: SessionKey): string[] {
    return [this.#must(key).winner.folded.path];
  }

  members(key: SessionKey): MemberText[] {
    return this.#sessions.agents(this.#must(key).id).map(({ id, path }) => ({ of: `agent:${id}`, files: [path] }));
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const held = this.#must(key);
    return claudeDocument(view, held, this.#sessions.agents(held.id), this.#sessions.candidates(held.id));
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    return this.#must(key).described.requests();
  }

  async resume(key: SessionKey): ReturnType<SourceReader["resume"]> {
    const held = this.#must(key);
    return claudeResume(held, this.#live.get(held.id) ?? null);
  }

  actions(): [] {
    return [];
  }

  async close(): Promise<void> {
    this.#held.clear();
  }

  #byKey(key: SessionKey): HeldSession | null {
    const held = this.#held.get(parseKey(key)?.id ?? "");
    return held?.snapshot.key === key ? held : null;
  }

  #must(key: SessionKey): HeldSession {
    const held = this.#byKey(key);
    if (held === null) throw new Error(`there is no session ${key}`);
    return held;
  }

  /** The file as it is now; of a big one that is still being read, what is known. */
  async #fresh(held: HeldSession): Promise<Folded<ClaudeFile>> {
    const { folded } = held.winner;
    if (folded.state.low > 0) return folded;
    return this.#files.fresh(claudeFold, folded.path);
  }

  /** Brings one path up to date; returns the sessions it may change. */
  async #read(path: string): Promise<Set<string>> {
    const root = this.#roots.find((one) => placeOf(one.path, path) !== null);
    const place = root === undefined ? null : placeOf(root.path, path);
    if (root === undefined || place === null) return new Set();
    if (place.kind === "registry") this.#registryRoots.add(root.path);
    if (place.kind !== "session" && place.kind !== "agent") return this.#sessions.takeSmall(root, path);
    return this.#taken(root, path, await this.#files.read(claudeFold, path));
  }

  #taken(root: Root, path: string, folded: Folded<ClaudeFile> | null): Set<string> {
    return folded === null ? this.#sessions.drop(root, path) : this.#sessions.take(root, path, folded);
  }

  #delta(dirty: ReadonlySet<string>, evidence: Evidence): Delta {
    const changes = new SnapshotChanges();
    const renewed = new Map<string, DescribedWinner>();
    const all = new Set([...dirty, ...this.#sessions.summarized()]);
    for (const family of this.#sessions.families(all)) {
      for (const [id, described] of describeFamily(this.#sessions, family)) {
        if (described !== null) renewed.set(id, described);
        else {
          changes.note(this.#held.get(id)?.snapshot ?? null, null);
          this.#held.delete(id);
        }
      }
    }
    this.#look(evidence, renewed);
    const sight = evidence.processes !== null;
    for (const id of new Set([...this.#held.keys(), ...renewed.keys()])) {
      const before = this.#held.get(id) ?? null;
      const parts = renewed.get(id) ?? before;
      if (parts === null) continue;
      const fresh = renewed.has(id);
      // Nobody runs it and nobody did: no clock, process or pane can change it.
      if (!fresh && before !== null && !before.live && !this.#live.has(id) && sight === this.#sight) continue;
      const made = this.#judge(id, parts, evidence, fresh ? null : before);
      changes.note(before?.snapshot ?? null, made.snapshot);
      this.#held.set(id, made);
    }
    this.#sight = sight;
    const { changed, removed } = changes;
    return { changed, removed, problems: null, recheckAt: null };
  }

  /** Which processes run which sessions now. */
  #look(evidence: Evidence, renewed: ReadonlyMap<string, { described: Described }>): void {
    this.#stale = new Map();
    const registered = this.#sessions.registered();
    for (const one of registered) this.#stale.set(one.sessionId, [...(this.#stale.get(one.sessionId) ?? []), one]);
    if (evidence.processes === null) {
      this.#live = new Map();
      return;
    }
    const seats = (): Seat[] =>
      [...new Set([...this.#held.keys(), ...renewed.keys()])].map((id) => {
        const described = (renewed.get(id) ?? this.#held.get(id))?.described;
        return { id, cwd: described?.cwd ?? null, updatedAt: described?.updatedAt ?? null };
      });
    const exists = this.#registryRoots.size > 0;
    this.#live = findLive(seats, registered, exists, evidence.processes);
  }

  #judge(id: string, parts: DescribedWinner, evidence: Evidence, before: HeldSession | null): HeldSession {
    const { winner, described } = parts;
    const { root, folded } = winner;
    const key = sessionKey(NAME, root.index, id);
    const live = this.#live.get(id) ?? null;
    const archived = this.#sessions.archived(winner, id);
    const seen = this.#services.seen(key);
    const updatedAt = new Date(described.updatedAt ?? folded.mtimeMs).toISOString();
    const verdict = judge({
      tail: described.tail,
      live,
      stale: live === null ? (this.#stale.get(id) ?? []) : [],
      processesKnown: evidence.processes !== null,
      archived,
      seen: seen !== null && seen >= updatedAt,
    });
    const pane =
      live === null || evidence.processes === null
        ? null
        : paneOfProcess(live.process, evidence.processes, evidence.tmux);
    const now = { ...verdict, livePane: pane?.id ?? null, openTwice: live?.openTwice ?? [] };
    if (before !== null && before.archived === archived && sameVerdict(before.snapshot, now)) {
      return { ...before, live: live !== null };
    }
    const snapshot = snapshotOf({
      key,
      root,
      main: folded,
      described,
      verdict,
      live,
      livePane: pane?.id ?? null,
      archived,
      expiresAt: this.#retention.expiresAt(root.path, folded.mtimeMs),
      prices: this.#prices,
      keyOf: (other) => {
        const there = this.#sessions.candidates(other)[0];
        return there === undefined ? null : sessionKey(NAME, there.root.index, other);
      },
    });
    return { id, winner, described, archived, live: live !== null, snapshot };
  }
}
