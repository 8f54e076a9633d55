import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { listDirectory } from "../../files/list-directory.ts";
import { now as clock } from "../../probe/clock.ts";
import type { Evidence } from "../../probe/evidence.ts";
import type { SessionKey } from "../../session/key.ts";
import type {
  Delta,
  MemberText,
  ResumeAnswer,
  Root,
  Services,
  SourceAction,
  SourceReader,
  ViewName,
  Watched,
} from "../source.ts";
import { SnapshotChanges } from "../told.ts";
import { actionsOf } from "./actions.ts";
import { messageOf } from "./beside.ts";
import { type Forker, forker } from "./fork.ts";
import type { Held } from "./held.ts";
import { readHistory } from "./history.ts";
import { isSessionId } from "./ids.ts";
import { historyFile, projectsDirectory, tasksDirectory, transcriptsDirectory } from "./layout.ts";
import { type LiveCodebot, liveCodebots } from "./live.ts";
import { earlier, OpenSessions, type Reading } from "./open-sessions.ts";
import { SESSION_VERSION } from "./payloads.ts";
import { isSessionName, type Place, placeOf, projectDirectory, watchedOf } from "./places.ts";
import { Problems } from "./problems.ts";
import { allRequests, documentOf, transcriptOf, viewsOf } from "./views.ts";

const BATCH = 64;

/** Reads all `.codebot` directories it is given. */
export class CodebotReader implements SourceReader {
  readonly #roots: readonly Root[];
  readonly #problems = new Problems();
  readonly #sessions: OpenSessions;
  /** Who is the newest of each directory and version, as rows were last made. */
  readonly #newest = new Map<string, SessionKey>();
  #live = new Map<string, LiveCodebot>();
  readonly fork: Forker;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots;
    const sessions = new OpenSessions(services, this.#problems);
    this.#sessions = sessions;
    this.fork = forker({
      original: async (key) => {
        const { held, state } = await sessions.fresh(key);
        return { root: held.root, path: held.path, state };
      },
      isFree: (root, id) => sessions.ofId(root, id).length === 0,
      isNewest: (directory, ms) => (sessions.newest.inDirectory(directory, SESSION_VERSION)?.updated?.ms ?? 0) <= ms,
      now: () => clock(services.env),
    });
  }

