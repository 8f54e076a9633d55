import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Folded } from "../../files/fold.ts";
import { listDirectory } from "../../files/list-directory.ts";
import type { Evidence } from "../../probe/evidence.ts";
import type { Document } from "../../session/document.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import type { ModelRequest } from "../../usage/request.ts";
import type { Delta, Root, Services, Source, SourceReader, Transcript, ViewName, Watched } from "../source.ts";
import { SnapshotChanges, ToldProblems } from "../told.ts";
import { infoDocument, tailProblem, usageDocument } from "./documents.ts";
import { type StateOfFile, statefileFold } from "./fold.ts";
import { forkAbility } from "./fork.ts";
import { type Ancestry, ancestry, type Relative } from "./lineage.ts";
import { planResume } from "./resume.ts";
import { idOfName } from "./sessions.ts";
import { requestsOf, snapshotOf } from "./snapshot.ts";
import { sinceWritten } from "./status.ts";
import { StatefileTranscript } from "./transcript.ts";
import { isTorn } from "./walk.ts";

const NAME = "statefile";
/** A new file passes through 0 bytes and a lone start record: it is not announced before it is a session, or this old. */
const HATCHING_MS = 1000;
const BATCH = 64;

/** Mainplane's `.state` files (statefile.md). */
export const statefileSource: Source = {
  name: NAME,
  title: "Mainplane",
  probes: [],
  defaultRoots: () =>
    ["/var/lib/mainplane-server", "/Library/Application Support/mainplane-server"].flatMap((server) => {
      const dirs = [join(server, "admin"), join(server, "sessions")].filter((dir) => existsSync(dir));
      return dirs;
    }),
  open: (roots, services) => new StatefileReader(roots, services),
};

interface Held {
  root: Root;
  id: string;
  path: string;
  folded: Folded<StateOfFile>;
  snapshot: Snapshot | null;
  /** When its status or its announcement may change by the clock, ms. */
  until: number | null;
}

/** Ancestries by family, for the length of one delta. */
type Families = Map<string, Map<string, Ancestry>>;

class StatefileReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #services: Services;
  readonly #held = new Map<SessionKey, Held>();
  readonly #families = new Map<string, Set<SessionKey>>();
  readonly #problems = new Map<string, Problem>();
  readonly #reported = new ToldProblems();
  readonly fork = forkAbility({
    roots: () => this.#roots,
    stateOf: (key) => this.#stateOf(key),
  });

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    this.#services = services;
  }

  watched(): Watched[] {
    return this.#roots.map((root) => ({
      path: root.path,
      depth: 0,
      matters: (path) => dirname(path) === root.path && idOfName(basename(path)) !== null,
    }));
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    this.#problems.clear();
    const found: { root: Root; id: string; path: string; mtimeMs: number }[] = [];
    for (const root of this.#roots) {
      const listing = await listDirectory(root.path);
      if (!listing.ok) {
        if (root.explicit || listing.kind !== "gone")
          this.#problem(root.path, listing.kind, `${root.path}: ${listing.message}`);
        continue;
      }
      for (const entry of listing.entries) {
        const id = idOfName(entry.name);
        if (id === null) continue;
        const path = join(root.path, entry.name);
        const mtimeMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
        found.push({ root, id, path, mtimeMs });
      }
    }
    found.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
    for (let at = 0; at < found.length; at += BATCH) {
      const touched: SessionKey[] = [];
      for (const { root, path, id } of found.slice(at, at + BATCH)) touched.push(...(await this.#read(root, id, path)));
      yield this.#delta(touched, [], evidence);
    }
    const there = new Set(found.map(({ root, id }) => sessionKey(NAME, root.index, id)));
    const gone = [...this.#held.keys()].filter((key) => !there.has(key));
    const kin = gone.flatMap((key) => this.#forget(key));
    if (found.length === 0 || gone.length > 0) yield this.#delta(kin, gone, evidence);
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    const touched: SessionKey[] = [];
    const removed: SessionKey[] = [];
    for (const path of new Set(paths)) {
      const root = this.#roots.find((one) => one.path === dirname(path));
      const id = idOfName(basename(path));
      if (!root || id === null) continue;
      const key = sessionKey(NAME, root.index, id);
      const shown = this.#held.get(key)?.snapshot;
      touched.push(...(await this.#read(root, id, path)));
      if (shown && !this.#held.has(key)) removed.push(key);
    }
    return this.#delta(touched, removed, evidence);
  }

  tick(evidence: Evidence): Delta {
    const due = [...this.#held].filter(([, held]) => held.until !== null && held.until <= evidence.now);
    return this.#delta(
      due.map(([key]) => key),
      [],
      evidence,
    );
  }

  views(): ViewName[] {
    return ["timeline", "context", "usage", "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    const { path } = this.#must(key);
    return new StatefileTranscript(path, async () => {
      const { dev, ino, state } = await this.#stateOf(key);
      return { state, identity: `${dev}:${ino}:${state.family}` };
    });
  }

  files(key: SessionKey): string[] {
    return [this.#must(key).path];
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const held = this.#must(key);
    if (!held.snapshot) throw new Error(`${key} is not a session yet`);
    return view === "usage"
      ? usageDocument(held.folded.state, held.snapshot)
      : infoDocument(held.folded.state, held.snapshot, held.folded.size);
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    return requestsOf(this.#must(key).folded.state.steps);
  }

  async resume(key: SessionKey): ReturnType<SourceReader["resume"]> {
    const { folded, id, path } = this.#must(key);
    const plan = planResume(folded.state, path, id);
    return plan.ok ? { ...plan, notes: [] } : plan;
  }

  actions(): [] {
    return [];
  }

  async close(): Promise<void> {
    this.#held.clear();
    this.#families.clear();
  }

  #must(key: SessionKey): Held {
    const held = this.#held.get(key);
    if (!held) throw new Error(`there is no session ${key}`);
    return held;
  }

  async #stateOf(key: SessionKey): Promise<Folded<StateOfFile>> {
    const held = this.#must(key);
    const result = await this.#services.files.advance(statefileFold, held.path);
    if (!result.ok) throw new Error(`${held.path}: ${result.message}`);
    held.folded = result.folded;
    return result.folded;
  }

  /** Brings one file up to date; returns the keys whose snapshots may have changed by it. */
  async #read(root: Root, id: string, path: string): Promise<SessionKey[]> {
    const key = sessionKey(NAME, root.index, id);
    const result = await this.#services.files.advance(statefileFold, path);
    const before = this.#held.get(key);
    this.#problems.delete(path);
    if (!result.ok) {
      const kin = this.#forget(key);
      if (result.kind !== "gone") this.#problem(path, result.kind, `${path}: ${result.message}`);
      return kin;
    }
    const { folded } = result;
    const family = folded.state.family;
    if (before && before.folded.state.family !== family) this.#families.get(before.folded.state.family)?.delete(key);
    const kin = this.#families.get(family) ?? new Set();
    this.#families.set(family, kin.add(key));
    this.#held.set(key, { root, id, path, folded, snapshot: before?.snapshot ?? null, until: null });
    return [key, ...kin];
  }

  /** Drops a session that is gone; returns its kin, whose ancestry may change by that. */
  #forget(key: SessionKey): SessionKey[] {
    const held = this.#held.get(key);
    if (!held) return [];
    this.#held.delete(key);
    this.#services.files.forget(held.path);
    this.#problems.delete(held.path);
    const kin = this.#families.get(held.folded.state.family);
    kin?.delete(key);
    return [...(kin ?? [])];
  }

  #delta(touched: readonly SessionKey[], removed: SessionKey[], evidence: Evidence): Delta {
    const changes = new SnapshotChanges();
    // One answer for a whole family: asking it for each of n kin would compare them all n times over.
    const families: Families = new Map();
    for (const key of new Set(touched)) {
      const held = this.#held.get(key);
      if (!held) continue;
      const snapshot = this.#judge(key, held, evidence.now, families);
      held.snapshot = changes.note(held.snapshot, snapshot);
    }
    let recheckAt: number | null = null;
    for (const { until } of this.#held.values()) {
      if (until !== null && (recheckAt === null || until < recheckAt)) recheckAt = until;
    }
    const problems = this.#reported.news(this.#problemList());
    return { changed: changes.changed, removed: [...removed, ...changes.removed], problems, recheckAt };
  }

  /** The snapshot as of `now`, null while (or because) the file is no session. */
  #judge(key: SessionKey, held: Held, now: number, families: Families): Snapshot | null {
    const { state, mtimeMs } = held.folded;
    held.until = null;
    if (state.records < 2 && sinceWritten(mtimeMs, now) < HATCHING_MS) {
      held.until = mtimeMs + HATCHING_MS;
      return null;
    }
    this.#problems.delete(held.path);
    if (state.records === 0) {
      const bytes = state.tailBytes === 0 ? "0 bytes" : `${state.tailBytes} bytes but no whole record`;
      const message = `${held.path}: ${bytes}: its create died before the first write. Not a session; left alone`;
      this.#problem(held.path, state.tailBytes === 0 || isTorn(state.tail) ? "empty" : "damaged", message);
      return null;
    }
    if (state.tail !== "clean" && !isTorn(state.tail)) {
      this.#problem(held.path, "damaged", `${held.path}: ${tailProblem(state)}`);
    }
    const { parent, own } = this.#ancestry(key, state, families);
    const { snapshot, until } = snapshotOf({ ...held, key, now, parent, own });
    held.until = until;
    return snapshot;
  }

  #ancestry(key: SessionKey, state: StateOfFile, families: Families): Ancestry {
    const kin = this.#families.get(state.family);
    if (!kin || kin.size < 2) return { parent: null, own: state.steps };
    const known = families.get(state.family) ?? this.#ancestries(kin);
    families.set(state.family, known);
    return known.get(key) ?? { parent: null, own: state.steps };
  }

  #ancestries(kin: ReadonlySet<SessionKey>): Map<string, Ancestry> {
    const relatives: Relative[] = [];
    const made = new Map<string, string>();
    for (const one of kin) {
      const held = this.#held.get(one);
      // One that is not announced yet is nobody's parent.
      const hatching = held?.snapshot === null && held.until !== null;
      if (held && !hatching)
        relatives.push({ key: one, state: held.folded.state, birthtimeMs: held.folded.birthtimeMs });
      const from = this.#services.copiedFrom(one);
      if (from !== null) made.set(one, from);
    }
    return ancestry(relatives, made);
  }

  #problem(path: string, kind: string, message: string): void {
    this.#problems.set(path, { source: NAME, path, kind, message });
  }

  #problemList(): Problem[] {
    return [...this.#problems.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}
