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
import { piFold } from "./fold.ts";
import { piForks } from "./fork.ts";
import { isCandidate, locate, MOST_DEPTH } from "./locate.ts";
import { piProgram } from "./program.ts";
import { piResume } from "./resume.ts";
import { type Candidate, PiSessions } from "./sessions.ts";
import { PiTranscript } from "./transcript.ts";

const NAME = "pi";

/** Reads pi's session files (agents.md §3) and keeps snapshots of its sessions up to date. */
export class PiReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #services: Services;
  readonly #sessions = new PiSessions();
  readonly #described: DescribedSessions<DescribedRequests>;
  readonly #files: SourceFiles;
  /** What a description says of other sessions, by id. */
  readonly #kin = new Map<string, string>();
  readonly #problems = new ToldProblems();
  #listing: Problem[] = [];
  #prices: PriceBook | null = null;
  readonly fork: ForkAbility;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    this.#services = services;
    this.#files = new SourceFiles(NAME, services.files);
    this.#described = new DescribedSessions({
      program: piProgram,
      services,
      can: (_, live) => (live !== null && !live.guess ? [] : ["fork", "revert", "resume"]),
    });
    this.fork = piForks({
      session: (key) => this.#must(key),
      fresh: (candidate) => this.#files.fresh(piFold, candidate.folded.path),
      directoryFor: (candidate) => this.#sessions.directoryFor(candidate),
      now: () => now(services.env),
    });
  }

  watched(): Watched[] {
    return this.#roots.map((root) => ({
      path: root.path,
      depth: MOST_DEPTH,
      matters: (path) => isCandidate(root.path, path),
    }));
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    const located = await Promise.all(this.#roots.map((root) => locate(root)));
    this.#listing = located.flatMap((one) => one.problems);
    const found = located.flatMap((one) => one.found).sort((a, b) => b.mtimeMs - a.mtimeMs);
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
    for (const path of new Set(paths)) for (const id of await this.#read(path)) dirty.add(id);
    return this.#delta(dirty, evidence);
  }

  tick(evidence: Evidence): Delta {
    return { ...this.#described.look(evidence), problems: null, recheckAt: null };
  }

  views(key: SessionKey): ViewName[] {
    const views: ViewName[] = ["timeline", "context", "branches", "usage"];
    const shown = this.#described.shownAs(key);
    if (shown !== null && this.#childIds(shown.id).length > 0) views.push("team");
    return [...views, "info"];
  }

  files(key: SessionKey): string[] {
    return [this.#must(key).candidate.folded.path];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    const { candidate } = this.#must(key);
    return new PiTranscript({
      path: candidate.folded.path,
      advance: (path) => this.#services.files.advance(piFold, path),
      childPath: (id) =>
        this.#sessions.childrenOf(candidate.header.id).find((one) => one.header.id === id)?.folded.path ?? null,
    });
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const { candidate, snapshot } = this.#must(key);
    const { id } = candidate.header;
    switch (view) {
      case "branches":
        return branchesDocument(candidate.folded.state);
      case "usage":
        return usageDocument(snapshot, this.#described.requests(id), await loadPrices());
      case "team":
        return startedDocument(
          "session",
          this.#childIds(id).flatMap((child) => this.#described.shown(child) ?? []),
        );
      case "info":
        return infoDocument(snapshot, candidate, this.#sessions.candidates(id));
      default:
        throw new Error(`pi sessions have no view ${view}`);
    }
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    const { id } = this.#must(key).candidate.header;
    return this.#described.requests(id, this.#childIds(id));
  }

  async resume(key: SessionKey): ReturnType<SourceReader["resume"]> {
    const { snapshot, live } = this.#must(key);
    return piResume(snapshot, live);
  }

  actions(): [] {
    return [];
  }

  async close(): Promise<void> {
    this.#described.clear();
  }

  #childIds(id: string): string[] {
    return this.#sessions.childrenOf(id).map((one) => one.header.id);
  }

  #must(key: SessionKey): { candidate: Candidate; snapshot: Snapshot; live: Live | null } {
    const { snapshot, live } = this.#described.must(key);
    const candidate = this.#sessions.shown(snapshot.id);
    if (candidate === null) throw new Error(`there is no session ${key}`);
    return { candidate, snapshot, live };
  }

  /** Brings one path up to date; returns the sessions it may change. */
  async #read(path: string): Promise<Set<string>> {
    const root = this.#roots.find((one) => isCandidate(one.path, path));
    if (root === undefined) return new Set();
    const folded = await this.#files.read(piFold, path);
    return folded === null ? this.#sessions.drop(path) : this.#sessions.take(root, folded);
  }

  #delta(dirty: ReadonlySet<string>, evidence: Evidence): Delta {
    const update = this.#described.update(this.#affected(dirty), (id) => this.#describe(id), evidence);
    const problems = [...this.#listing, ...this.#files.problems(), ...this.#sessions.problems()];
    return { ...update, problems: this.#problems.news(problems), recheckAt: null };
  }

  /** What changed, those of which other sessions say something else now, and what these may own. */
  #affected(dirty: ReadonlySet<string>): Set<string> {
    const affected = new Set(dirty);
    if (!this.#sessions.wasRearranged()) return affected;
    const moved = new Set<string>();
    for (const id of new Set([...this.#kin.keys(), ...this.#sessions.ids()])) {
      const kin = this.#kinOf(id);
      if (this.#kin.get(id) === kin) continue;
      moved.add(id);
      if (kin === undefined) this.#kin.delete(id);
      else this.#kin.set(id, kin);
    }
    for (const id of new Set([...moved, ...this.#kin.keys()])) {
      if (!moved.has(id) && !this.#sessions.originsOf(id).some((origin) => moved.has(origin))) continue;
      affected.add(id);
      for (const sharer of this.#sessions.sharersOf(id)) affected.add(sharer);
    }
    return affected;
  }

  /** undefined: it has to do with no other session. */
  #kinOf(id: string): string | undefined {
    const candidate = this.#sessions.shown(id);
    if (candidate === null) return undefined;
    const origin = this.#sessions.originOf(candidate);
    const starter = this.#sessions.isChild(candidate) ? this.#sessions.starterOf(candidate) : null;
    if (origin === null && starter === null) return undefined;
    const keys = [origin?.id ?? null, starter].map((other) => other && this.#keyOf(other, candidate));
    return JSON.stringify([...keys, origin?.known]);
  }

  #keyOf(id: string, from: Candidate): SessionKey {
    return sessionKey(NAME, this.#sessions.shown(id)?.root.index ?? from.root.index, id);
  }

  #describe(id: string): DescribedRequests | null {
    const candidate = this.#sessions.shown(id);
    if (candidate === null) return null;
    const child = this.#sessions.isChild(candidate);
    return describe({
      candidate,
      origin: this.#sessions.originOf(candidate),
      child,
      starter: child ? this.#sessions.starterOf(candidate) : null,
      ownerOf: (entry) => this.#sessions.ownerOf(entry),
      keyOf: (other) => this.#keyOf(other, candidate),
      prices: this.#prices,
    });
  }
}
