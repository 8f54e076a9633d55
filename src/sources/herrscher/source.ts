import { isAbsolute } from "node:path";
import type { Evidence } from "../../probe/evidence.ts";
import type { Document } from "../../session/document.ts";
import { parseKey, type SessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { ModelRequest } from "../../usage/request.ts";
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
import { ToldProblems } from "../told.ts";
import { actionsOf } from "./actions.ts";
import { carryOut } from "./carry.ts";
import { eventsDocument, infoDocument, teamDocument, usageDocument } from "./documents.ts";
import { defaultDirectory } from "./place.ts";
import { requestsOf, turnsOf } from "./requests.ts";
import { type HeldRow, HerrscherRoot } from "./root.ts";
import { HerrscherTranscript } from "./timeline.ts";

/** The daemon herrscher: sessions, transcripts, budgets and delegations, live where it runs (herrscher.md). */
export const herrscherSource: Source = {
  name: "herrscher",
  title: "herrscher",
  probes: ["locks", "processes", "tmux"],
  defaultRoots: (env) => {
    const dir = defaultDirectory(env);
    return dir !== null && isAbsolute(dir) ? [dir] : [];
  },
  open: (roots, services) => new HerrscherReader(roots, services),
};

type Found = { root: HerrscherRoot } & HeldRow;

class HerrscherReader implements SourceReader {
  readonly #roots: HerrscherRoot[];
  readonly #listeners = new Set<(delta: Delta) => void>();
  readonly #recheck = new Map<HerrscherRoot, number | null>();
  readonly #problems = new ToldProblems();
  /** A copy of a conversation would be one the daemon knows nothing of. */
  readonly fork = null;

  constructor(roots: readonly Root[], services: Services) {
    this.#roots = roots.map((root): HerrscherRoot => {
      const made: HerrscherRoot = new HerrscherRoot(root, services, (delta) => this.#tell(made, delta));
      return made;
    });
  }

  watched(): Watched[] {
    return this.#roots.map((root) => root.watched());
  }

  async *scan(evidence: Evidence): AsyncIterable<Delta> {
    for (const root of this.#roots) {
      await root.readAll(evidence);
      yield this.#merged([[root, root.compose(evidence, true)]]);
    }
    // What is on disk is shown; now whoever listens at the sockets has a few seconds to answer.
    const asked = this.#roots.filter((root) => root.daemon.mustAsk);
    await Promise.all(asked.map((root) => root.daemon.ask()));
    if (asked.length > 0) yield this.#merged(asked.map((root) => [root, root.compose(evidence, false)]));
  }

  async apply(paths: readonly string[], evidence: Evidence): Promise<Delta> {
    const deltas: [HerrscherRoot, Delta][] = [];
    for (const root of this.#roots) {
      if (await root.readChanged(paths, evidence)) deltas.push([root, root.compose(evidence, true)]);
    }
    return this.#merged(deltas);
  }

  tick(evidence: Evidence): Delta {
    return this.#merged(this.#roots.map((root) => [root, root.compose(evidence, false)]));
  }

  onLive(listener: (delta: Delta) => void): () => void {
    this.#listeners.add(listener);
    for (const root of this.#roots) root.daemon.listen();
    return () => {
      this.#listeners.delete(listener);
    };
  }

  views(key: SessionKey): ViewName[] {
    const found = this.#find(key);
    if (found === null) return [];
    const views: ViewName[] = ["timeline", "usage"];
    if (found.facts.cohort.length > 1) views.push("team");
    if (found.facts.live !== null || found.facts.feed?.connected) views.push("events");
    return [...views, "info"];
  }

  async transcript(key: SessionKey): Promise<Transcript> {
    const { facts, snapshot } = this.#must(key);
    if (!facts.row.nameValid) throw new Error("the row is damaged: it has no transcript that could be read");
    return new HerrscherTranscript(snapshot.path);
  }

  files(key: SessionKey): string[] {
    const { facts, snapshot } = this.#must(key);
    return facts.row.nameValid ? [snapshot.path] : [];
  }

  async document(key: SessionKey, view: ViewName): Promise<Document> {
    const { facts, root, snapshot } = this.#must(key);
    switch (view) {
      case "usage":
        return usageDocument(facts, facts.row.nameValid ? await turnsOf(snapshot.path) : []);
      case "team": {
        const listed = root.daemon.listed.find((one) => one.name === facts.cohortRoot)?.coordination ?? null;
        const joined =
          listed === null ? null : `${listed.reported} of ${listed.expected}${listed.complete ? ", complete" : ""}`;
        return teamDocument(facts, root.members(facts), joined);
      }
      case "events":
        return eventsDocument(facts);
      default: {
        const sockets = root.daemon.sockets();
        const shown = sockets === null ? "none: the instance id is not one" : `${sockets.command}, ${sockets.events}`;
        return infoDocument(facts, snapshot, { statePath: root.statePath, sockets: shown });
      }
    }
  }

  async requests(key: SessionKey): Promise<ModelRequest[]> {
    const { facts, snapshot } = this.#must(key);
    if (facts.sums.reportedTurns === 0 || facts.row.duplicate || !facts.row.nameValid) return [];
    return requestsOf(facts, await turnsOf(snapshot.path));
  }

  async resume(key: SessionKey): Promise<ResumeAnswer> {
    return this.#must(key).resume;
  }

  actions(key: SessionKey): SourceAction[] {
    const { facts, root } = this.#must(key);
    const taken = (): ReadonlySet<string> => new Set(root.content?.rows?.map((row) => row.session.name));
    return actionsOf(facts, root.channel(), taken, (...order) => carryOut(root, ...order));
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    for (const root of this.#roots) root.close();
  }

  #find(key: SessionKey): Found | null {
    const parts = parseKey(key);
    const root = this.#roots.find((one) => one.root.index === parts?.root);
    const held = root?.find(key) ?? null;
    return root === undefined || held === null ? null : { root, ...held };
  }

  #must(key: SessionKey): Found {
    const found = this.#find(key);
    if (found === null) throw new Error(`there is no session ${key}`);
    return found;
  }

  #tell(root: HerrscherRoot, delta: Delta): void {
    const merged = this.#merged([[root, delta]]);
    if (merged.changed.length === 0 && merged.removed.length === 0 && merged.problems === null) return;
    for (const listener of this.#listeners) listener(merged);
  }

  #merged(deltas: readonly [HerrscherRoot, Delta][]): Delta {
    for (const [root, delta] of deltas) this.#recheck.set(root, delta.recheckAt);
    let problems: Problem[] | null = null;
    if (deltas.some(([, delta]) => delta.problems !== null)) {
      problems = this.#problems.news(this.#roots.flatMap((root) => root.problems()));
    }
    const rechecks = [...this.#recheck.values()].filter((at) => at !== null);
    return {
      changed: deltas.flatMap(([, delta]) => delta.changed),
      removed: deltas.flatMap(([, delta]) => delta.removed),
      problems,
      recheckAt: rechecks.length === 0 ? null : Math.min(...rechecks),
    };
  }
}
