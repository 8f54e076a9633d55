import { basename, dirname, join, sep } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import type { PiFile, PiHeader } from "./file.ts";
import { idOfName } from "./ids.ts";
import { isBelowSession } from "./locate.ts";
import { RequestOwners } from "./owners.ts";

export interface Candidate {
  root: Root;
  folded: Folded<PiFile>;
  header: PiHeader;
}

/** All session files of all roots: which id lies where, who was copied from whom, who started whom. */
export class PiSessions {
  readonly #byPath = new Map<string, Candidate>();
  readonly #byId = new Map<string, Set<string>>();
  readonly #byName = new Map<string, Set<string>>();
  readonly #others = new Map<string, Root>();
  readonly #shown = new Map<string, Candidate>();
  readonly #origins = new Map<string, readonly string[]>();
  #rearranged = false;
  readonly #owners = new RequestOwners({
    shownAt: (path) => {
      const candidate = this.#byPath.get(path);
      return candidate !== undefined && this.shown(candidate.header.id) === candidate ? candidate : null;
    },
    originsOf: (id) => this.originsOf(id),
  });

  paths(): string[] {
    return [...this.#byPath.keys(), ...this.#others.keys()];
  }

  /** Takes in a file as it is now; returns the ids it concerns. */
  take(root: Root, folded: Folded<PiFile>): Set<string> {
    const { path, state } = folded;
    const { header } = state;
    const before = this.#byPath.get(path);
    const grew = before !== undefined && before.folded.state === state && before.header === header;
    const touched = grew ? new Set<string>() : this.drop(path);
    if (header === null) {
      this.#others.set(path, root);
      return touched;
    }
    this.#byPath.set(path, { root, folded, header });
    add(this.#byId, header.id, path);
    add(this.#byName, basename(path), path);
    this.#touch(touched, this.#owners.enter(path, state));
    if (this.#showAnew(header.id) || !grew) this.#rearrange(touched, header.id);
    return touched.add(header.id);
  }

  drop(path: string): Set<string> {
    this.#others.delete(path);
    const before = this.#byPath.get(path);
    const touched = new Set<string>();
    if (before === undefined) return touched;
    const { id } = before.header;
    this.#rearrange(touched, id);
    this.#byPath.delete(path);
    this.#byId.get(id)?.delete(path);
    this.#byName.get(basename(path))?.delete(path);
    this.#owners.leave(path);
    this.#showAnew(id);
    return touched.add(id);
  }

  /** Which files there are, and which of an id's is shown, decides what all that hold the same entries own. */
  #rearrange(touched: Set<string>, id: string): void {
    this.#rearranged = true;
    this.#origins.clear();
    for (const path of this.#byId.get(id) ?? []) this.#touch(touched, this.#owners.sharersOf(path));
  }

  #touch(touched: Set<string>, paths: Iterable<string>): void {
    for (const path of paths) {
      const id = this.#byPath.get(path)?.header.id;
      if (id !== undefined) touched.add(id);
    }
  }

  /** Is another file of the id shown than before? */
  #showAnew(id: string): boolean {
    const before = this.#shown.get(id)?.folded.path;
    const shown = this.candidates(id)[0];
    if (shown === undefined) this.#shown.delete(id);
    else this.#shown.set(id, shown);
    return shown?.folded.path !== before;
  }

  /** Did files come, go or take each other's place since this was last asked? Else they only grew. */
  wasRearranged(): boolean {
    const was = this.#rearranged;
    this.#rearranged = false;
    return was;
  }

  /** The file of an id that is shown: the one that was written to last. */
  shown(id: string): Candidate | null {
    return this.#shown.get(id) ?? null;
  }

  /** The files of one id, the one that is shown first. */
  candidates(id: string): Candidate[] {
    const all = [...(this.#byId.get(id) ?? [])].map((path) => this.#byPath.get(path));
    return all
      .filter((one) => one !== undefined)
      .sort(
        (a, b) =>
          (b.folded.state.updatedAt ?? 0) - (a.folded.state.updatedAt ?? 0) ||
          b.folded.size - a.folded.size ||
          (a.folded.path < b.folded.path ? -1 : 1),
      );
  }

  ids(): IterableIterator<string> {
    return this.#shown.keys();
  }

  /** The session a header says it was copied from: known by its path, what that ends with, or its name's id. */
  originOf(candidate: Candidate): { id: string; known: boolean } | null {
    const path = candidate.header.parentSession;
    if (path === null) return null;
    const id = this.#byPath.get(path)?.header.id ?? this.#movedFrom(path) ?? idOfName(path);
    // A copy under its own id was moved, not forked.
    if (id === null || id === candidate.header.id) return null;
    return { id, known: this.#shown.has(id) };
  }

  /** The session that lay at this path before its tree was moved: the only one whose path ends most like it. */
  #movedFrom(path: string): string | null {
    const asked = path.split(sep);
    let most = 0;
    let ids = new Set<string>();
    for (const named of this.#byName.get(basename(path)) ?? []) {
      const candidate = this.#byPath.get(named);
      if (candidate === undefined) continue;
      const length = sameEnd(asked, named.split(sep));
      if (length < most || !isTelling(asked.slice(-length), placeBelow(candidate).length)) continue;
      if (length > most) ids = new Set();
      most = length;
      ids.add(candidate.header.id);
    }
    const [id = null, ...more] = ids;
    return more.length === 0 ? id : null;
  }

  /** The sessions this one goes back to, copy by copy, known or not. */
  originsOf(id: string): readonly string[] {
    const known = this.#origins.get(id);
    if (known !== undefined) return known;
    const found = new Set<string>();
    for (let at: string | null = id; at !== null; ) {
      const candidate = this.shown(at);
      const origin: string | null = candidate === null ? null : (this.originOf(candidate)?.id ?? null);
      if (origin === null || origin === id || found.has(origin)) break;
      found.add(origin);
      at = origin;
    }
    const origins = [...found];
    this.#origins.set(id, origins);
    return origins;
  }

  /** The session that owns an entry. */
  ownerOf(entry: string): string | null {
    return this.#owners.ownerOf(entry);
  }

  /** Sessions that hold requests this one holds too. */
  sharersOf(id: string): Set<string> {
    const found = new Set<string>();
    const shown = this.shown(id);
    if (shown !== null) this.#touch(found, this.#owners.sharersOf(shown.folded.path));
    return found;
  }

  /** Of a session below another one's folder: the nearest session whose folder that is. null: none, or it is gone. */
  starterOf(candidate: Candidate): string | null {
    return this.#startersOf(candidate)[0]?.header.id ?? null;
  }

  /** The sessions below whose folders a file lies, nearest first. */
  #startersOf(candidate: Candidate): Candidate[] {
    const starters: Candidate[] = [];
    for (let at = dirname(candidate.folded.path); at.length > candidate.root.path.length; at = dirname(at)) {
      const found = this.#byPath.get(`${at}.jsonl`);
      if (found !== undefined && found !== candidate) starters.push(found);
    }
    return starters;
  }

  isChild(candidate: Candidate): boolean {
    return isBelowSession(candidate.root.path, candidate.folded.path);
  }

  /** Where a session of its own may lie beside this one: below another one's folder it would be that one's child. */
  directoryFor(candidate: Candidate): string {
    const { root, folded } = candidate;
    if (!this.isChild(candidate)) return dirname(folded.path);
    const top = this.#startersOf(candidate).at(-1);
    if (top !== undefined && !this.isChild(top)) return dirname(top.folded.path);
    const [project = ""] = placeBelow(candidate);
    return idOfName(`${project}.jsonl`) === null ? join(root.path, project) : root.path;
  }

  childrenOf(id: string): Candidate[] {
    const path = this.shown(id)?.folded.path;
    if (path === undefined) return [];
    const folder = `${path.slice(0, -".jsonl".length)}/`;
    return [...this.#byPath.values()]
      .filter((one) => one.folded.path.startsWith(folder) && this.starterOf(one) === id)
      .sort((a, b) => (a.header.startedAt ?? 0) - (b.header.startedAt ?? 0));
  }

  problems(): Problem[] {
    const problems: Problem[] = [];
    const byRoot = new Map<string, number>();
    for (const root of this.#others.values()) byRoot.set(root.path, (byRoot.get(root.path) ?? 0) + 1);
    for (const [path, count] of byRoot) {
      const message = `${path}: ${count} .jsonl ${count === 1 ? "file does" : "files do"} not begin with a session header: left out`;
      problems.push({ source: "pi", path, kind: "not-sessions", message });
    }
    for (const [id, paths] of this.#byId) {
      if (paths.size < 2) continue;
      const [shown, ...others] = this.candidates(id);
      for (const other of others) {
        const message = `${other.folded.path}: the same session as ${shown?.folded.path ?? "another file"}, which was written to later: left out`;
        problems.push({ source: "pi", path: other.folded.path, kind: "duplicate", message });
      }
    }
    return problems;
  }
}

function add(map: Map<string, Set<string>>, key: string, path: string): void {
  map.set(key, (map.get(key) ?? new Set()).add(path));
}

function placeBelow({ root, folded }: Candidate): string[] {
  return folded.path.slice(root.path.length + 1).split(sep);
}

/** How many names two paths have in common from the end on. */
function sameEnd(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

/** Names like `run-0/session.jsonl` are many sessions': one with an id in it, or the whole place below the root, is one's. */
function isTelling(end: readonly string[], whole: number): boolean {
  return end.length >= whole || end.some((name) => idOfName(name.endsWith(".jsonl") ? name : `${name}.jsonl`) !== null);
}
