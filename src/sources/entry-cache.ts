import type { Entry } from "../session/entry.ts";

const MOST_CACHED = 8000;

/** What a transcript made, an entry or a line's entries, so that the unchanged keep their object from page to page. */
export class EntryCache<T extends Entry | Entry[]> {
  readonly #made = new Map<string, T>();

  /** What was made under this key, else what `make` makes now; null: nothing can be made, and nothing is kept. */
  get(key: string, make: () => T): T;
  get(key: string, make: () => T | null): T | null;
  get(key: string, make: () => T | null): T | null {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = make();
    if (made === null) return null;
    if (this.#made.size >= MOST_CACHED) this.#made.clear();
    this.#made.set(key, made);
    return made;
  }

  clear(): void {
    this.#made.clear();
  }
}
