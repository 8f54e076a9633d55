import { constants } from "node:fs";
import { copyFile, lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type DatabaseSync, loadSqlite } from "./sqlite.ts";

/** How a database is read without creating or changing a byte beside it (agents.md §4.1). */
export type ReadingWay =
  /** An agent runs, or died: the log's index is there, and is only looked at. */
  | "in-place"
  /** Nothing waits in the log: the file alone is all there is. */
  | "immutable"
  /** Rows wait in the log and its index is missing, which SQLite would create: both are copied first. */
  | "copy";

interface FileMark {
  size: number;
  mtimeMs: number;
  ino: number;
}

/** What the database and its log were like: equal as long as nothing was written. */
export interface DatabaseMark {
  database: FileMark;
  log: FileMark | null;
  index: boolean;
}

/** null when there is no regular file of that name: a link or a FIFO is left alone. */
export async function markOf(path: string): Promise<DatabaseMark | null> {
  const [database, log, index] = await Promise.all([fileMark(path), fileMark(`${path}-wal`), fileMark(`${path}-shm`)]);
  return database === null ? null : { database, log, index: index !== null };
}

async function fileMark(path: string): Promise<FileMark | null> {
  try {
    const stats = await lstat(path);
    return stats.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs, ino: stats.ino } : null;
  } catch {
    return null;
  }
}

export function wayOf(mark: DatabaseMark): ReadingWay {
  if (mark.log === null || mark.log.size === 0) return "immutable";
  return mark.index ? "in-place" : "copy";
}

export interface OpenDatabase extends AsyncDisposable {
  database: DatabaseSync;
  way: ReadingWay;
}

/** Opens it for reading. Throws with SQLite's words. */
export async function openDatabase(path: string, mark: DatabaseMark): Promise<OpenDatabase> {
  const { DatabaseSync } = await loadSqlite();
  const way = wayOf(mark);
  const open = (at: string, query: string): DatabaseSync => {
    const database = new DatabaseSync(`${pathToFileURL(at).href}${query}`, { readOnly: true, timeout: 1000 });
    try {
      database.prepare("select count(*) from sqlite_master").get();
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  };
  if (way !== "copy") {
    // `readonly_shm`: without it SQLite marks in the index how far it reads.
    const database = open(path, way === "immutable" ? "?immutable=1" : "?readonly_shm=1");
    return { database, way, [Symbol.asyncDispose]: async () => database.close() };
  }
  const directory = await mkdtemp(join(tmpdir(), "forktail-opencode-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const to = join(directory, "copy.db");
    // A file system that can share blocks makes the copy free.
    await copyFile(path, to, constants.COPYFILE_FICLONE);
    await copyFile(`${path}-wal`, `${to}-wal`, constants.COPYFILE_FICLONE);
    const database = open(to, "");
    const close = async (): Promise<void> => {
      database.close();
      await remove();
    };
    return { database, way, [Symbol.asyncDispose]: close };
  } catch (error) {
    await remove();
    throw error;
  }
}
