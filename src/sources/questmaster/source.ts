import { type Evidence, noEvidence } from "../../probe/evidence.ts";
import type { Document } from "../../session/document.ts";
import type { SessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import type {
  Delta,
  ResumeAnswer,
  Root,
  Services,
  Source,
  SourceAction,
  SourceReader,
  Transcript,
  ViewName,
  Watched,
} from "../source.ts";
import { SnapshotChanges, ToldProblems } from "../told.ts";
import { actionsOf } from "./actions.ts";
import { eventsDocument, infoDocument, type Member, teamDocument } from "./documents.ts";
import { type EventLog, eventLogFold } from "./event-log.ts";
import { hookRoot } from "./hook-root.ts";
import { isHooked, type Presence, presenceOf } from "./liveness.ts";
import { parentID, sessionType } from "./manifest.ts";
import { sessionStateDir, sessionStateLogPath, stateRoot } from "./paths.ts";
import { type Repo, repoOf } from "./repo.ts";
import { readArtifacts, readQuests } from "./root-files.ts";
import { RootReader, rootOfPath, touchedBy } from "./root-reader.ts";
import { type Held, type Kin, NAME, snapshotOf } from "./snapshot.ts";

/** Sessions read before the first rows are shown. */
const BATCH = 64;

/** questmaster's sessions, and those that our own hooks report (questmaster.md). */
export const questmasterSource: Source = {
  name: NAME,
  title: "questmaster",
  probes: ["tmux", "processes"],
  defaultRoots: (env) => [stateRoot(env), hookRoot(env)].filter((path) => path !== ""),
  open: (roots, services) => new QuestmasterReader(roots, services),
};

/** A snapshot with all it was made from. */
interface Judged {
  held: Held;
  presence: Presence;
  seen: string | null;
  kinVersion: number;
  recheckAt: number | null;
  snapshot: Snapshot;
}

function stillHolds(
  before: Judged,
  held: Held,
  presence: Presence,
  seen: string | null,
  kinVersion: number,
  now: number,
): boolean {
  return (
    before.held === held &&
    before.seen === seen &&
    before.kinVersion === kinVersion &&
    (before.recheckAt === null || now < before.recheckAt) &&
    before.presence.liveness.live === presence.liveness.live &&
    before.presence.liveness.why === presence.liveness.why &&
    before.presence.pane?.id === presence.pane?.id &&
    before.presence.pane?.dead === presence.pane?.dead
  );
}

class QuestmasterReader implements SourceReader {
  readonly fork = null;
  readonly #services: Services;
  readonly #readers: RootReader[];
  readonly #judged = new Map<SessionKey, Judged>();
  readonly #repos = new Map<string, Repo | null>();
  readonly #problems = new ToldProblems();
  #evidence: Evidence = noEvidence(0);

  constructor(roots: readonly Root[], services: Services) {
    this.#services = services;
    this.#readers = roots.map((root) => new RootReader(root));
  }

  watched(): Watched[] {
    return this.#readers.map(({ root }) => ({
      path: root.path,
      depth: 1,
      matters: (path) => touchedBy(root, path) !== null,
    }));
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    this.#repos.clear();
    for (const reader of this.#readers) {
      const ids = await reader.list();
      for (let at = 0; at < ids.length; at += BATCH) {
        for (const id of ids.slice(at, at + BATCH)) await reader.read(id);
        yield this.#delta(evidence, false);
      }
    }
    // Masters and workers know each other only now.
    yield this.#delta(evidence, true);
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    for (const path of new Set(paths)) {
      const reader = rootOfPath(this.#readers, path);
      const touched = reader === undefined ? null : touchedBy(reader.root, path);
      if (reader === undefined || touched === null) continue;
      if (touched.kind === "repo-colors") reader.readColors();
      else if (touched.kind === "bad-id") reader.checkBadID(path);
      else if (touched.kind === "state") await reader.readState(touched.id);
      else if (touched.kind === "log") reader.readLog(touched.id);
      else {
        const known = reader.held.has(touched.id);
        // A manifest may appear after its state: nothing of it was read then.
        if (known) await reader.readManifest(touched.id);
        else await reader.read(touched.id);
      }
    }
    return this.#delta(evidence, false);
  }

  tick(evidence: Evidence): Delta {
    return this.#delta(evidence, false);
  }

  /** Judges again every session whose own files, process, seen mark or kin changed, or whose time has come. Reads no file. */
  #delta(evidence: Evidence, always: boolean): Delta {
    this.#evidence = evidence;
    const changes = new SnapshotChanges();
    const gone = new Map(this.#judged);
    let recheckAt: number | null = null;
    for (const reader of this.#readers) {
      let kinOf: ((held: Held) => Kin) | null = null;
      for (const held of reader.held.values()) {
        gone.delete(held.key);
        const before = this.#judged.get(held.key);
        const presence = presenceOf(held.manifest, evidence);
        const seen = this.#services.seen(held.key);
        let judged = before;
        if (!before || !stillHolds(before, held, presence, seen, reader.kinVersion, evidence.now)) {
          kinOf ??= this.#kinship(reader);
          const fresh = snapshotOf(held, kinOf(held), { presence, seen, now: evidence.now });
          const snapshot = changes.note(before?.snapshot ?? null, fresh.snapshot);
          judged = { held, presence, seen, kinVersion: reader.kinVersion, recheckAt: fresh.recheckAt, snapshot };
          this.#judged.set(held.key, judged);
        }
        const at = judged?.recheckAt ?? null;
        if (at !== null && (recheckAt === null || at < recheckAt)) recheckAt = at;
      }
    }
    for (const [key, { snapshot }] of gone) {
      changes.note(snapshot, null);
      this.#judged.delete(key);
    }
    const problems = this.#problems.news(this.#readers.flatMap((reader) => reader.problems()));
    const { changed, removed } = changes;
    return { changed, removed, problems: problems ?? (always ? this.#problems.all : null), recheckAt };
  }

  #kinship(reader: RootReader): (held: Held) => Kin {
    const ids = new Set(reader.held.keys());
    const children = new Map<string, string[]>();
    for (const held of reader.held.values()) {
      const parent = parentID(held.manifest);
      if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), held.id]);
    }
    return (held) => {
      const parent = parentID(held.manifest);
      const master = parent === null ? null : (reader.held.get(parent)?.manifest ?? null);
      return {
        ids,
        children: (children.get(held.id) ?? []).sort(),
        master,
        repo: this.#repo(held.manifest.cwd),
        masterRepo: master === null ? null : this.#repo(master.cwd),
        repoColors: reader.repoColors,
      };
    };
  }

  #repo(cwd: string): Repo | null {
    if (cwd === "") return null;
    const known = this.#repos.get(cwd);
    if (known !== undefined) return known;
    const repo = repoOf(cwd);
    this.#repos.set(cwd, repo);
    return repo;
  }

  views(key: SessionKey): ViewName[] {
    const { snapshot } = this.#must(key).judged;
    return snapshot.team === null ? ["events", "info"] : ["events", "team", "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    this.#must(key);
    const at = { before: "", after: "", atStart: true, atEnd: true };
    return { page: async () => ({ entries: [], ...at, total: 0, nextUpto: null }), close: () => undefined };
  }

  files(key: SessionKey): string[] {
    const { held } = this.#must(key);
    const path = sessionStateLogPath(held.root.path, held.id);
    return [path, `${path}.1`];
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const { reader, held, judged } = this.#must(key);
    const { root } = reader;
    if (view === "events") return eventsDocument(await this.#logs(held), this.#evidence.now);
    if (view === "team") return teamDocument(this.#members(reader, judged.snapshot));
    return infoDocument({
      held,
      snapshot: judged.snapshot,
      artifacts: readArtifacts(sessionStateDir(root.path, held.id)),
      quests: readQuests(root.path).filter((one) => one.session_id === held.id),
    });
  }

  /** The log and the one before it, oldest first. */
  async #logs(held: Held): Promise<EventLog[]> {
    const path = sessionStateLogPath(held.root.path, held.id);
    const logs: EventLog[] = [];
    for (const one of [`${path}.1`, path]) {
      const read = await this.#services.files.advance(eventLogFold, one);
      if (read.ok) logs.push(read.folded.state);
    }
    return logs;
  }

  #members(reader: RootReader, snapshot: Snapshot): Member[] {
    return (snapshot.team?.members ?? []).map((id) => {
      const held = reader.held.get(id);
      const judged = held && this.#judged.get(held.key);
      return {
        id,
        snapshot: judged?.snapshot ?? null,
        promoted: held !== undefined && sessionType(held.manifest) === "master",
      };
    });
  }

  async requests(): Promise<[]> {
    return [];
  }

  async resume(key: SessionKey): Promise<ResumeAnswer> {
    const { held, judged } = this.#must(key);
    const { snapshot, presence } = judged;
    if (presence.liveness.live === "yes" && !isHooked(held.manifest)) {
      const argv = this.#services.env.TMUX
        ? ["tmux", "switch-client", "-t", `=${held.id}`]
        : ["tmux", "attach-session", "-t", `=${held.id}`];
      return { ok: true, command: { argv, cwd: null }, notes: ["it is live: this goes to its tmux session"] };
    }
    if (presence.liveness.live === "yes" && presence.pane !== null) {
      return { ok: false, reason: `it is live in the tmux pane ${presence.pane.id}: go there` };
    }
    if (snapshot.resume === null) {
      const who =
        snapshot.agent === null ? "its manifest names no agent" : `no safe resume id of ${snapshot.agent} is recorded`;
      return { ok: false, reason: `${who}, so its conversation cannot be found again` };
    }
    const notes = isHooked(held.manifest)
      ? []
      : ["this resumes the conversation outside questmaster; its own continue also rebuilds the tmux session"];
    return { ok: true, command: snapshot.resume, notes };
  }

  actions(key: SessionKey): SourceAction[] {
    const { reader, held, judged } = this.#must(key);
    const workers = [...reader.held.values()]
      .filter((one) => parentID(one.manifest) === held.id)
      .map((one) => {
        const other = this.#judged.get(one.key);
        return {
          id: one.id,
          title: other?.snapshot.title ?? one.id,
          live: other?.presence.liveness.live === "yes",
        };
      });
    return actionsOf({
      held,
      snapshot: judged.snapshot,
      live: judged.presence.liveness.live === "yes",
      workers,
      repo: this.#repo(held.manifest.cwd),
      env: this.#services.env,
    });
  }

  async close(): Promise<void> {
    this.#judged.clear();
    for (const reader of this.#readers) reader.held.clear();
  }

  #must(key: SessionKey): { reader: RootReader; held: Held; judged: Judged } {
    const judged = this.#judged.get(key);
    const reader = this.#readers.find((one) => one.root === judged?.held.root);
    if (judged && reader) return { reader, held: judged.held, judged };
    throw new Error(`there is no session ${key}`);
  }
}
