import { type DatabaseMark, markOf, type OpenDatabase, openDatabase } from "./open-database.ts";
import type { DatabaseSync } from "./sqlite.ts";

/** There is no database of that name any more. */
export class NoDatabase extends Error {
  override name = "NoDatabase";
}

/**
 * Opens databases for as long as something is read, and no longer: an open connection would keep OpenCode from putting
 * its log away when it ends. Only copies are kept, until the original changes.
 */
export class Connections {
  readonly #copies = new Map<string, { mark: string; open: OpenDatabase }>();

  /** Throws NoDatabase, or with SQLite's words. What was written meanwhile is read again once. */
  async use<T>(path: string, work: (database: DatabaseSync, mark: DatabaseMark) => Promise<T> | T): Promise<T> {
    for (let again = true; ; again = false) {
      const mark = await markOf(path);
      if (mark === null) throw new NoDatabase(`${path} is gone`);
      try {
        return await this.#run(path, mark, work);
      } catch (error) {
        const after = await markOf(path);
        if (!again || JSON.stringify(after) === JSON.stringify(mark)) throw error;
      }
    }
  }

  async close(): Promise<void> {
    const open = [...this.#copies.values()];
    this.#copies.clear();
    for (const one of open) await one.open[Symbol.asyncDispose]();
  }

  async #run<T>(
    path: string,
    mark: DatabaseMark,
    work: (database: DatabaseSync, mark: DatabaseMark) => Promise<T> | T,
  ): Promise<T> {
    const key = JSON.stringify(mark);
    const held = this.#copies.get(path);
    if (held?.mark === key) return await work(held.open.database, mark);
    if (held !== undefined) {
      this.#copies.delete(path);
      await held.open[Symbol.asyncDispose]();
    }
    const open = await openDatabase(path, mark);
    if (open.way === "copy") {
      this.#copies.set(path, { mark: key, open });
      return await work(open.database, mark);
    }
    try {
      return await work(open.database, mark);
    } finally {
      await open[Symbol.asyncDispose]();
    }
  }
}
