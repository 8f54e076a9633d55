import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Folded } from "../files/fold.ts";
import { CannotOpen, openRegular } from "../files/open.ts";
import { replaceFile } from "../files/publish.ts";

const HEAD = "forktail folds 1\n";
const TAB = 0x09;
const LF = 0x0a;

/**
 * The states of folds on disk, one file a fold and version: a start reads only what changed since. Lines are
 * `checksum TAB path TAB state`; nothing is parsed before it is asked for. A cache and nothing more: whatever is damaged,
 * older or of another version is read anew from the session files, and two forktails may overwrite each other's.
 */
export class FoldIndex {
  readonly #path: string;
  #lines = new Map<string, Buffer>();
  /** Were the lines let go, so that a save has to read them again? */
  #released = false;
  readonly #changed = new Map<string, Folded<unknown>>();
  readonly #deleted = new Set<string>();
  #dirty = false;

  private constructor(path: string) {
    this.#path = path;
  }

  static open(directory: string, fold: { name: string; version: number }): FoldIndex {
    const name = `${fold.name.replace(/[^a-z0-9-]/gu, "-")}-${fold.version}.folds`;
    const index = new FoldIndex(join(directory, "folds", name));
    index.#load();
    return index;
  }

  /** The state last saved for a file, null when there is none or its line is damaged. Still to be checked against the file. */
  get(path: string): Folded<unknown> | null {
    const changed = this.#changed.get(path);
    if (changed) return changed;
    const line = this.#lines.get(path);
    if (!line) return null;
    const first = line.indexOf(TAB);
    const second = line.indexOf(TAB, first + 1);
    const state = line.subarray(second + 1);
    if (crc32(state).toString(16) !== line.toString("latin1", 0, first)) return null;
    try {
      // The checksum and the file's name say that a fold of this version wrote it.
      return JSON.parse(state.toString("utf8")) as Folded<unknown>;
    } catch {
      return null;
    }
  }

  set(path: string, folded: Folded<unknown>): void {
    this.#changed.set(path, folded);
    this.#deleted.delete(path);
    this.#dirty = true;
  }

  delete(path: string): void {
    this.#lines.delete(path);
    this.#changed.delete(path);
    this.#deleted.add(path);
    this.#dirty = true;
  }

  /** Lets go of the lines that were read at the start, once every file has asked for its own. */
  release(): void {
    this.#lines = new Map();
    this.#released = true;
  }

  /** Writes what changed; the whole file is replaced at once. Does nothing when nothing changed. */
  async save(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    if (this.#released) this.#load();
    for (const path of this.#deleted) this.#lines.delete(path);
    this.#deleted.clear();
    for (const [path, folded] of this.#changed) {
      if (path.includes("\t") || path.includes("\n")) continue;
      const state = Buffer.from(JSON.stringify(folded));
      this.#lines.set(path, Buffer.concat([Buffer.from(`${crc32(state).toString(16)}\t${path}\t`), state]));
    }
    this.#changed.clear();
    mkdirSync(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    const parts: Buffer[] = [Buffer.from(HEAD)];
    for (const line of this.#lines.values()) parts.push(line, Buffer.from("\n"));
    if (this.#released) this.#lines = new Map();
    await replaceFile(this.#path, Buffer.concat(parts), { mode: 0o600 });
  }

  #load(): void {
    let bytes: Buffer;
    try {
      using file = openRegular(this.#path);
      bytes = file.read(0, file.size);
    } catch (error) {
      if (error instanceof CannotOpen) return;
      throw error;
    }
    if (bytes.toString("latin1", 0, HEAD.length) !== HEAD) return;
    for (let at = HEAD.length; at < bytes.length; ) {
      const end = bytes.indexOf(LF, at);
      if (end < 0) return;
      const line = bytes.subarray(at, end);
      const first = line.indexOf(TAB);
      const second = line.indexOf(TAB, first + 1);
      if (first > 0 && second > first) this.#lines.set(line.toString("utf8", first + 1, second), line);
      at = end + 1;
    }
  }
}
