import { basename, dirname, join } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Problem } from "../../session/problem.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { field, textField } from "../jsonl/record.ts";
import { readSmallJson } from "../jsonl/small-json.ts";
import type { Root } from "../source.ts";
import { isSession } from "./describe.ts";
import { familyTies } from "./family.ts";
import type { ClaudeFile } from "./file.ts";
import { SESSION_ID } from "./ids.ts";
import { type Place, placeOf } from "./locate.ts";
import { type Registered, readRegistered } from "./registry.ts";
import type { AgentFile } from "./requests.ts";
import { SharedMessages } from "./shared-messages.ts";
import { Summaries } from "./summaries.ts";

const SOURCE = "claude";

/** A copy of a session's main file in one root or folder. */
export interface Candidate {
  root: Root;
  project: string;
  folded: Folded<ClaudeFile>;
}

interface Known {
  root: Root;
  place: Place;
  folded: Folded<ClaudeFile>;
  /** Whose it is. Known without its state, which is large and mostly packed, as is: */
  session: string | null;
  isSession: boolean;
}

interface AgentMeta {
  type: string | null;
  description: string | null;
  model: string | null;
  toolUseId: string | null;
}

/**
 * All files of all roots, joined by the session they belong to. Pure bookkeeping: what is read is handed in, so the
 * result never depends on the order in which files were found.
 */
export class ClaudeSessions {
  readonly #files = new Map<string, Known>();
  /** Session id → its paths. */
  readonly #bySession = new Map<string, Set<string>>();
  readonly #ties = new Map<string, Set<string>>();
  readonly #tiesOf = new Map<string, string[]>();
  readonly #shared = new SharedMessages();
  readonly #summaries = new Summaries();
  /** Folder → transcripts in it. */
  readonly #folders = new Map<string, Set<string>>();
  readonly #registered = new Map<string, Registered>();
  readonly #metas = new Map<string, AgentMeta>();
  readonly #titles = new Map<string, string>();
  readonly #archived = new Set<string>();

  registered(): Registered[] {
    return [...this.#registered.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  ids(): string[] {
    return [...this.#bySession.keys()];
  }

  paths(): string[] {
    return [
      ...this.#files.keys(),
      ...this.#metas.keys(),
      ...this.#titles.keys(),
      ...this.#archived,
      ...this.#registered.keys(),
    ];
  }

  /** Takes in a transcript; returns the sessions it may change. */
  take(root: Root, path: string, folded: Folded<ClaudeFile>): Set<string> {
    const place = placeOf(root.path, path);
    if (place === null || (place.kind !== "session" && place.kind !== "agent")) return new Set();
    const before = this.#files.get(path);
    const old = before === undefined ? null : before.session;
    const session = sessionOf(place, folded);
    this.#files.set(path, {
      root,
      place,
      folded,
      session,
      isSession: place.kind === "session" && isSession(folded.state),
    });
    const dirty = new Set<string>();
    if (old !== null && old !== session) this.#leave(old, path, dirty);
    if (session === null) return dirty;
    const paths = this.#bySession.get(session) ?? new Set();
    this.#bySession.set(session, paths.add(path));
    dirty.add(session);
    if (place.kind === "session") {
      const folder = folderOf(root, place.project);
      this.#folders.set(folder, (this.#folders.get(folder) ?? new Set()).add(path));
      this.#summaries.set(folder, path, folded.state.summaries);
    }
    const tied = this.#shared.note(session, folded.state);
    for (const one of place.kind === "session" ? tied.add(session) : tied) this.#retie(one, dirty);
    return dirty;
  }

