import { type Advanced, advanceFile, type FileFold, type Folded, runSliced } from "./fold.ts";

/** Where sources get the states of their files from. It may read here, in a worker, or know them from the index. */
export interface FoldedFiles {
  /** Brings one file up to date. Calls for the same file are answered one after another. */
  advance<S>(fold: FileFold<S>, path: string): Promise<Advanced<S>>;
  /** Drops what is known of a file that is gone. */
  forget(path: string): void;
}

/** Reads in this thread, in slices; keeps states in memory. */
export class LocalFoldedFiles implements FoldedFiles {
  readonly #known = new Map<string, { fold: string; folded: Folded<unknown> }>();
  readonly #busy = new Map<string, Promise<unknown>>();

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
  }

  async #advance<S>(fold: FileFold<S>, path: string): Promise<Advanced<S>> {
    const id = `${fold.name}/${fold.version}`;
    const held = this.#known.get(path);
    // The state was made by a fold of the same name and version, which is what makes it an S.
    const before = held?.fold === id ? (held.folded as Folded<S>) : null;
    // While it is being changed in place it belongs to nobody: a throw half-way must not leave it in use.
    this.#known.delete(path);
    const result = await runSliced(advanceFile(fold, path, before));
    if (result.ok) this.#known.set(path, { fold: id, folded: result.folded });
    return result;
  }
}
