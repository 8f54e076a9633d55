import type { FileFold, Folded } from "../../files/fold.ts";
import type { FoldedFiles } from "../../files/folded-files.ts";
import type { Problem } from "../../session/problem.ts";

/** A source's session files as they are read: what each says now, and which of them cannot be read. */
export class SourceFiles {
  readonly #source: string;
  readonly #files: FoldedFiles;
  readonly #unreadable = new Map<string, Problem>();

  constructor(source: string, files: FoldedFiles) {
    this.#source = source;
    this.#files = files;
  }

  /** A file as it is now, null when it is gone or cannot be read: then it is forgotten, and the latter is a problem. */
  async read<S>(fold: FileFold<S>, path: string): Promise<Folded<S> | null> {
    const result = await this.#files.advance(fold, path);
    this.#unreadable.delete(path);
    if (result.ok) return result.folded;
    const { kind, message } = result;
    if (kind !== "gone")
      this.#unreadable.set(path, { source: this.#source, path, kind, message: `${path}: ${message}` });
    this.#files.forget(path);
    return null;
  }

  /** A file as it is now, for an action or a view that needs it. Throws when it cannot be read. */
  async fresh<S>(fold: FileFold<S>, path: string): Promise<Folded<S>> {
    const result = await this.#files.advance(fold, path);
    if (!result.ok) throw new Error(`${path}: ${result.message}`);
    return result.folded;
  }

  problems(): Problem[] {
    return [...this.#unreadable.values()];
  }
}
