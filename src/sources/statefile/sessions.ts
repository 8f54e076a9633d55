import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { copy } from "./copy.ts";
import { read, StateFile } from "./file.ts";
import { validId } from "./ids.ts";
import type { StateRecord } from "./record.ts";

/** An id that is not what `newId` makes: it never becomes a path. */
export class BadId extends Error {
  override name = "BadId";
  constructor(id: string) {
    super(`${JSON.stringify(id).slice(0, 60)} is not a session id (8 hex digits)`);
  }
}

/** A file without a whole record: a create that died before its first write. Not a session. */
export class NoSession extends Error {
  override name = "NoSession";
}

export const SUFFIX = ".state";

/** The directory that holds one state file per session, named by its id. The file system is the registry. */
export class Sessions {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Path of a session's file. Throws `BadId`. */
  path(id: string): string {
    if (!validId(id)) throw new BadId(id);
    return join(this.dir, id + SUFFIX);
  }

  /** Every session id: names of regular files that pass `validId`, sorted. A missing directory has none. */
  async list(): Promise<string[]> {
    const entries = await readdir(this.dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return entries.flatMap((entry) => (entry.isFile() ? (idOfName(entry.name) ?? []) : [])).sort();
  }

  /** Creates a session: start, then config. Throws when it exists. */
  async start(id: string, config: Buffer): Promise<StateFile> {
    return StateFile.create(this.path(id), config);
  }

  /** Opens a session for appending; cuts a torn tail. */
  async open(id: string): Promise<StateFile> {
    return StateFile.open(this.path(id));
  }

  /** A session's whole records. Throws `NoSession` when there is none. */
  load(id: string): StateRecord[] {
    const records = read(this.path(id));
    if (records.length === 0) throw new NoSession(`${id}: no whole record; its create died before the first write`);
    return records;
  }

  /** Creates session `id` from records 1 … n−1 of session `from`: fork and revert are both this call. */
  async copy(from: string, id: string, n: number): Promise<void> {
    return copy(this.path(from), this.path(id), n);
  }
}

/** The session id in a file name, null when the file is none of ours. Exact and case-sensitive in the suffix. */
export function idOfName(name: string): string | null {
  if (!name.endsWith(SUFFIX)) return null;
  const id = name.slice(0, -SUFFIX.length);
  return validId(id) ? id : null;
}
