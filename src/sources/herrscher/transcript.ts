import { constants, mkdirSync } from "node:fs";
import { open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { runNow } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { CannotOpen, type OpenFile, openRegular } from "../../files/open.ts";
import { refuseIfHeld, type WriteOptions } from "./held.ts";
import { formatTranscriptLine, parseTranscriptLine, type TranscriptEntry } from "./transcript-entry.ts";

/** A transcript larger than this after an append is compacted (herrscher.md §3). */
export const TRANSCRIPT_MOST_BYTES = 4 * 1024 * 1024;
/** What a compaction keeps at most, except that the newest entry always stays. */
export const TRANSCRIPT_KEPT_BYTES = 2 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const LF = 0x0a;

/**
 * Appends one entry in a single write and compacts the file when it has become too large. Makes the directory.
 * Throws DaemonHoldsRoot while a daemon runs on the root: it is the only writer then (herrscher.md §10).
 */
export async function appendTranscript(
  path: string,
  entry: TranscriptEntry,
  options: WriteOptions = {},
): Promise<void> {
  await refuseIfHeld(dirname(dirname(path)), options);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const size = await appendLine(path, formatTranscriptLine(entry));
  if (size > TRANSCRIPT_MOST_BYTES) await compact(path);
}

/**
 * Appends one line, LF included, in a single write, and returns the file's size. A last line that was cut by a kill
 * is ended first: the program itself would write on behind it, and both would be lost.
 */
export async function appendLine(path: string, line: string): Promise<number> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(path, flags | constants.O_NONBLOCK, 0o644);
  try {
    const before = await file.stat();
    if (!before.isFile()) throw new CannotOpen("not-regular", path, "not a regular file: left alone");
    const last = Buffer.alloc(1, LF);
    if (before.size > 0) await file.read(last, 0, 1, before.size - 1);
    await file.write(Buffer.from(last[0] === LF ? line : `\n${line}`));
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Rewrites the file to the longest run of newest entries that fits; lines that do not parse fall away. */
async function compact(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file = await open(temporary, flags, 0o644);
  try {
    try {
      await file.writeFile(newestLines(readTranscript(path)).join(""));
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** The lines a compaction keeps, in file order. */
function newestLines(entries: readonly TranscriptEntry[], most = TRANSCRIPT_KEPT_BYTES): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const entry of entries.toReversed()) {
    const line = formatTranscriptLine(entry);
    bytes += Buffer.byteLength(line);
    if (kept.length > 0 && bytes > most) break;
    kept.push(line);
  }
  return kept.reverse();
}

/** Entries in file order; with `limit` above 0 only the last so many. A missing file has none. Throws CannotOpen. */
export function readTranscript(path: string, limit = 0): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  using file = openIfThere(path);
  if (file === null) return entries;
  const take = (line: Buffer): void => {
    const parsed = parseTranscriptLine(line);
    if (parsed.kind !== "entry") return;
    entries.push(parsed.entry);
    // Cut now and then, so that a small limit does not hold a whole file in memory.
    if (limit > 0 && entries.length > 2 * limit + 1024) entries.splice(0, entries.length - limit);
  };
  runNow(walkLines(file, 0, { line: take, tail: take }));
  return limit > 0 ? entries.slice(-limit) : entries;
}

/**
 * The time of the last entry that parses, "" when there is none. Reads the last 64 KiB, and the whole file only when
 * the last line that is not blank does not parse or does not fit into that.
 */
export function readTranscriptLast(path: string): string {
  using file = openIfThere(path);
  if (file === null) return "";
  const from = Math.max(0, file.size - TAIL_BYTES);
  const tail = file.read(from, file.size - from);
  let end = tail.length;
  while (end > 0) {
    const start = tail.lastIndexOf(LF, end - 1) + 1;
    if (start === 0 && from > 0) break; // It may begin before what was read.
    const parsed = parseTranscriptLine(tail.subarray(start, end));
    if (parsed.kind === "entry") return parsed.entry.ts;
    if (parsed.kind === "bad") break;
    end = start - 1;
  }
  if (end <= 0 && from === 0) return "";
  let last = "";
  const take = (line: Buffer): void => {
    const parsed = parseTranscriptLine(line);
    if (parsed.kind === "entry") last = parsed.entry.ts;
  };
  runNow(walkLines(file, 0, { line: take, tail: take }));
  return last;
}

/** Deletes a transcript; one that is not there is no error. Throws DaemonHoldsRoot while a daemon runs on the root. */
export async function removeTranscript(path: string, options: WriteOptions = {}): Promise<void> {
  await refuseIfHeld(dirname(dirname(path)), options);
  await unlinkIfThere(path);
}

export async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  });
}

export function openIfThere(path: string): OpenFile | null {
  try {
    return openRegular(path);
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return null;
    throw error;
  }
}
