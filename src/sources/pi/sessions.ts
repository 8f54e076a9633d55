import { basename, dirname } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import type { PiFile, PiHeader } from "./file.ts";
import { idOfName } from "./ids.ts";
import { isBelowSession } from "./locate.ts";

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

  paths(): string[] {
    return [...this.#byPath.keys(), ...this.#others.keys()];
  }

  /** Takes in a file as it is now; returns the ids it concerns. */
  take(root: Root, folded: Folded<PiFile>): string[] {
    const touched = this.drop(folded.path);
    const { header } = folded.state;
    if (header === null) {
      this.#others.set(folded.path, root);
      return touched;
    }
    this.#byPath.set(folded.path, { root, folded, header });
    add(this.#byId, header.id, folded.path);
    add(this.#byName, basename(folded.path), folded.path);
    return [...touched, header.id];
  }

  drop(path: string): string[] {
    this.#others.delete(path);
    const before = this.#byPath.get(path);
    if (before === undefined) return [];
    this.#byPath.delete(path);
    this.#byId.get(before.header.id)?.delete(path);
    this.#byName.get(basename(path))?.delete(path);
    return [before.header.id];
  }

  /** The files of one id; the first one is shown: the one that was written to last. */
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

  ids(): string[] {
    return [...this.#byId].filter(([, paths]) => paths.size > 0).map(([id]) => id);
  }

  /** The session a header says it was copied from: known by its path, its file's name, or that name's id. */
  originOf(candidate: Candidate): { id: string; known: boolean } | null {
    const path = candidate.header.parentSession;
    if (path === null) return null;
    const [named] = this.#byName.get(basename(path)) ?? [];
    const found = this.#byPath.get(path) ?? (named === undefined ? undefined : this.#byPath.get(named));
    const id = found?.header.id ?? idOfName(path);
    // A copy under its own id was moved, not forked.
    if (id === null || id === candidate.header.id) return null;
    return { id, known: this.candidates(id).length > 0 };
  }

  /** Of a session below another one's folder: the nearest session whose folder that is. null: none, or it is gone. */
  starterOf(candidate: Candidate): string | null {
    const { path } = candidate.folded;
    for (let at = dirname(path); at.length > candidate.root.path.length; at = dirname(at)) {
      const found = this.#byPath.get(`${at}.jsonl`);
      if (found !== undefined && found !== candidate) return found.header.id;
    }
    return null;
  }

  isChild(candidate: Candidate): boolean {
    return isBelowSession(candidate.root.path, candidate.folded.path);
  }

  childrenOf(id: string): Candidate[] {
    const path = this.candidates(id)[0]?.folded.path;
    if (path === undefined) return [];
    const folder = `${path.slice(0, -".jsonl".length)}/`;
    return [...this.#byPath.values()]
      .filter((one) => one.folded.path.startsWith(folder) && this.starterOf(one) === id)
      .sort((a, b) => (a.header.startedAt ?? 0) - (b.header.startedAt ?? 0));
  }

  /** The oldest session a chain of copies goes back to, known or not: the name of its family. */
  familyOf(id: string): string {
    const seen = new Set<string>();
    let at = id;
    while (!seen.has(at)) {
      seen.add(at);
      const candidate = this.candidates(at)[0];
      const origin = candidate === undefined ? null : this.originOf(candidate);
      if (origin === null) return at;
      at = origin.id;
    }
    return [...seen].sort()[0] ?? id;
  }

  problems(): Problem[] {
    const problems: Problem[] = [];
    const byRoot = new Map<string, number>();
    for (const root of this.#others.values()) byRoot.set(root.path, (byRoot.get(root.path) ?? 0) + 1);
    for (const [path, count] of byRoot) {
      const message = `${path}: ${count} .jsonl ${count === 1 ? "file does" : "files do"} not begin with a session header: left out`;
      problems.push({ source: "pi", path, kind: "not-sessions", message });
    }
    for (const id of this.ids()) {
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
