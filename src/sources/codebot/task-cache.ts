import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "./task.ts";
import { numberedFiles, readHighWaterMark, readTaskFile } from "./task-files.ts";

interface CachedFile {
  /** Another one means another content. */
  stamp: Stamp;
  number: number;
  /** null: it holds no task. */
  task: Task | null;
}

/** A write by rename changes the inode, one in place the times. */
interface Stamp {
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
}

function isSame(a: Stamp | null, b: Stamp | null): boolean {
  if (a === null || b === null) return a === b;
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}

/** The tasks of a directory, kept up to date at the price of one lstat per file; only changed files are read again. */
export class TaskCache {
  readonly #directory: string;
  #files = new Map<string, CachedFile>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** All tasks by id and the highest number of a file; null when the directory is not there. */
  all(): { tasks: Map<string, Task>; highest: number } | null {
    const listed = numberedFiles(this.#directory);
    if (listed === null) return null;
    const files = new Map<string, CachedFile>();
    const tasks = new Map<string, Task>();
    let highest = 0;
    for (const { name, number } of listed) {
      const file = this.#look(name, number);
      if (file === null) continue;
      files.set(name, file);
      if (file.task === null) continue;
      tasks.set(file.task.id, file.task);
      highest = Math.max(highest, number);
    }
    this.#files = files;
    return { tasks, highest };
  }

  /** Is what we hold of this task still what its file says? */
  isCurrent(id: string): boolean {
    const name = `${id}.json`;
    return isSame(this.#files.get(name)?.stamp ?? null, this.#stamp(name));
  }

  /** Takes in one file again: its task, or null when it holds none. */
  one(id: string, number: number): Task | null {
    const name = `${id}.json`;
    const file = this.#look(name, number);
    if (file === null) this.#files.delete(name);
    else this.#files.set(name, file);
    return file?.task ?? null;
  }

  /** Remembers what was just written. */
  wrote(task: Task, number: number): void {
    const name = `${task.id}.json`;
    const stamp = this.#stamp(name);
    if (stamp !== null) this.#files.set(name, { stamp, number, task });
  }

  #look(name: string, number: number): CachedFile | null {
    const stamp = this.#stamp(name);
    if (stamp === null) return null;
    const known = this.#files.get(name);
    if (known !== undefined && isSame(known.stamp, stamp)) return known;
    const task = readTaskFile(join(this.#directory, name));
    return task === "gone" ? null : { stamp, number, task };
  }

  /** The highest id ever given, by the mark. */
  mark(): number {
    return readHighWaterMark(this.#directory);
  }

  #stamp(name: string): Stamp | null {
    return lstatSync(join(this.#directory, name), { throwIfNoEntry: false }) ?? null;
  }
}
