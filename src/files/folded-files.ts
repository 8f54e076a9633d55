import { type Advanced, advanceFile, type FileFold, type Folded, runSliced } from "./fold.ts";

/** Where sources get the states of their files from. It may read here, in a worker, or know them from the index. */
export interface FoldedFiles {
  /** Brings one file up to date. Calls for the same file are answered one after another. */
  advance<S>(fold: FileFold<S>, path: string): Promise<Advanced<S>>;
  /** Drops what is known of a file that is gone. */
  forget(path: string): void;
}

/** What can stand behind the states in memory: an index on disk, other threads to read in. */
export interface FoldBacking {
  /** A state of an earlier start, not yet checked against the file; null when there is none. */
  recall(fold: FileFold<unknown>, path: string): Folded<unknown> | null;
  read(fold: FileFold<unknown>, path: string, before: Folded<unknown> | null): Promise<Advanced<unknown>>;
  /** A state that is new. */
  keep(fold: FileFold<unknown>, path: string, folded: Folded<unknown>): void;
  drop(path: string): void;
}

const MEMORY_ONLY: FoldBacking = {
  recall: () => null,
  read: (fold, path, before) => runSliced(advanceFile(fold, path, before)),
  keep: () => undefined,
  drop: () => undefined,
};

/** Keeps states in memory and reads in this thread, in slices, unless its backing knows better. */
export class LocalFoldedFiles implements FoldedFiles {
  readonly #backing: FoldBacking;
  readonly #known = new Map<string, { fold: string; folded: Folded<unknown> }>();
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(backing: FoldBacking = MEMORY_ONLY) {
    this.#backing = backing;
  }

  advance<S>(fold: FileFold<S>, path: string): Promise<Advanced<S>> {
    const turn = (this.#busy.get(path) ?? Promise.resolve()).then(() => this.#advance(fold, path));
    const settled = turn.catch(() => undefined);
    this.#busy.set(path, settled);
    void settled.then(() => {
      if (this.#busy.get(path) === settled) this.#busy.delete(path);
    });
    return turn;
  }

  forget(path: string): void {
    this.#known.delete(path);
    this.#backing.drop(path);
  }

  /** Resolves when no state is being changed: only then may states be copied elsewhere. */
  async idle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values());
  }

  async #advance<S>(fold: FileFold<S>, path: string): Promise<Advanced<S>> {
    const id = `${fold.name}/${fold.version}`;
    const held = this.#known.get(path);
    const before = held?.fold === id ? held.folded : this.#backing.recall(fold, path);
    // While it is being changed in place it belongs to nobody: a throw half-way must not leave it in use.
    this.#known.delete(path);
    const result = await this.#backing.read(fold, path, before);
    if (result.ok) {
      this.#known.set(path, { fold: id, folded: result.folded });
      if (result.changed) this.#backing.keep(fold, path, result.folded);
    }
    // States are kept by the fold's name and version, which is what makes this one an S.
    return result as Advanced<S>;
  }
}
