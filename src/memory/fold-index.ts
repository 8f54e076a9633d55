import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Folded } from "../files/fold.ts";
import { type FoldedStamp, KeptFolded, packState } from "../files/kept-folded.ts";
import { CannotOpen, openRegular } from "../files/open.ts";
import { replaceFile } from "../files/publish.ts";

const HEAD = "forktail folds 2\n";
const TAB = 0x09;
const LF = 0x0a;
/** Checksum and length are short; a line that goes on without a tab is damage. */
const MOST_NUMBER = 16;

/** One file's entry as it lies in the index: `checksum TAB length TAB stamp LF`, then `length` bytes of packed state, LF. */
interface Entry {
  stamp: Buffer;
  packed: Uint8Array;
  checksum: string;
}

/**
 * The states of folds on disk, one file a fold and version: a start reads only what changed since. No state is unpacked
 * before it is asked for. A cache and nothing more: whatever is damaged, older or of another version is read anew from the
 * session files, and two forktails may overwrite each other's.
 */
export class FoldIndex {
  readonly #path: string;
  #entries = new Map<string, Entry>();
  /** Were the entries let go, so that a save has to read them again? */
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

  /** The state last saved for a file, null when there is none or its entry is damaged. Still to be checked against the file. */
  get(path: string): Folded<unknown> | null {
    const changed = this.#changed.get(path);
    if (changed) return changed;
    const entry = this.#entries.get(path);
    if (!entry || checksumOf(entry.stamp, entry.packed) !== entry.checksum) return null;
    // The checksum and the file's name say that a fold of this version wrote it.
    return KeptFolded.packed(JSON.parse(entry.stamp.toString("utf8")) as FoldedStamp, entry.packed);
  }

  set(path: string, folded: Folded<unknown>): void {
    this.#changed.set(path, folded);
    this.#deleted.delete(path);
    this.#dirty = true;
  }

  delete(path: string): void {
    this.#entries.delete(path);
    this.#changed.delete(path);
    this.#deleted.add(path);
    this.#dirty = true;
  }

  /** Lets go of the entries that were read at the start, once every file has asked for its own. */
  release(): void {
    this.#entries = new Map();
    this.#released = true;
  }

  /** Writes what changed; the whole file is replaced at once. Does nothing when nothing changed. */
  async save(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    if (this.#released) this.#load();
    for (const path of this.#deleted) this.#entries.delete(path);
    this.#deleted.clear();
    for (const [path, folded] of this.#changed) this.#entries.set(path, entryOf(folded));
    this.#changed.clear();
    mkdirSync(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    const parts: Uint8Array[] = [Buffer.from(HEAD)];
    for (const { checksum, stamp, packed } of this.#entries.values()) {
      parts.push(Buffer.from(`${checksum}\t${packed.length}\t`), stamp, Buffer.of(LF), packed, Buffer.of(LF));
    }
    if (this.#released) this.#entries = new Map();
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
      const first = bytes.indexOf(TAB, at);
      const second = bytes.indexOf(TAB, first + 1);
      const end = bytes.indexOf(LF, second + 1);
      if (first < at || second < first || end < second || second - at > 2 * MOST_NUMBER) return;
      const length = Number(bytes.toString("latin1", first + 1, second));
      const from = end + 1;
      // Nothing is allocated by what the file says: this is a view, and only where the file really goes on.
      if (!Number.isSafeInteger(length) || length < 0 || from + length >= bytes.length) return;
      if (bytes[from + length] !== LF) return;
      const stamp = bytes.subarray(second + 1, end);
      const path = pathIn(stamp);
      if (path !== null) {
        const packed = bytes.subarray(from, from + length);
        this.#entries.set(path, { checksum: bytes.toString("latin1", at, first), stamp, packed });
      }
      at = from + length + 1;
    }
  }
}

function entryOf(folded: Folded<unknown>): Entry {
  const { path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard } = folded;
  const stamp = Buffer.from(JSON.stringify({ path, dev, ino, size, mtimeMs, birthtimeMs, offset, guard }));
  const packed = folded instanceof KeptFolded ? folded.pack() : packState(folded.state);
  return { stamp, packed, checksum: checksumOf(stamp, packed) };
}

function checksumOf(stamp: Uint8Array, packed: Uint8Array): string {
  return crc32(packed, crc32(stamp)).toString(16);
}

/** The path a stamp begins with, null when it is damaged. */
function pathIn(stamp: Buffer): string | null {
  try {
    const value: unknown = JSON.parse(stamp.toString("utf8"));
    return typeof value === "object" && value !== null && "path" in value && typeof value.path === "string"
      ? value.path
      : null;
  } catch {
    return null;
  }
}