  /** Takes in a small file beside the transcripts, or that it is gone. */
  takeSmall(root: Root, path: string): Set<string> {
    const place = placeOf(root.path, path);
    if (place?.kind === "registry") return this.#takeRegistry(path);
    if (place?.kind === "agent-meta") {
      const of = readSmallJson(path);
      if (of === null) this.#metas.delete(path);
      else {
        this.#metas.set(path, {
          type: shown(textField(of, "agentType")),
          description: shown(textField(of, "description")),
          model: shown(textField(of, "model")),
          toolUseId: textField(of, "toolUseId"),
        });
      }
      return new Set([place.session]);
    }
    if (place?.kind === "title") {
      const title = textField(readSmallJson(path), "customTitle");
      if (title === null) this.#titles.delete(path);
      else this.#titles.set(path, title);
      return new Set([place.session]);
    }
    if (place?.kind === "archived") {
      if (field(readSmallJson(path), "archived") === true) this.#archived.add(path);
      else this.#archived.delete(path);
      return new Set([place.session]);
    }
    return new Set();
  }

  #takeRegistry(path: string): Set<string> {
    const dirty = new Set<string>();
    const before = this.#registered.get(path);
    if (before !== undefined) dirty.add(before.sessionId);
    const now = readRegistered(path);
    if (now === null) this.#registered.delete(path);
    else {
      this.#registered.set(path, now);
      dirty.add(now.sessionId);
    }
    return dirty;
  }

  /** A file that is gone. */
  drop(root: Root, path: string): Set<string> {
    const known = this.#files.get(path);
    if (known === undefined) return this.takeSmall(root, path);
    this.#files.delete(path);
    if (known.place.kind === "session") {
      const folder = folderOf(root, known.place.project);
      this.#folders.get(folder)?.delete(path);
      this.#summaries.set(folder, path, {});
    }
    const dirty = new Set<string>();
    if (known.session !== null) this.#leave(known.session, path, dirty);
    return dirty;
  }

  /** A session's copies, the one that counts first: the longer file wins (agents.md §1.1). */
  candidates(id: string): Candidate[] {
    const found: Candidate[] = [];
    for (const path of this.#bySession.get(id) ?? []) {
      const known = this.#files.get(path);
      if (known?.place.kind !== "session" || !known.isSession) continue;
      found.push({ root: known.root, project: known.place.project, folded: known.folded });
    }
    return found.sort(
      (a, b) =>
        b.folded.size - a.folded.size ||
        b.folded.mtimeMs - a.folded.mtimeMs ||
        (a.folded.path < b.folded.path ? -1 : 1),
    );
  }

  /** Its sub-agents' files: of copies of one the longer. Workflows may give two of their agents the same id. */
  agents(id: string): AgentFile[] {
    const found: { agent: string; path: string; folded: Folded<ClaudeFile> }[] = [];
    for (const path of this.#bySession.get(id) ?? []) {
      const known = this.#files.get(path);
      if (known?.place.kind === "agent") found.push({ agent: known.place.agent, path, folded: known.folded });
    }
    found.sort((a, b) => b.folded.size - a.folded.size || (a.path < b.path ? -1 : 1));
    const kept: typeof found = [];
    for (const one of found) {
      const isCopy = kept.some(({ agent, folded }) => agent === one.agent && areCopies(folded.state, one.folded.state));
      if (!isCopy) kept.push(one);
    }
    // What it is called must not depend on how far it got.
    kept.sort((a, b) => (a.path < b.path ? -1 : 1));
    const byId = new Map<string, (typeof found)[number]>();
    for (const one of kept) byId.set(byId.has(one.agent) ? namedByFolder(one, byId) : one.agent, one);
    return [...byId]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([agent, { path, folded }]) => ({
        id: agent,
        path,
        get file() {
          return folded.state;
        },
        ...(this.#metas.get(path.replace(/\.jsonl$/u, ".meta.json")) ?? NO_META),
      }));
  }

  customTitleFile(one: Candidate, id: string): string | null {
    return this.#titles.get(join(one.root.path, "projects", one.project, id, "custom-title.json")) ?? null;
  }

  archived(one: Candidate, id: string): boolean {
    return this.#archived.has(join(one.root.path, "projects", one.project, id, "archived.json"));
  }

  summaries(one: Candidate): ReadonlyMap<string, string> {
    return this.#summaries.of(folderOf(one.root, one.project));
  }

  /** The sessions that share rows with one of these, or say they were copied from one. */
  families(ids: Iterable<string>): Set<string>[] {
    const families: Set<string>[] = [];
    const done = new Set<string>();
    for (const id of ids) {
      if (done.has(id)) continue;
      const family = new Set([id]);
      for (const one of family) {
        for (const tie of this.#tiesOf.get(one) ?? []) for (const kin of this.#ties.get(tie) ?? []) family.add(kin);
      }
      for (const one of family) done.add(one);
      families.push(family);
    }
    return families;
  }

  /** What is wrong, and what was left out (design §4: never silently). */
  problems(): Problem[] {
    const problems: Problem[] = [];
    const empty = new Map<string, number>();
    for (const [id, paths] of this.#bySession) {
      const candidates = this.candidates(id);
      const [winner, ...others] = candidates;
      for (const other of others) {
        const message = `${other.folded.path}: session ${id} is also in ${winner?.folded.path ?? "?"}, which is longer: that one is shown`;
        problems.push({ source: SOURCE, path: other.folded.path, kind: "duplicate", message });
      }
      if (winner !== undefined) continue;
      for (const path of [...paths].sort()) {
        const known = this.#files.get(path);
        if (known === undefined) continue;
        if (known.place.kind === "session") empty.set(known.root.path, (empty.get(known.root.path) ?? 0) + 1);
        else {
          const message = `${path}: a sub-agent of session ${cleanLine(id)}, whose own file is gone: not listed`;
          problems.push({ source: SOURCE, path, kind: "orphan", message });
        }
      }
    }
    for (const [root, count] of empty) {
      const what = count === 1 ? "1 file holds" : `${count} files hold`;
      const message = `${root}: ${what} only titles and settings, no conversation: not listed`;
      problems.push({ source: SOURCE, path: root, kind: "not-sessions", message });
    }
    return problems.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  }

  #leave(session: string, path: string, dirty: Set<string>): void {
    dirty.add(session);
    const paths = this.#bySession.get(session);
    paths?.delete(path);
    this.#retie(session, dirty);
    if (paths?.size === 0) this.#bySession.delete(session);
  }

  /** Renews what ties a session to others; those it was tied to change with it. */
  #retie(session: string, dirty: Set<string>): void {
    const winner = this.candidates(session)[0];
    const ties =
      winner === undefined ? [] : [...familyTies(session, winner.folded.state), ...this.#shared.ties(session)];
    const before = this.#tiesOf.get(session) ?? [];
    if (before.length === ties.length && before.every((tie, i) => tie === ties[i])) return;
    for (const tie of before) {
      for (const kin of this.#ties.get(tie) ?? []) dirty.add(kin);
      this.#ties.get(tie)?.delete(session);
    }
    if (ties.length === 0) this.#tiesOf.delete(session);
    else this.#tiesOf.set(session, ties);
    for (const tie of ties) {
      const kin = this.#ties.get(tie) ?? new Set();
      this.#ties.set(tie, kin.add(session));
      for (const one of kin) dirty.add(one);
    }
  }

  /** The sessions whose summary changed since the last time, by whatever file: one look at a folder for all of them. */
  summarized(): Set<string> {
    const dirty = new Set<string>();
    for (const [folder, leaves] of this.#summaries.takeChanged()) {
      for (const path of this.#folders.get(folder) ?? []) {
        const known = this.#files.get(path);
        if (known?.place.kind !== "session") continue;
        const { rows } = known.folded.state;
        for (const leaf of leaves) if (Object.hasOwn(rows, leaf)) dirty.add(known.place.id);
      }
    }
    return dirty;
  }
}

function sessionOf(place: Place, folded: Folded<ClaudeFile>): string | null {
  if (place.kind === "session") return place.id;
  if (place.kind !== "agent") return null;
  const session = place.session ?? folded.state.sessionId;
  return session !== null && SESSION_ID.test(session) ? session : null;
}

/** Two files of one agent hold the same first rows (agents.md §1.1: an older version kept them elsewhere). */
function areCopies(a: ClaudeFile, b: ClaudeFile): boolean {
  return b.roots.some((uuid) => Object.hasOwn(a.rows, uuid)) || a.roots.some((uuid) => Object.hasOwn(b.rows, uuid));
}

/** `wf_2/x1`: another agent of the same id, told by the folder it lies in. */
function namedByFolder(one: { agent: string; path: string }, taken: ReadonlyMap<string, unknown>): string {
  const name = `${cleanLine(basename(dirname(one.path)))}/${one.agent}`;
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name}~${n}`;
  return free;
}

const NO_META: AgentMeta = { type: null, description: null, model: null, toolUseId: null };

function folderOf(root: Root, project: string): string {
  return join(root.path, "projects", project);
}

function shown(text: string | null): string | null {
  return text === null ? null : cutCodePoints(cleanLine(text), 300);
}