  watched(): Watched[] {
    return this.#roots.flatMap((root) => watchedOf(root.path));
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    this.#live = liveCodebots(evidence);
    const found: { root: Root; path: string; mtimeMs: number }[] = [];
    for (const root of this.#roots) found.push(...(await this.#find(root)));
    found.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
    // The first file of an id gets the plain key: by path, not by chance.
    const inOrder = [...found].sort((a, b) => (a.path < b.path ? -1 : 1));
    for (const { root, path } of inOrder) this.#sessions.reserve(root, path);
    yield await this.#forgetAll(new Set(found.map(({ path }) => path)), evidence);
    for (let at = 0; at < found.length; at += BATCH) {
      const readings: Reading[] = [];
      for (const { root, path } of found.slice(at, at + BATCH)) {
        readings.push(await this.#sessions.read(root, path, false, evidence.now));
      }
      yield this.#delta(merged(readings), evidence, true, true);
    }
    for (const root of this.#roots) {
      this.#lookAtHistory(root);
      await this.#lookForOrphans(root);
    }
    yield this.#delta({ touched: [], removed: [] }, evidence, true);
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    const readings: Reading[] = [];
    for (const path of new Set(paths)) {
      for (const root of this.#roots) {
        const place = placeOf(root.path, path);
        if (place !== null) readings.push(await this.#take(root, path, place, evidence.now));
      }
    }
    return this.#delta(merged(readings), evidence);
  }

  tick(evidence: Evidence): Delta {
    const touched = this.#sessions
      .all()
      .filter(({ until }) => until !== null && until <= evidence.now)
      .map(({ key }) => key);
    const live = liveCodebots(evidence);
    for (const cwd of new Set([...live.keys(), ...this.#live.keys()])) {
      if (isDeepStrictEqual(live.get(cwd), this.#live.get(cwd))) continue;
      const newest = this.#sessions.newest.ofCwd(cwd);
      if (newest !== null) touched.push(newest.key);
    }
    this.#live = live;
    return this.#delta({ touched, removed: [] }, evidence);
  }

  views(key: SessionKey): ViewName[] {
    return viewsOf(this.#sessions.must(key));
  }

  async transcript(key: SessionKey): ReturnType<SourceReader["transcript"]> {
    this.#sessions.must(key);
    return transcriptOf(this.#sessions, key);
  }

  files(key: SessionKey): string[] {
    return [this.#sessions.must(key).path];
  }

  members(key: SessionKey): MemberText[] {
    const { root, id, beside } = this.#sessions.must(key);
    const directory = transcriptsDirectory(root.path, id);
    return beside.transcripts.map(({ name }) => ({ of: name, files: [join(directory, `${name}.jsonl`)] }));
  }

  document(key: SessionKey, view: ViewName): ReturnType<SourceReader["document"]> {
    return documentOf(this.#sessions, key, view);
  }

  requests(key: SessionKey): ReturnType<SourceReader["requests"]> {
    return allRequests(this.#sessions, key);
  }

  async resume(key: SessionKey): Promise<ResumeAnswer> {
    const { held, state } = await this.#sessions.fresh(key);
    return this.#sessions.resume(held, state);
  }

  actions(key: SessionKey): SourceAction[] {
    const held = this.#sessions.must(key);
    const { state } = held.folded;
    const can = held.snapshot?.can ?? [];
    return actionsOf({
      key,
      tasksDirectory: tasksDirectory(held.root.path, held.id),
      tasks: held.beside.tasks?.tasks ?? [],
      cannotPromote: can.includes("promote")
        ? null
        : state.leaves > 1
          ? "only sessions of version 3 with a whole chain are copied"
          : "it has one branch only",
      cannotTask: isSessionId(held.id) ? null : "its file has no session id in its name, so it can have no tasks",
      live: this.#liveOf(held) !== null,
      forker: this.fork,
    });
  }

  async close(): Promise<void> {
    this.#sessions.clear();
  }

  /** A scan tells everything anew: what is gone first, then every row as if it were new. */
  async #forgetAll(found: ReadonlySet<string>, evidence: Evidence): Promise<Delta> {
    const readings: Reading[] = [];
    for (const { root, path } of this.#sessions.all()) {
      if (!found.has(path)) readings.push(await this.#sessions.read(root, path, false, evidence.now));
    }
    const delta = this.#delta(merged(readings), evidence, true);
    for (const held of this.#sessions.all()) held.snapshot = null;
    return delta;
  }

  async #find(root: Root): Promise<{ root: Root; path: string; mtimeMs: number }[]> {
    const projects = projectsDirectory(root.path);
    this.#problems.clear(projects);
    const listing = await listDirectory(projects);
    if (!listing.ok) {
      const isMissed = root.explicit && (await isMissing(root.path));
      if (isMissed) this.#problems.add(root.path, "gone", "no such directory");
      else if (listing.kind !== "gone") this.#problems.add(projects, listing.kind, listing.message);
      return [];
    }
    const found: { root: Root; path: string; mtimeMs: number }[] = [];
    for (const entry of listing.entries) {
      if (!entry.isDirectory()) continue;
      for (const path of await this.#sessionFiles(root, entry.name)) {
        const mtimeMs = await stat(path).then(
          (stats) => stats.mtimeMs,
          () => 0,
        );
        found.push({ root, path, mtimeMs });
      }
    }
    return found;
  }

  async #sessionFiles(root: Root, project: string): Promise<string[]> {
    const directory = projectDirectory(root.path, project);
    this.#problems.clear(directory);
    const listing = await listDirectory(directory);
    if (listing.ok) {
      return listing.entries
        .filter((entry) => !entry.isDirectory() && isSessionName(entry.name))
        .map((entry) => join(directory, entry.name));
    }
    if (listing.kind !== "gone") this.#problems.add(directory, listing.kind, listing.message);
    return [];
  }

  async #take(root: Root, path: string, place: Place, now: number): Promise<Reading> {
    switch (place.is) {
      case "session":
        return this.#sessions.read(root, path, true, now);
      case "project": {
        const files = await this.#sessionFiles(root, place.project);
        const known = this.#sessions.under(projectDirectory(root.path, place.project)).map((held) => held.path);
        return this.#readAll(root, new Set([...files, ...known]), now);
      }
      case "projects": {
        const files = (await this.#find(root)).map((file) => file.path);
        const known = this.#sessions.all().filter((held) => held.root === root);
        return this.#readAll(root, new Set([...files, ...known.map((held) => held.path)]), now);
      }
      case "tasks": {
        const held = this.#sessions.ofId(root, place.id);
        for (const one of held) this.#sessions.look(one);
        await this.#lookForOrphans(root);
        return { touched: held.map(({ key }) => key), removed: [] };
      }
      case "all-tasks": {
        const held = this.#sessions.all().filter((one) => one.root === root);
        for (const one of held) this.#sessions.look(one);
        await this.#lookForOrphans(root);
        return { touched: held.map(({ key }) => key), removed: [] };
      }
      case "plan": {
        const held = this.#sessions.all().filter((one) => one.root === root);
        const linked = held.filter((one) => one.folded.state.chain.planSlug === place.slug);
        return { touched: linked.map(({ key }) => key), removed: [] };
      }
      case "history":
        this.#lookAtHistory(root);
        return { touched: [], removed: [] };
    }
  }

  async #readAll(root: Root, paths: Iterable<string>, now: number): Promise<Reading> {
    const readings: Reading[] = [];
    for (const path of paths) readings.push(await this.#sessions.read(root, path, true, now));
    return merged(readings);
  }

  #lookAtHistory(root: Root): void {
    const path = historyFile(root.path);
    this.#problems.clear(path);
    try {
      const { malformed } = readHistory(path);
      const lines = malformed === 1 ? "1 line is" : `${malformed} lines are`;
      if (malformed > 0) this.#problems.add(path, "bad-lines", `${lines} no prompt: passed over`);
    } catch (error) {
      this.#problems.add(path, "unreadable", messageOf(error));
    }
  }

  /** Task directories whose session is not here: nothing else would show them. */
  async #lookForOrphans(root: Root): Promise<void> {
    const directory = tasksDirectory(root.path);
    this.#problems.clearUnder(directory, "orphan-tasks");
    const listing = await listDirectory(directory);
    if (!listing.ok) return;
    const known = new Set(this.#sessions.all().flatMap((held) => (held.root === root ? [held.id] : [])));
    for (const entry of listing.entries) {
      if (!entry.isDirectory() || !isSessionId(entry.name) || known.has(entry.name)) continue;
      this.#problems.add(
        join(directory, entry.name),
        "orphan-tasks",
        `tasks of session ${entry.name}, which is not here`,
      );
    }
  }

  #liveOf(held: Held): LiveCodebot | null {
    const cwd = held.folded.state.header?.cwd ?? "";
    const live = this.#live.get(cwd);
    return live !== undefined && this.#sessions.newest.ofCwd(cwd) === held ? live : null;
  }

  /** Makes the rows that may have changed and tells those that did. */
  #delta({ touched, removed }: Reading, evidence: Evidence, first = false, look = false): Delta {
    const changes = new SnapshotChanges();
    for (const key of this.#withNewest(touched)) {
      const held = this.#sessions.get(key);
      if (held === undefined) continue;
      if (look || held.snapshot === null) this.#sessions.look(held);
      const snapshot = this.#sessions.row(held, evidence.now, this.#liveOf(held));
      held.snapshot = changes.note(held.snapshot, snapshot);
    }
    const recheckAt = this.#sessions.all().reduce((at: number | null, held) => earlier(at, held.until), null);
    const problems = this.#problems.news(first);
    return { changed: changes.changed, removed: [...removed, ...changes.removed], problems, recheckAt };
  }

  /** With those that became, or stopped being, the newest of a directory: their way to be resumed is another now. */
  #withNewest(touched: readonly SessionKey[]): Set<SessionKey> {
    const all = new Set(touched);
    for (const key of touched) {
      const held = this.#sessions.get(key);
      if (held === undefined) continue;
      const version = held.folded.state.header?.version ?? 0;
      const place = `${dirname(held.path)}\0${version}`;
      const before = this.#newest.get(place);
      const newest = this.#sessions.newest.inDirectory(dirname(held.path), version)?.key;
      if (newest === before) continue;
      if (before !== undefined) all.add(before);
      if (newest !== undefined) {
        all.add(newest);
        this.#newest.set(place, newest);
      }
    }
    return all;
  }
}

function merged(readings: readonly Reading[]): Reading {
  return {
    touched: readings.flatMap(({ touched }) => touched),
    removed: readings.flatMap(({ removed }) => removed),
  };
}

async function isMissing(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    () => true,
  );
}
