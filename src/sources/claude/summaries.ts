type ByLeaf = Readonly<Record<string, string>>;

/** What transcripts say of leaves that usually lie in other files of their folder (agents.md §1.4). */
export class Summaries {
  /** Folder → file → leaf uuid → summary. */
  readonly #byFile = new Map<string, Map<string, ByLeaf>>();
  /** Folder → leaf uuid → summary: what all its files say, until one says something else. */
  readonly #merged = new Map<string, ReadonlyMap<string, string>>();
  /** Folder → leaves whose summary changed since `takeChanged` was last asked. */
  readonly #changed = new Map<string, Set<string>>();

  /** What a file says now; nothing, when it is gone. */
  set(folder: string, path: string, summaries: ByLeaf): void {
    const files = this.#byFile.get(folder) ?? new Map<string, ByLeaf>();
    const before = files.get(path) ?? {};
    const leaves = new Set([...Object.keys(before), ...Object.keys(summaries)]);
    const changed = [...leaves].filter((leaf) => before[leaf] !== summaries[leaf]);
    if (changed.length === 0) return;
    this.#merged.delete(folder);
    if (Object.keys(summaries).length > 0) files.set(path, { ...summaries });
    else files.delete(path);
    this.#byFile.set(folder, files);
    this.#changed.set(folder, new Set([...(this.#changed.get(folder) ?? []), ...changed]));
  }

  /** Summaries by leaf; of two files that name the same one, the later by name counts. */
  of(folder: string): ReadonlyMap<string, string> {
    const known = this.#merged.get(folder);
    if (known !== undefined) return known;
    const merged = new Map<string, string>();
    for (const [, summaries] of [...(this.#byFile.get(folder) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const [leaf, text] of Object.entries(summaries)) merged.set(leaf, text);
    }
    this.#merged.set(folder, merged);
    return merged;
  }

  /** The leaves of each folder whose summary changed since the last time. */
  takeChanged(): Map<string, ReadonlySet<string>> {
    const changed = new Map(this.#changed);
    this.#changed.clear();
    return changed;
  }
}
