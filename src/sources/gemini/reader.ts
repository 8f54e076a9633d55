import { basename, dirname } from "node:path";
import { now } from "../../probe/clock.ts";
import type { Evidence } from "../../probe/evidence.ts";
import type { Document } from "../../session/document.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { loadPrices, type PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { usageDocument } from "../../usage/usage-document.ts";
import { startedDocument } from "../agents/document-blocks.ts";
import { SourceFiles } from "../agents/source-files.ts";
import { type DescribedRequests, DescribedSessions } from "../by-process/described-sessions.ts";
import type { Live } from "../by-process/seats.ts";
import { readBatches } from "../jsonl/ends-first.ts";
import type { Delta, ForkAbility, Root, Services, SourceReader, Transcript, ViewName, Watched } from "../source.ts";
import { ToldProblems } from "../told.ts";
import { describe } from "./describe.ts";
import { branchesDocument, infoDocument } from "./documents.ts";
import { geminiFold, geminiObjectFold } from "./fold.ts";
import { geminiForks } from "./fork.ts";
import { locate, ProjectPaths, placeOf, projectsFile } from "./places.ts";
import { geminiProgram } from "./program.ts";
import { geminiResume } from "./resume.ts";
import { type Candidate, GeminiSessions } from "./sessions.ts";
import { GeminiTranscript } from "./transcript.ts";

const NAME = "gemini";

/** Reads Gemini CLI's chats (agents.md §5) and keeps snapshots of its sessions up to date. */
export class GeminiReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #services: Services;
  readonly #sessions = new GeminiSessions();
  readonly #described: DescribedSessions<DescribedRequests>;
  readonly #files: SourceFiles;
  readonly #projects: Map<string, ProjectPaths>;
  readonly #problems = new ToldProblems();
  #listing: Problem[] = [];
  #prices: PriceBook | null = null;
  readonly fork: ForkAbility;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    this.#services = services;
    this.#projects = new Map(roots.map((root) => [root.path, new ProjectPaths(root.path)]));
    this.#files = new SourceFiles(NAME, services.files);
    this.#described = new DescribedSessions({
      program: geminiProgram,
      services,
      can: ({ snapshot }, live) => {
        if (snapshot.hidden || (live !== null && !live.guess)) return [];
        return snapshot.resume === null ? ["fork", "revert"] : ["fork", "revert", "resume"];
      },
    });
    this.fork = geminiForks({
      session: (key) => this.#must(key),
      fresh: ({ folded: { path } }) => this.#files.fresh(foldOf(path), path),
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
    const located = await Promise.all(this.#roots.map((root) => locate(root)));
    this.#listing = located.flatMap((one) => one.problems);
    for (const projects of this.#projects.values()) projects.refresh();
    const all = located.flatMap((one) => one.found);
    // Folders that say what they stand for may be what others only have the hash of.
    for (const one of all) if (one.place.kind === "project-root") this.#project(one.root, one.place.project, null);
    const found = all.filter((one) => one.place.kind !== "project-root");
    const there = new Set(found.map((one) => one.path));
    const dirty = new Set<string>();
    for (const path of this.#sessions.paths()) {
      if (!there.has(path)) for (const id of await this.#read(path)) dirty.add(id);
    }
    for await (const ids of readBatches(found, (one) => this.#read(one.path))) {
      this.#prices ??= await loadPrices();
      for (const id of ids) dirty.add(id);
      yield this.#delta(dirty, evidence);
      dirty.clear();
    }
    yield { ...this.#delta(dirty, evidence), problems: this.#problems.all };
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    this.#prices ??= await loadPrices();
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
    const shown = this.#described.shownAs(key);
    if (shown !== null && this.#childIds(shown.id).length > 0) views.push("team");
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
        return usageDocument(snapshot, this.#described.requests(candidate.id), await loadPrices());
      case "team":
        return startedDocument(
          "chat",
          this.#childIds(candidate.id).flatMap((id) => this.#described.shown(id) ?? []),
        );
      case "info":
        return infoDocument(snapshot, candidate, this.#sessions.candidates(candidate.id));
      default:
        throw new Error(`Gemini CLI sessions have no view ${view}`);
    }
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    const { candidate } = this.#must(key);
    return this.#described.requests(candidate.id, this.#childIds(candidate.id));
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
    this.#described.clear();
  }

  #childIds(id: string): string[] {
    return this.#sessions.childrenOf(id).map((one) => one.id);
  }

  #must(key: SessionKey): { candidate: Candidate; snapshot: Snapshot; live: Live | null } {
    const { snapshot, live } = this.#described.must(key);
    const candidate = this.#sessions.candidates(snapshot.id)[0];
    if (candidate === undefined) throw new Error(`there is no session ${key}`);
    return { candidate, snapshot, live };
  }

  #project(root: Root, project: string, hash: string | null): { path: string; from: string } | null {
    return this.#projects.get(root.path)?.pathOf(project, hash) ?? null;
  }

  /** Brings one path up to date; returns the sessions it may change. */
  async #read(path: string): Promise<Set<string>> {
    const root = this.#roots.find((one) => placeOf(one.path, path) !== null);
    const place = root === undefined ? null : placeOf(root.path, path);
    if (root === undefined || place === null || place.kind === "project-root") return new Set();
    const folded = await this.#files.read(foldOf(path), path);
    return folded === null ? this.#sessions.drop(path) : this.#sessions.take(root, place, folded);
  }

  #delta(dirty: ReadonlySet<string>, evidence: Evidence): Delta {
    const update = this.#described.update(this.#affected(dirty, evidence), (id) => this.#describe(id), evidence);
    const problems = [...this.#listing, ...this.#files.problems(), ...this.#sessions.problems()];
    return { ...update, problems: this.#problems.news(problems), recheckAt: null };
  }

  /** What changed, its sub-agents, and chats whose folder a process or another session shows to be a directory's hash. */
  #affected(dirty: ReadonlySet<string>, evidence: Evidence): Set<string> {
    const affected = new Set(dirty);
    for (const { id, place } of this.#sessions.all()) {
      if (place.kind === "child" && dirty.has(place.parent)) affected.add(id);
    }
    const unknown = [...this.#described.all()].filter((one) => one.snapshot.cwd === null);
    if (unknown.length === 0 && dirty.size === 0) return affected;
    const running = evidence.processes?.all.map(({ cwd }) => cwd) ?? [];
    for (const cwd of [...running, ...this.#services.directories()]) {
      if (cwd === null) continue;
      for (const projects of this.#projects.values()) {
        if (projects.add(cwd)) for (const one of unknown) affected.add(one.snapshot.id);
      }
    }
    return affected;
  }

  #describe(id: string): DescribedRequests | null {
    const [candidate, ...twins] = this.#sessions.candidates(id);
    if (candidate === undefined) return null;
    const { root, place, folded } = candidate;
    return describe({
      candidate,
      twins,
      project: this.#project(root, place.project, folded.state.projectHash),
      origin: place.kind === "child" ? null : this.#sessions.originOf(candidate),
      ownerOf: (message) => this.#sessions.ownerOf(message),
      keyOf: (other) => {
        const there = this.#sessions.candidates(other)[0];
        return there === undefined ? null : sessionKey(NAME, there.root.index, other);
      },
      prices: this.#prices,
    });
  }
}

function foldOf(path: string): typeof geminiFold {
  return path.endsWith(".jsonl") ? geminiFold : geminiObjectFold;
}
