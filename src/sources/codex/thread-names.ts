import type { FoldedFiles } from "../../files/folded-files.ts";
import type { Root } from "../source.ts";
import { namesFold } from "./names.ts";

/** What threads are called, by each root's `session_index.jsonl` (agents.md §2.1). */
export class ThreadNames {
  readonly #files: FoldedFiles;
  /** Root → thread → name. */
  readonly #names = new Map<string, Record<string, string>>();

  constructor(files: FoldedFiles) {
    this.#files = files;
  }

  /** Brings a root's index up to date; returns the threads that are called otherwise now. */
  async read(root: Root, path: string): Promise<Set<string>> {
    const before = this.#names.get(root.path) ?? {};
    const result = await this.#files.advance(namesFold, path);
    const names = result.ok ? { ...result.folded.state.names } : {};
    this.#names.set(root.path, names);
    return new Set(Object.keys({ ...before, ...names }).filter((id) => before[id] !== names[id]));
  }

  /** The name in its own root, else in any; null: it has none. */
  of(thread: string, root: Root): string | null {
    for (const names of [this.#names.get(root.path) ?? {}, ...this.#names.values()]) {
      if (Object.hasOwn(names, thread)) return names[thread] ?? null;
    }
    return null;
  }
}
