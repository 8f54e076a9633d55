import { existsSync, mkdirSync, statSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { CannotOpen, type OpenFile, openRegular } from "../files/open.ts";
import { type Fingerprint, fingerprint, packed, piecesOf, verifyPacked } from "../files/packed.ts";
import { AlreadyExists, publishNew, replaceFile } from "../files/publish.ts";
import {
  earlierPath,
  type Kept,
  type KeptFile,
  keptDirectory,
  type Manifest,
  manifestPath,
  readKept,
  storedPath,
} from "../memory/kept.ts";
import { now } from "../probe/clock.ts";
import type { Snapshot } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import type { SourceReader } from "../sources/source.ts";
import type { ActionContext } from "./fork.ts";

export interface Keeping {
  kept: Kept;
  /** The very same was kept before: nothing was written. */
  unchanged: boolean;
  /** Files of it that could not be read, in words. */
  leftOut: string[];
}

/** The files that make up a session: its main one first, then what holds its text, members' and sub-agents' too. */
export function filesOfSession(snapshot: Snapshot, reader: Pick<SourceReader, "files" | "members">): string[] {
  const members = reader.members?.(snapshot.key).flatMap((member) => member.files ?? []) ?? [];
  return [...new Set([snapshot.path, ...(reader.files?.(snapshot.key) ?? []), ...members])];
}

/**
 * Keeps a compressed copy of a session in our own state directory, verified before it counts. A copy kept earlier goes only
 * when the new one contains it. The session's files are only read. Throws with what to do.
 */
export async function keepSession(context: ActionContext, snapshot: Snapshot): Promise<Keeping> {
  const paths = filesOfSession(snapshot, context.live.reader(snapshot.key));
  return keepFiles(context.memory.directory, snapshot, paths, now(context.env));
}

/** `keepSession` over given files, at `at` (ms since 1970). */
export async function keepFiles(
  stateDirectory: string,
  snapshot: Snapshot,
  paths: readonly string[],
  at: number,
): Promise<Keeping> {
  const directory = keptDirectory(stateDirectory, snapshot.key);
  const before = readKept(directory);
  if (before !== null && before.key !== snapshot.key)
    throw new Error(`${directory} holds another session (${cleanLine(before.key)}); move it away first`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const made: string[] = [];
  try {
    return await keepAll({ directory, before, snapshot, paths, at, made });
  } catch (error) {
    for (const path of made) await rm(path, { force: true });
    // Both refuse when anything else is in them.
    await rmdir(directory).catch(() => undefined);
    await rmdir(dirname(directory)).catch(() => undefined);
    throw error;
  }
}

interface Work {
  directory: string;
  before: Kept | null;
  snapshot: Snapshot;
  paths: readonly string[];
  at: number;
  /** Copies written so far, to be taken back after a failure. */
  made: string[];
}

async function keepAll({ directory, before, snapshot, paths, at, made }: Work): Promise<Keeping> {
  const files: KeptFile[] = [];
  const leftOut: string[] = [];
  let contained = before === null || before.files.every((old) => paths.includes(old.path));
  for (const [position, path] of paths.entries()) {
    try {
      using file = openRegular(path);
      const old = before?.files.find((one) => one.path === path) ?? null;
      const copied = await keepFile(file, directory, old, made);
      files.push(copied.kept);
      contained &&= old === null || copied.contains;
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      // A session without its main file is none; of the others some are only there at times.
      if (position === 0) throw new Error(`${cleanLine(path)}: ${error.message}`);
      if (error.kind !== "gone") leftOut.push(`${cleanLine(path)}: ${error.message}`);
      contained &&= before === null || !before.files.some((old) => old.path === path);
    }
  }
  if (before !== null && sameFiles(before.files, files)) return { kept: before, unchanged: true, leftOut };
  if (before !== null && !contained) await keepManifest(before);
  await replaceFile(manifestPath(directory), manifestText(snapshot, files, at), { mode: 0o600 });
  if (before !== null && contained) await removeCopies(before, files);
  made.length = 0;
  const kept = readKept(directory);
  if (kept === null) throw new Error(`${manifestPath(directory)} cannot be read back`);
  return { kept, unchanged: false, leftOut };
}

const SQLITE = Buffer.from("SQLite format 3\0", "latin1");

/** Copies one file. `contains`: what was kept of it before is the beginning of what is kept now. */
async function keepFile(
  file: OpenFile,
  directory: string,
  old: KeptFile | null,
  made: string[],
): Promise<{ kept: KeptFile; contains: boolean }> {
  const { size, stat, path } = file;
  if (file.read(0, SQLITE.length).equals(SQLITE))
    throw new Error(`${cleanLine(path)} is a database of many sessions, which cannot be kept one by one`);
  const { beginning, ...print } = await fingerprint(piecesOf(file, size), old?.bytes ?? null);
  const target = storedPath(directory, print);
  if (await storeCopy(file, target, print)) made.push(target);
  const kept: KeptFile = {
    path,
    ...print,
    mode: stat.mode & 0o777,
    mtime: stat.mtime.toISOString(),
    stored: statSync(target).size,
  };
  return { kept, contains: old === null || beginning === old.sha256 };
}

/** Read a second time while it is written: what changed in between is noticed by its fingerprint. False: it was there. */
async function storeCopy(file: OpenFile, target: string, print: Fingerprint): Promise<boolean> {
  if (existsSync(target)) {
    const whole = await verifyPacked(target, print).then(
      () => true,
      () => false,
    );
    if (whole) return false;
    // Our own copy, and damaged.
    await rm(target, { force: true });
  }
  const verify = (temporary: string): Promise<void> => verifyPacked(temporary, print);
  try {
    await publishNew(target, packed(piecesOf(file, print.bytes)), { mode: 0o600, verify });
    return true;
  } catch (error) {
    // Another forktail kept the same at the same time.
    if (error instanceof AlreadyExists) return false;
    throw error;
  }
}

function manifestText(snapshot: Snapshot, files: KeptFile[], at: number): string {
  const { key, source, id, title, cwd, updatedAt } = snapshot;
  const manifest: Manifest = {
    schema: 1,
    key,
    source,
    id,
    title,
    cwd,
    keptAt: new Date(at).toISOString(),
    updatedAt,
    compression: "zstd",
    files,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function sameFiles(a: readonly KeptFile[], b: readonly KeptFile[]): boolean {
  return a.length === b.length && a.every((one, at) => one.path === b[at]?.path && one.sha256 === b[at]?.sha256);
}

/** An earlier state that the new one does not contain stays restorable. */
async function keepManifest(before: Kept): Promise<void> {
  const { directory, earlier: _earlier, ...manifest } = before;
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  await publishNew(earlierPath(directory, before.keptAt), [text], { mode: 0o600 });
}

/** The copies of a state that the new one contains, but those that the new one or an earlier one still names. */
async function removeCopies(before: Kept, files: readonly KeptFile[]): Promise<void> {
  const named = before.earlier.flatMap((at) => readKept(before.directory, at)?.files ?? []);
  const wanted = new Set([...files, ...named].map((one) => one.sha256));
  for (const old of before.files) {
    if (!wanted.has(old.sha256)) await rm(storedPath(before.directory, old), { force: true });
  }
}
