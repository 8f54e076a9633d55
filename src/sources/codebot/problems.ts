import type { Problem } from "../../session/problem.ts";

/** The problems of this source by path and kind, and whether they changed since they were last told. */
export class Problems {
  readonly #byPlace = new Map<string, Problem>();
  #told = "";

  add(path: string, kind: string, message: string): void {
    this.#byPlace.set(`${path}\0${kind}`, { source: "codebot", path, kind, message: `${path}: ${message}` });
  }

  /** Takes away what was said of a path, of one kind only when it is given. */
  clear(path: string, kind?: string): void {
    if (kind !== undefined) this.#byPlace.delete(`${path}\0${kind}`);
    else for (const key of [...this.#byPlace.keys()]) if (key.startsWith(`${path}\0`)) this.#byPlace.delete(key);
  }

  /** Takes away everything of one kind under a directory. */
  clearUnder(directory: string, kind: string): void {
    for (const [key, problem] of this.#byPlace) {
      if (problem.kind === kind && problem.path.startsWith(`${directory}/`)) this.#byPlace.delete(key);
    }
  }

  /** All problems, sorted; null when nothing changed since the last time. */
  news(always = false): Problem[] | null {
    const list = [...this.#byPlace.values()].sort((a, b) =>
      a.path < b.path ? -1 : a.path > b.path ? 1 : a.kind < b.kind ? -1 : 1,
    );
    const now = JSON.stringify(list);
    if (now === this.#told && !always) return null;
    this.#told = now;
    return list;
  }
}
