import type { Entry } from "../session/entry.ts";

const MOST_CACHED = 8000;

/** Entries as a transcript made them, so that an unchanged one keeps its object from page to page. */
export class EntryCache {
  readonly #made = new Map<string, Entry[]>();

  /** The entries made under this key, else those that `make` makes now; null: none, and nothing is kept. */
  entries(key: string, make: () => Entry[] | null): Entry[] {
    const known = this.#made.get(key);
    if (known !== undefined) return known.slice();
    const made = make();
    if (made === null) return [];
    if (this.#made.size >= MOST_CACHED) this.#made.clear();
    this.#made.set(key, made);
    return made.slice();
  }

  clear(): void {
    this.#made.clear();
  }
}
