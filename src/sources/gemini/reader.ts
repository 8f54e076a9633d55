import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Folded } from "../../files/fold.ts";
import { now } from "../../probe/clock.ts";
import type { Evidence } from "../../probe/evidence.ts";
import type { Document } from "../../session/document.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { loadPrices, type PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { usageDocument } from "../../usage/usage-document.ts";
import { Board } from "../by-process/board.ts";
import type { Live } from "../by-process/seats.ts";
import type { Delta, ForkAbility, Root, Services, SourceReader, Transcript, ViewName, Watched } from "../source.ts";
import { describe, type GeminiDescribed } from "./describe.ts";
import { branchesDocument, infoDocument, teamDocument } from "./documents.ts";
import type { GeminiFile } from "./file.ts";
import { geminiFold, geminiObjectFold } from "./fold.ts";
import { geminiForks } from "./fork.ts";
import { locate, ProjectPaths, placeOf, projectsFile } from "./places.ts";
import { geminiProgram } from "./program.ts";
import { geminiResume } from "./resume.ts";
import { type Candidate, GeminiSessions } from "./sessions.ts";
import { GeminiTranscript } from "./transcript.ts";

const NAME = "gemini";
const BATCH = 64;

/** Reads Gemini CLI's chats (agents.md §5) and keeps snapshots of its sessions up to date. */
export class GeminiReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #services: Services;
  readonly #sessions = new GeminiSessions();
  readonly #board: Board;
  readonly #described = new Map<string, GeminiDescribed>();
  readonly #projects: Map<string, ProjectPaths>;
  readonly #unreadable = new Map<string, Problem>();
  #listing: Problem[] = [];
  #problems: Problem[] = [];
  #prices: PriceBook | null = null;
  readonly fork: ForkAbility;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    this.#services = services;
    this.#projects = new Map(roots.map((root) => [root.path, new ProjectPaths(root.path)]));
    this.#board = new Board({
      program: geminiProgram,
      services,
      can: ({ snapshot }, live) => {
        if (snapshot.hidden || (live !== null && !live.guess)) return [];
        return snapshot.resume === null ? ["fork", "revert"] : ["fork", "revert", "resume"];
      },
    });
    this.fork = geminiForks({
      session: (key) => this.#must(key),
      fresh: (candidate) => this.#fresh(candidate),
      now: () => now(services.env),
    });
  }

  watched(): Watched[] {
    return this.#roots.flatMap((root) => [
      { path: root.path, depth: 3, matters: (path: string) => placeOf(root.path, path) !== null },
      { path: dirname(root.path), depth: 0, matters: (path: string) => path === projectsFile(root.path) },
    ]);
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    const [prices, ...located] = await Promise.all([loadPrices(), ...this.#roots.map((root) => locate(root))]);
    this.#prices = prices;
    this.#listing = located.flatMap((one) => one.problems);
    for (const projects of this.#projects.values()) projects.refresh();
    const all = located.flatMap((one) => one.found);
    // Folders that say what they stand for may be what others only have the hash of.
    for (const one of all) if (one.place.kind === "project-root") this.#project(one.root, one.place.project, null);
    const found = all.filter((one) => one.place.kind !== "project-root").sort((a, b) => b.mtimeMs - a.mtimeMs);
    const there = new Set(found.map((one) => one.path));
    const dirty = new Set<string>();
    for (const path of this.#sessions.paths()) {
      if (!there.has(path)) for (const id of await this.#read(path)) dirty.add(id);
    }
    for (let at = 0; at < found.length; at += BATCH) {
      for (const one of found.slice(at, at + BATCH)) for (const id of await this.#read(one.path)) dirty.add(id);
      yield this.#delta(dirty, evidence);
      dirty.clear();
    }
    yield { ...this.#delta(dirty, evidence), problems: this.#problems };
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    const dirty = new Set<string>();
    let renamed = false;
    for (const path of new Set(paths)) {
      const names = this.#roots.some((root) => path === projectsFile(root.path)) || basename(path) === ".project_root";
      renamed ||= names;
      if (!names) for (const id of await this.#read(path)) dirty.add(id);
    }
    if (renamed) {
      for (const projects of this.#projects.values()) projects.refresh();
      for (const id of this.#sessions.ids()) dirty.add(id);
    }
    return this.#delta(dirty, evidence);
  }

  tick(evidence: Evidence): Delta {
    return this.#delta(new Set(), evidence);
  }

  views(key: SessionKey): ViewName[] {
    const views: ViewName[] = ["timeline", "context", "branches", "usage"];
    const held = this.#board.get(key);
    if (held !== null && this.#sessions.childrenOf(held.shown.id).length > 0) views.push("team");
    return [...views, "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    const { candidate } = this.#must(key);
    return new GeminiTranscript({
      path: candidate.folded.path,
      advance: (path) => this.#services.files.advance(foldOf(path), path),
      childPath: (id) => this.#sessions.childrenOf(candidate.id).find((one) => one.id === id)?.folded.path ?? null,
    });
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const { candidate, snapshot } = this.#must(key);
    switch (view) {
      case "branches":
        return branchesDocument(candidate.folded.state, snapshot);
      case "usage":
        return usageDocument(snapshot, this.#described.get(candidate.id)?.requests ?? [], await loadPrices());
      case "team":
        return teamDocument(this.#sessions.childrenOf(candidate.id).flatMap((one) => this.#shown(one.id) ?? []));
      case "info":
        return infoDocument(snapshot, candidate, this.#sessions.candidates(candidate.id));
      default:
        throw new Error(`Gemini CLI sessions have no view ${view}`);
    }
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    const { candidate } = this.#must(key);
    const own = this.#described.get(candidate.id)?.requests ?? [];
    const children = this.#sessions.childrenOf(candidate.id).flatMap((one) => {
      const by = this.#shown(one.id)?.title ?? one.id;
      return (this.#described.get(one.id)?.requests ?? []).map((request) => ({ ...request, by }));
    });
    return [...own, ...children];
  }

  async resume(key: SessionKey): ReturnType<SourceReader["resume"]> {
    const { snapshot, live } = this.#must(key);
    const { env } = this.#services;
    return geminiResume(snapshot, live, env, () => now(env));
  }

  actions(): [] {
    return [];
  }

  async close(): Promise<void> {
    this.#board.clear();
    this.#described.clear();
  }

  #shown(id: string): Snapshot | null {
    const key = this.#described.get(id)?.snapshot.key;
    return key === undefined ? null : (this.#board.get(key)?.shown ?? null);
  }

  #must(key: SessionKey): { candidate: Candidate; snapshot: Snapshot; live: Live | null } {
    const held = this.#board.get(key);
    const candidate = held === null ? undefined : this.#sessions.candidates(held.shown.id)[0];
    if (held === null || candidate === undefined) throw new Error(`there is no session ${key}`);
    return { candidate, snapshot: held.shown, live: held.live };
  }

  async #fresh(candidate: Candidate): Promise<Folded<GeminiFile>> {
    const { path } = candidate.folded;
    const result = await this.#services.files.advance(foldOf(path), path);
    if (!result.ok) throw new Error(`${path}: ${result.message}`);
    return result.folded;
  }

  #project(root: Root, project: string, hash: string | null): { path: string; from: string } | null {
    return this.#projects.get(root.path)?.pathOf(project, hash) ?? null;
  }

  /** Brings one path up to date; returns the sessions it may change. */
  async #read(path: string): Promise<Set<string>> {
    const root = this.#roots.find((one) => placeOf(one.path, path) !== null);
    const place = root === undefined ? null : placeOf(root.path, path);
    if (root === undefined || place === null || place.kind === "project-root") return new Set();
    const result = await this.#services.files.advance(foldOf(path), path);
    this.#unreadable.delete(path);
    if (result.ok) return this.#sessions.take(root, place, result.folded);
    if (result.kind !== "gone") {
      this.#unreadable.set(path, { source: NAME, path, kind: result.kind, message: `${path}: ${result.message}` });
    }
    this.#services.files.forget(path);
    return this.#sessions.drop(path);
  }

  #delta(dirty: ReadonlySet<string>, evidence: Evidence): Delta {
    const gone: SessionKey[] = [];
    const changed: GeminiDescribed[] = [];
    for (const id of this.#affected(dirty, evidence)) {
      const before = this.#described.get(id);
      const [candidate, ...twins] = this.#sessions.candidates(id);
      if (candidate === undefined) {
        this.#described.delete(id);
        if (before !== undefined) gone.push(before.snapshot.key);
        continue;
      }
      const described = this.#describe(candidate, twins);
      if (before !== undefined && before.snapshot.key !== described.snapshot.key) gone.push(before.snapshot.key);
      this.#described.set(id, described);
      changed.push(described);
    }
    const update = this.#board.update(changed, gone, evidence);
    const problems = [...this.#listing, ...this.#unreadable.values(), ...this.#sessions.problems()];
    const same = isDeepStrictEqual(problems, this.#problems);
    this.#problems = problems;
    return { ...update, problems: same ? null : problems, recheckAt: null };
  }

  /** What changed, its sub-agents, and chats whose folder a process shows to be a directory's hash. */
  #affected(dirty: ReadonlySet<string>, evidence: Evidence): Set<string> {
    const affected = new Set(dirty);
    for (const { id, place } of this.#sessions.all()) {
      if (place.kind === "child" && dirty.has(place.parent)) affected.add(id);
    }
    const unknown = [...this.#described.values()].filter((one) => one.snapshot.cwd === null);
    if (unknown.length === 0 && dirty.size === 0) return affected;
    for (const { cwd } of evidence.processes?.all ?? []) {
      if (cwd === null) continue;
      for (const projects of this.#projects.values()) {
        if (projects.add(cwd)) for (const one of unknown) affected.add(one.snapshot.id);
      }
    }
    return affected;
  }

  #describe(candidate: Candidate, twins: readonly Candidate[]): GeminiDescribed {
    const { root, place, folded } = candidate;
    return describe({
      candidate,
      twins,
      project: this.#project(root, place.project, folded.state.projectHash),
      origin: place.kind === "child" ? null : this.#sessions.originOf(candidate),
      ownerOf: (message) => this.#sessions.ownerOf(message),
      keyOf: (id) => {
        const there = this.#sessions.candidates(id)[0];
        return there === undefined ? null : sessionKey(NAME, there.root.index, id);
      },
      prices: this.#prices,
    });
  }
}

function foldOf(path: string): typeof geminiFold {
  return path.endsWith(".jsonl") ? geminiFold : geminiObjectFold;
}
