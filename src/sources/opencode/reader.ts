import { join } from "node:path";
import { now } from "../../probe/clock.ts";
import type { Evidence } from "../../probe/evidence.ts";
import { findProgram } from "../../probe/program.ts";
import type { Document } from "../../session/document.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { ActionName, Snapshot } from "../../session/snapshot.ts";
import { loadPrices, type PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { usageDocument } from "../../usage/usage-document.ts";
import { startedDocument } from "../agents/document-blocks.ts";
import { type DescribedRequests, DescribedSessions } from "../by-process/described-sessions.ts";
import type { Live } from "../by-process/seats.ts";
import type { Delta, ForkAbility, Root, Services, SourceReader, Transcript, ViewName, Watched } from "../source.ts";
import { ToldProblems } from "../told.ts";
import { describe } from "./describe.ts";
import { branchesDocument, infoDocument } from "./documents.ts";
import { opencodeForks } from "./fork.ts";
import { ForkIndex } from "./forks.ts";
import { placeOf, storageOf } from "./places.ts";
import { opencodeProgram } from "./program.ts";
import { requestsOf } from "./requests.ts";
import { opencodeResume, resumeArgv } from "./resume.ts";
import { LIST_BUDGET, RootStore, STORAGE } from "./root-store.ts";
import type { SessionFacts } from "./session-facts.ts";
import { todosDocument } from "./todos.ts";
import { OpencodeTranscript } from "./transcript.ts";

const NAME = "opencode";
const NO_ORIGINS = { ids: new Set<string>(), titles: new Set<string>() };

/** Reads OpenCode's stores (agents.md §4) and keeps snapshots of its sessions up to date. Never writes to them. */
export class OpencodeReader implements SourceReader {
  readonly #services: Services;
  readonly #stores: RootStore[];
  readonly #forks = new ForkIndex();
  readonly #described: DescribedSessions<DescribedRequests>;
  readonly #program2: boolean;
  readonly #problems = new ToldProblems();
  #prices: PriceBook | null = null;
  /** Are all replies in the index of forks, as far as they can be read? */
  #indexed = false;
  readonly fork: ForkAbility;

  constructor(roots: readonly Root[], services: Services, budget = LIST_BUDGET) {
    this.#services = services;
    this.#stores = roots.map((root) => new RootStore(root, services.env, budget));
    this.#program2 = findProgram("opencode2", services.env) !== null;
    this.#described = new DescribedSessions({
      program: opencodeProgram,
      services,
      can: ({ snapshot }, live) => (live !== null && !live.guess ? [] : this.#can(snapshot)),
    });
    this.fork = opencodeForks({
      session: async (key) => {
        const { snapshot, live, store } = this.#must(key);
        const facts = await store.whole(snapshot.id);
        return { snapshot, live, store, facts, program: this.#programOf(facts) };
      },
      env: services.env,
      now: () => now(services.env),
    });
  }

  watched(): Watched[] {
    return this.#stores.flatMap((store) => {
      const root = store.root.path;
      const matters = (path: string): boolean => placeOf(root, path, this.#services.env) !== null;
      const here = { path: root, depth: 0, matters };
      // Beside a database nobody writes messages to files any more, and there is a directory for each of them.
      if (store.hasDatabase()) return [here, { path: join(storageOf(root), "session"), depth: 1, matters }];
      return [here, { path: storageOf(root), depth: 2, matters }];
    });
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    for (const store of this.#stores) {
      for await (const ids of store.scan()) {
        this.#prices ??= await loadPrices();
        yield this.#delta(ids, evidence);
      }
    }
    yield { ...this.#delta(await this.#deepen(), evidence), problems: this.#problems.all };
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    this.#prices ??= await loadPrices();
    const changed = new Set<string>();
    for (const store of this.#stores) {
      const places = new Set<string>();
      for (const path of paths) {
        const place = placeOf(store.root.path, path, this.#services.env);
        if (place !== null) places.add(place === STORAGE ? place : place.database);
      }
      if (places.size === 0) continue;
      for await (const ids of store.refresh(places)) for (const id of ids) changed.add(id);
    }
    const delta = this.#delta(changed, evidence);
    const deepened = await this.#deepen();
    if (deepened.size === 0) return delta;
    const more = this.#delta(deepened, evidence);
    const again = new Set(more.changed.map((one) => one.key));
    return {
      ...more,
      changed: [...delta.changed.filter((one) => !again.has(one.key)), ...more.changed],
      removed: [...delta.removed, ...more.removed],
      problems: more.problems ?? delta.problems,
    };
  }

  tick(evidence: Evidence): Delta {
    return { ...this.#described.look(evidence), problems: null, recheckAt: null };
  }

  views(key: SessionKey): ViewName[] {
    const views: ViewName[] = ["timeline", "context", "branches", "usage"];
    const shown = this.#described.shownAs(key);
    if (shown !== null && shown.tasks !== null) views.push("tasks");
    if (shown !== null && this.#childrenOf(shown.id).length > 0) views.push("team");
    return [...views, "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    const { snapshot } = this.#must(key);
    return new OpencodeTranscript(snapshot.id, {
      facts: (id) => this.#storeOf(id).whole(id),
      use: (facts, work) => this.#storeOf(facts.session.id).use(facts.session, work),
      isChild: (id) => this.#childrenOf(snapshot.id).includes(id),
    });
  }

  /** A database holds them all, and a session of files has one for each part. */
  files(): null {
    return null;
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const { snapshot, store } = this.#must(key);
    const facts = await store.whole(snapshot.id);
    switch (view) {
      case "branches":
        return branchesDocument(facts, snapshot);
      case "usage":
        return usageDocument(snapshot, await this.#ownRequests(snapshot.id), await loadPrices());
      case "tasks":
        return todosDocument(facts.todos);
      case "team":
        return startedDocument(
          "session",
          this.#childrenOf(snapshot.id).flatMap((id) => this.#described.shown(id) ?? []),
        );
      case "info":
        return infoDocument(await this.#counted(store, facts), snapshot);
      default:
        throw new Error(`OpenCode sessions have no view ${view}`);
    }
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    const { snapshot } = this.#must(key);
    const found = await this.#ownRequests(snapshot.id);
    for (const id of this.#childrenOf(snapshot.id)) {
      const by = this.#described.get(id)?.snapshot.title ?? id;
      found.push(...(await this.#ownRequests(id)).map((one) => ({ ...one, by })));
    }
    return found;
  }

  async resume(key: SessionKey): ReturnType<SourceReader["resume"]> {
    const { snapshot, live, store } = this.#must(key);
    const facts = store.facts(snapshot.id);
    if (facts === null) throw new Error(`there is no session ${key}`);
    return opencodeResume({ snapshot, facts, live, hasDatabase: store.hasDatabase() });
  }

  actions(): [] {
    return [];
  }

  async close(): Promise<void> {
    this.#described.clear();
    await Promise.all(this.#stores.map((store) => store.close()));
  }

  #must(key: SessionKey): { snapshot: Snapshot; live: Live | null; store: RootStore } {
    const held = this.#described.must(key);
    return { ...held, store: this.#storeOf(held.snapshot.id) };
  }

  /** Of an id in two directories the one that was written to last. */
  #storeOf(id: string): RootStore {
    let found: { store: RootStore; facts: SessionFacts } | null = null;
    for (const store of this.#stores) {
      const facts = store.facts(id);
      if (facts === null) continue;
      if (found === null || facts.session.updatedAt > found.facts.session.updatedAt) found = { store, facts };
    }
    if (found === null) throw new Error(`there is no session ${id}`);
    return found.store;
  }

  #isLive(id: string): boolean {
    const known = this.#described.get(id);
    return known !== null && this.#described.must(known.snapshot.key).live !== null;
  }

  #childrenOf(id: string): string[] {
    const children = [...this.#described.all()].filter((one) => one.seat.parent === id);
    children.sort((a, b) => ((a.snapshot.createdAt ?? "") < (b.snapshot.createdAt ?? "") ? -1 : 1));
    return children.map((one) => one.snapshot.id);
  }

  /** Whose a reply is depends on all the others: sessions that a list did without are read for it, once. */
  async #ownRequests(id: string): Promise<ModelRequest[]> {
    const store = this.#storeOf(id);
    if (store.facts(id)?.brief === true) await this.#readWhole(id, store);
    const facts = await store.whole(id);
    if (!this.#indexed && mayHoldCopies(facts)) {
      for (const [one, from] of this.#briefs()) await this.#readWhole(one, from);
      this.#indexed = true;
    }
    return requestsOf(facts, this.#forks.lineage(id));
  }

  /** Sessions of which only a part was read, each where it is shown from. */
  #briefs(): [string, RootStore][] {
    return this.#stores.flatMap((store) =>
      [...store.ids()].flatMap((id): [string, RootStore][] =>
        store.facts(id)?.brief === true && this.#storeOf(id) === store ? [[id, store]] : [],
      ),
    );
  }

  /** false: it is gone meanwhile, or cannot be read, which the next look says. */
  async #readWhole(id: string, store: RootStore): Promise<boolean> {
    try {
      this.#forks.set(id, await store.whole(id, { calls: false, edits: this.#isLive(id) }));
      return true;
    } catch {
      return false;
    }
  }

  /** Reads the sessions whose own row is not enough: those that run, and those that others were copied from. */
  async #deepen(): Promise<Set<string>> {
    const read = new Set<string>();
    const tried = new Set<string>();
    for (let before = -1; before < tried.size; ) {
      before = tried.size;
      const briefs = this.#briefs();
      const { ids, titles } = briefs.length === 0 ? NO_ORIGINS : this.#forks.origins();
      for (const [id, store] of briefs) {
        const title = store.facts(id)?.session.title ?? null;
        const wanted = this.#isLive(id) || ids.has(id) || (title !== null && titles.has(title));
        if (!wanted || tried.has(id)) continue;
        tried.add(id);
        if (await this.#readWhole(id, store)) read.add(id);
      }
    }
    return read;
  }

  /** What is not refused whatever the session is like. */
  #can({ id, extra, resume }: Snapshot): ActionName[] {
    if (extra.store !== "json") return ["fork", "revert", "resume"];
    return resume === null || this.#storeOf(id).hasDatabase() ? [] : ["resume"];
  }

  async #counted(store: RootStore, facts: SessionFacts): Promise<SessionFacts> {
    if (facts.toolCalls !== null) return facts;
    const replies = facts.messages.slice(0, facts.visible).filter((one) => one.role === "assistant" && !one.summary);
    const ids = replies.map((one) => one.id);
    return { ...facts, toolCalls: await store.use(facts.session, (open) => open.countCalls(facts.session, ids)) };
  }

  #delta(dirty: ReadonlySet<string>, evidence: Evidence): Delta {
    const affected = new Set<string>();
    if (dirty.size > 0) this.#indexed = false;
    for (const id of dirty) {
      const parent = this.#described.get(id)?.seat.parent ?? null;
      const facts = this.#factsOf(id);
      for (const one of this.#forks.set(id, facts)) affected.add(one);
      if (parent !== null) affected.add(parent);
      if (facts?.session.parentId != null) affected.add(facts.session.parentId);
      for (const child of this.#childrenOf(id)) affected.add(child);
    }
    const children = this.#families(affected);
    const describeNow = (id: string): DescribedRequests | null => {
      const facts = this.#factsOf(id);
      return facts === null ? null : this.#describe(id, facts, children.get(id) ?? []);
    };
    const update = this.#described.update(affected, describeNow, evidence);
    const problems = [...this.#stores.flatMap((store) => store.problems()), ...this.#duplicates()];
    return { ...update, problems: this.#problems.news(problems), recheckAt: null };
  }

  #factsOf(id: string): SessionFacts | null {
    return this.#stores.some((store) => store.facts(id) !== null) ? this.#storeOf(id).facts(id) : null;
  }

  /** Ids of the sub-agents of these sessions, oldest first. */
  #families(ids: ReadonlySet<string>): Map<string, string[]> {
    const found = new Map<string, { id: string; at: number }[]>();
    if (ids.size === 0) return new Map();
    for (const store of this.#stores) {
      for (const id of store.ids()) {
        const session = store.facts(id)?.session;
        if (session?.parentId == null || !ids.has(session.parentId)) continue;
        found.set(session.parentId, [...(found.get(session.parentId) ?? []), { id, at: session.createdAt }]);
      }
    }
    return new Map(
      [...found].map(([id, children]) => [id, children.sort((a, b) => a.at - b.at).map((child) => child.id)]),
    );
  }

  #describe(id: string, facts: SessionFacts, children: readonly string[]): DescribedRequests {
    const { root } = this.#storeOf(id);
    return describe({
      root,
      facts,
      lineage: this.#forks.lineage(id),
      children,
      prices: this.#prices,
      keyOf: (other) =>
        this.#factsOf(other) === null ? null : sessionKey(NAME, this.#storeOf(other).root.index, other),
      resume: resumeArgv(this.#programOf(facts), facts.session, root.path, this.#services.env),
    });
  }

  #programOf({ session }: SessionFacts): string {
    return session.generation === "v2" && this.#program2 ? "opencode2" : "opencode";
  }

  #duplicates(): Problem[] {
    if (this.#stores.length < 2) return [];
    return this.#stores.flatMap((store) =>
      [...store.ids()].flatMap((id): Problem[] => {
        const shown = this.#storeOf(id);
        const path = store.facts(id)?.session.path ?? store.root.path;
        if (shown === store) return [];
        const message = `${path}: session ${id} lies also in ${shown.root.path}, where it was written to later: left out`;
        return [{ source: NAME, path, kind: "duplicate", message }];
      }),
    );
  }
}

/** Who points at no other session and holds nothing older than itself owns all of it, whatever others hold. */
function mayHoldCopies({ session, messages }: SessionFacts): boolean {
  return session.forkId !== null || messages.some((one) => one.createdAt < session.createdAt);
}
