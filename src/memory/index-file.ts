import { crc32 } from "node:zlib";
import type { FoldedStamp } from "../files/kept-folded.ts";
import { type OpenFile, openRegular } from "../files/open.ts";

const HEAD = "forktail folds 2\n";
const TAB = "\t";
const LF = 0x0a;
/** The last line: `contents TAB offset TAB checksum LF`. */
const LAST = /^contents\t(\d{1,15})\t([0-9a-f]{1,8})\n$/u;
const LAST_BYTES = 64;
/** What is written, and mostly read, at a time. */
const PIECE = 256 * 1024;

/** Where one file's state lies in the index. */
export interface IndexEntry {
  stamp: FoldedStamp;
  offset: number;
  length: number;
  checksum: number;
}

export interface ToWrite {
  stamp: FoldedStamp;
  /** The state as JSON, null when it cannot be had any more. */
  text(): string | null;
}

/**
 * One index file, open for reading: states as JSON, then a table of contents, then where that begins. Only the table is
 * read; the file may be replaced meanwhile, this one stays as it was.
 */
export class IndexFile {
  readonly #file: OpenFile;
  readonly #entries: ReadonlyMap<string, IndexEntry>;
  #closed = false;

  private constructor(file: OpenFile, entries: ReadonlyMap<string, IndexEntry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /** Throws CannotOpen. A damaged file, or one of another version, has no entries. */
  static open(path: string): IndexFile {
    const file = openRegular(path);
    return new IndexFile(file, contentsOf(file));
  }

  entry(path: string): IndexEntry | null {
    return this.#entries.get(path) ?? null;
  }

  entries(): Iterable<IndexEntry> {
    return this.#entries.values();
  }

  /** A state's JSON, null when it is damaged. */
  text({ offset, length, checksum }: IndexEntry): string | null {
    if (this.#closed) return null;
    const bytes = scratch(length);
    if (this.#file.readInto(bytes, offset) < length || crc32(bytes) !== checksum) return null;
    return bytes.toString("utf8");
  }

  close(): void {
    if (!this.#closed) this.#file[Symbol.dispose]();
    this.#closed = true;
  }
}

let room = Buffer.alloc(0);

/** Memory for one state, used again: thousands of pieces of their own would leave the process larger than what they hold. */
function scratch(length: number): Buffer {
  if (length > PIECE) return Buffer.allocUnsafe(length);
  if (room.length < PIECE) room = Buffer.allocUnsafeSlow(PIECE);
  return room.subarray(0, length);
}

function contentsOf(file: OpenFile): Map<string, IndexEntry> {
  const entries = new Map<string, IndexEntry>();
  if (file.read(0, HEAD.length).toString("latin1") !== HEAD) return entries;
  const from = Math.max(0, file.size - LAST_BYTES);
  const end = file.read(from, file.size - from).toString("latin1");
  const last = LAST.exec(end.slice(end.lastIndexOf("\n", end.length - 2) + 1));
  const offset = Number(last?.[1] ?? file.size);
  if (last === null || offset > file.size) return entries;
  const contents = file.read(offset, file.size - offset - last[0].length);
  if (crc32(contents).toString(16) !== last[2]) return entries;
  for (const line of contents.toString("utf8").split("\n")) {
    const [at, length, checksum, stamp] = line.split(TAB, 4);
    if (stamp === undefined) continue;
    // The checksum says that this program wrote it; lengths that reach behind the states are none of it.
    const entry = { offset: Number(at), length: Number(length), checksum: Number(checksum) };
    if (!(entry.offset + entry.length <= offset)) continue;
    const known = JSON.parse(stamp) as FoldedStamp;
    entries.set(known.path, { ...entry, stamp: known });
  }
  return entries;
}

/** An index file in pieces. Each piece is only valid until the next one is asked for. */
export async function* indexPieces(entries: Iterable<ToWrite>): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafeSlow(PIECE);
  let used = piece.write(HEAD, "latin1");
  let at = used;
  const contents: string[] = [];
  for (const { stamp, text } of entries) {
    const json = text();
    if (json === null) continue;
    const length = Buffer.byteLength(json);
    let checksum: number;
    if (length + 1 > PIECE - used) {
      yield piece.subarray(0, used);
      used = 0;
    }
    if (length + 1 > PIECE) {
      const large = Buffer.from(`${json}\n`);
      checksum = crc32(large.subarray(0, length));
      yield large;
    } else {
      const from = used;
      used += piece.write(json, used, "utf8");
      checksum = crc32(piece.subarray(from, used));
      piece[used] = LF;
      used += 1;
    }
    // Tabs and line breaks in a path are escaped in JSON.
    contents.push(`${at}\t${length}\t${checksum}\t${JSON.stringify(stamp)}\n`);
    at += length + 1;
  }
  yield piece.subarray(0, used);
  const table = Buffer.from(contents.join(""));
  yield table;
  yield Buffer.from(`contents\t${at}\t${crc32(table).toString(16)}\n`);
}
