import { lstatSync } from "node:fs";
import { type Advanced, advanceFile, type FileFold, type Folded, isUnchanged, runSliced } from "../files/fold.ts";
import { type FoldBacking, type FoldedFiles, LocalFoldedFiles } from "../files/folded-files.ts";
import { KeptFolded, stateBytes, storedInMemory } from "../files/kept-folded.ts";
import { Turns } from "../files/turns.ts";
import { FoldIndex } from "../memory/fold-index.ts";
import { isFirstStart } from "../memory/state-directory.ts";
import { FoldPool } from "./fold-pool.ts";

/** From this many unread bytes on a file is read in another thread; below, the way there costs more than the reading. */
const AWAY_FROM = 256 * 1024;
/** With this many files being read at once the small ones are read there too: together they are a large one. */
const CROWD = 16;
/** So many states of files that changed last are kept as objects; the others are packed until they are needed. */
const MOST_AWAKE = 16;

/** Folded files that know what was read at the last start, and read what is large in other threads. */
export class IndexedFoldedFiles implements FoldedFiles {
  readonly #directory: string;
  readonly #pool = new FoldPool();
  readonly #indexes = new Map<string, FoldIndex>();
  readonly #files: LocalFoldedFiles;
  /** States held as objects, by path, the one that changed last at the end. */
  readonly #awake = new Map<string, KeptFolded<unknown>>();
  /** The first reading is over. */
  #settled = false;
  #abandoned = false;
  #reading = 0;
  readonly #turns = new Turns();

  /** `directory`: where the index lies, which is our own state directory. */
  constructor(directory: string) {
    this.#directory = directory;
    const backing: FoldBacking = {
      recall: (fold, path) => this.#indexOf(fold).get(path),
      read: (fold, path, before) => this.#read(fold, path, before),
      keep: (fold, path, folded) => this.#indexOf(fold).set(path, folded),
      drop: (path) => {
        this.#awake.delete(path);
        for (const index of this.#indexes.values()) index.delete(path);
      },
    };
    this.#files = new LocalFoldedFiles(backing);
  }

  /** Tells that everything will be read soon. With no index to begin from, that takes threads, and these take time to start. */
  prepare(): void {
    if (isFirstStart(this.#directory)) this.#pool.warm();
  }

  /** Resolves when the first files are in the hands of reading threads. */
  handedOver(): Promise<void> {
    return this.#pool.handedOver;
  }

  advance<S>(fold: FileFold<S>, path: string): Promise<Advanced<S>> {
    return this.#files.advance(fold, path);
  }

  forget(path: string): void {
    this.#files.forget(path);
  }

  /** Saves what was read since the last time; failing to is no harm: it is only read again. */
  async save(): Promise<void> {
    await this.#files.idle();
    await Promise.all([...this.#indexes.values()].map((index) => index.save().catch(() => undefined)));
  }

  /** The first reading is over: saves it, and lets go of what only a start needs. */
  async settle(): Promise<void> {
    await this.save();
    this.#settled = true;
    this.#restAbove(0);
    this.#pool.settle();
  }

  /** Gives up what is still being read: that is read at the next start. */
  abandon(): void {
    this.#abandoned = true;
    this.#pool.close();
  }

  async close(): Promise<void> {
    this.abandon();
    await this.save();
    for (const index of this.#indexes.values()) index.close();
  }

  async #read(fold: FileFold<unknown>, path: string, before: Folded<unknown> | null): Promise<Advanced<unknown>> {
    if (before && isUnchanged(before)) {
      await this.#turns.next();
      return { ok: true, folded: before, changed: false };
    }
    this.#reading += 1;
    try {
      await this.#turns.next();
      return await this.#readAnew(fold, path, before);
    } finally {
      this.#reading -= 1;
    }
  }

  async #readAnew(fold: FileFold<unknown>, path: string, before: Folded<unknown> | null): Promise<Advanced<unknown>> {
    const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const unread = size - (before?.offset ?? 0);
    if (unread < AWAY_FROM && this.#reading <= CROWD) return this.#readHere(fold, path, before);
    try {
      return await this.#pool.advance(fold, path, before, Math.max(0, unread));
    } catch (error) {
      if (this.#abandoned) throw error;
      // The thread died: read here, from the start, since what it was given may be half changed.
      return this.#readHere(fold, path, null);
    }
  }

  async #readHere(fold: FileFold<unknown>, path: string, before: Folded<unknown> | null): Promise<Advanced<unknown>> {
    const result = await runSliced(advanceFile(fold, path, before));
    if (!result.ok || !result.changed) return result;
    const folded = KeptFolded.awake(result.folded);
    this.#awake.delete(path);
    this.#awake.set(path, folded);
    if (this.#settled) this.#restAbove(MOST_AWAKE);
    return { ...result, folded };
  }

  #restAbove(most: number): void {
    for (const [path, folded] of this.#awake) {
      if (this.#awake.size <= most) return;
      if (!folded.isResting) folded.rest(storedInMemory(stateBytes(folded.text())));
      this.#awake.delete(path);
    }
  }

  #indexOf(fold: FileFold<unknown>): FoldIndex {
    const id = `${fold.name}/${fold.version}`;
    const known = this.#indexes.get(id);
    if (known) return known;
    const index = FoldIndex.open(this.#directory, fold);
    this.#indexes.set(id, index);
    return index;
  }
}
