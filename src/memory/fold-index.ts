import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { advanceFile, type FileFold, type Folded, runNow } from "../files/fold.ts";
import { KeptFolded, type StoredState } from "../files/kept-folded.ts";
import { CannotOpen } from "../files/open.ts";
import { replaceFile } from "../files/publish.ts";
import { IndexFile, indexPieces, type ToWrite } from "./index-file.ts";
import { foldsDirectory } from "./state-directory.ts";

/**
 * The states of folds on disk, one file a fold and version: a start reads only what changed since, and a state that nobody
 * uses need not be in memory. A cache and nothing more: whatever is damaged, older or of another version is read anew from
 * the session files, and two forktails may overwrite each other's.
 */
export class FoldIndex {
  readonly #path: string;
  readonly #fold: FileFold<unknown>;
  #file: IndexFile | null;
  /** Files that are replaced by newer ones, and still hold states that are in use. */
  readonly #older: IndexFile[] = [];
  readonly #changed = new Map<string, Folded<unknown>>();
  readonly #deleted = new Set<string>();
  #dirty = false;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, fold: FileFold<unknown>) {
    this.#path = path;
    this.#fold = fold;
    this.#file = openIndex(path);
  }

  static open(directory: string, fold: FileFold<unknown>): FoldIndex {
    const name = `${fold.name.replace(/[^a-z0-9-]/gu, "-")}-${fold.version}.folds`;
    return new FoldIndex(join(foldsDirectory(directory), name), fold);
  }

  /** The state last saved for a file, null when there is none or it is damaged. Still to be checked against the file. */
  get(path: string): Folded<unknown> | null {
    const changed = this.#changed.get(path);
    if (changed) return changed;
    if (this.#deleted.has(path)) return null;
    const entry = this.#file?.entry(path) ?? null;
    const text = entry === null ? null : (this.#file?.text(entry) ?? null);
    if (this.#file === null || entry === null || text === null) return null;
    return KeptFolded.stored(entry.stamp, readOnce(text, this.#storedIn(this.#file, path)));
  }

  set(path: string, folded: Folded<unknown>): void {
    this.#changed.set(path, folded);
    this.#deleted.delete(path);
    this.#dirty = true;
  }

  delete(path: string): void {
    this.#changed.delete(path);
    this.#deleted.add(path);
    this.#dirty = true;
  }

  /** Writes what changed; the whole file is replaced at once, and what was saved rests there. Nothing changed: does nothing. */
  save(): Promise<void> {
    // One after another: whoever leaves waits for a save that has begun, too.
    const saved = this.#saving.then(() => this.#save());
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #save(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    const changed = new Map(this.#changed);
    const entries = new Map<string, ToWrite>();
    for (const entry of this.#file?.entries() ?? []) {
      if (!this.#deleted.has(entry.stamp.path))
        entries.set(entry.stamp.path, { stamp: entry.stamp, text: () => this.#file?.text(entry) ?? null });
    }
    for (const [path, folded] of changed) entries.set(path, toWrite(folded));
    mkdirSync(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    await replaceFile(this.#path, indexPieces(entries.values()), { mode: 0o600, durable: false });
    this.#deleted.clear();
    const file = openIndex(this.#path);
    if (file === null) return;
    if (this.#file !== null) this.#older.push(this.#file);
    this.#file = file;
    for (const [path, folded] of changed) {
      // It may have changed in the meantime, or another forktail may have replaced the file.
      if (this.#changed.get(path) !== folded) continue;
      this.#changed.delete(path);
      const entry = file.entry(path);
      const same = entry !== null && entry.stamp.guard === folded.guard && entry.stamp.offset === folded.offset;
      if (same && folded instanceof KeptFolded) folded.rest(this.#storedIn(file, path));
    }
  }

  close(): void {
    for (const file of [...this.#older, this.#file]) file?.close();
    this.#file = null;
  }

  #storedIn(file: IndexFile, path: string): StoredState {
    return {
      text: () => {
        const entry = file.entry(path);
        const text = entry === null ? null : file.text(entry);
        if (text !== null) return text;
        // Somebody cut our index under our feet: the session file knows.
        const again = runNow(advanceFile(this.#fold, path, null));
        return JSON.stringify(again.ok ? again.folded.state : this.#fold.initial());
      },
    };
  }
}

/** What was read to see whether it is whole is what the first one asks for. */
function readOnce(text: string, stored: StoredState): StoredState {
  let read: string | null = text;
  return {
    text: () => {
      const first = read ?? stored.text();
      read = null;
      return first;
    },
  };
}

/** What is awake may change while the others are written: it is taken down at once. */
function toWrite(folded: Folded<unknown>): ToWrite {
  const { path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard } = folded;
  const stamp = { path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard };
  if (folded instanceof KeptFolded && folded.isResting) return { stamp, text: () => folded.text() };
  const text = JSON.stringify(folded.state);
  return { stamp, text: () => text };
}

function openIndex(path: string): IndexFile | null {
  try {
    return IndexFile.open(path);
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}
