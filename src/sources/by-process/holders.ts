/** Which files hold which entries: an entry that several sessions hold was copied (agents.md §0). */
export class Holders {
  /** Most entries lie in one file only, and a set for each of them would cost more than they do. */
  readonly #paths = new Map<string, string | Set<string>>();

  of(entry: string): Iterable<string> {
    const held = this.#paths.get(entry);
    if (held === undefined) return [];
    return typeof held === "string" ? [held] : held;
  }

  /** Returns whether that is new. */
  add(entry: string, path: string): boolean {
    const held = this.#paths.get(entry);
    if (held === path || (held instanceof Set && held.has(path))) return false;
    if (held instanceof Set) held.add(path);
    else this.#paths.set(entry, held === undefined ? path : new Set([held, path]));
    return true;
  }

  remove(entry: string, path: string): void {
    const held = this.#paths.get(entry);
    if (held === path) this.#paths.delete(entry);
    if (held === undefined || typeof held === "string") return;
    held.delete(path);
    const [left] = held;
    if (held.size === 1 && left !== undefined) this.#paths.set(entry, left);
  }
}
