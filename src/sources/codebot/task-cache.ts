import { lstatSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen } from "../../files/open.ts";
import { removeIfThere, writeAtomically } from "./atomic.ts";
import { countedNumber, formatTask, type Task, taskNumber } from "./task.ts";
import { fileName, HIGH_WATER_MARK, later, numberedFiles, readHighWaterMark, readTaskFile } from "./task-files.ts";

interface CachedFile {
  /** Another one means another content. */
  stamp: Stamp;
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

function isSame(a: Stamp, b: Stamp): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}

/**
 * The task files of a directory, kept up to date at the price of one lstat per file; only changed files are read again.
 * A task stays in the file it was found in, whose name may say another number than its id (codebot.md §10).
 */
export class TaskCache {
  readonly #directory: string;
  #files = new Map<string, CachedFile>();
  /** The file of each task by its id; of several that hold it the last one counts. */
  #names = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** All tasks by id and the highest number of a file; null when the directory is not there. */
  all(): { tasks: Map<string, Task>; highest: bigint } | null {
    const listed = numberedFiles(this.#directory);
    if (listed === null) return null;
    const files = new Map<string, CachedFile>();
    const names = new Map<string, string>();
    const tasks = new Map<string, Task>();
    let highest = 0n;
    for (const { name, number } of listed) {
      const file = this.#look(name);
      if (file === null) continue;
      files.set(name, file);
      // Whatever it holds, its number is taken.
      highest = later(highest, countedNumber(number));
      if (file.task === null) continue;
      tasks.set(file.task.id, file.task);
      names.set(file.task.id, name);
    }
    this.#files = files;
    this.#names = names;
    return { tasks, highest };
  }

  /** A task as its file says now; null when the file says something else, or none is known for it. */
  one(id: string): Task | null {
    const name = this.#names.get(id);
    const file = name === undefined ? null : this.#look(name);
    if (name === undefined || file?.task?.id !== id) return null;
    this.#files.set(name, file);
    return file.task;
  }

  /** Is the file there that a new task of this id would go into? */
  holds(id: string): boolean {
    return this.#stamp(fileName(id)) !== null;
  }

  /** Writes a task into its file, a new one into a file named by its id. */
  write(task: Task): void {
    const known = this.#names.get(task.id);
    if (known === undefined && taskNumber(task.id) === null) {
      throw new Error(`task id ${JSON.stringify(task.id)} cannot be a file's name`);
    }
    const name = known ?? fileName(task.id);
    writeAtomically(join(this.#directory, name), formatTask(task));
    const stamp = this.#stamp(name);
    if (stamp !== null) this.#files.set(name, { stamp, task });
    this.#names.set(task.id, name);
  }

  /** Removes every file that holds a task. */
  remove(id: string): void {
    for (const [name, { task }] of this.#files) {
      if (task?.id !== id) continue;
      removeIfThere(join(this.#directory, name));
      this.#files.delete(name);
    }
    this.#names.delete(id);
  }

  /** The highest id ever given, by the mark. Throws when there is a mark that cannot be read. */
  mark(): bigint {
    try {
      return readHighWaterMark(this.#directory);
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      throw new Error(`${error.path}: ${error.message}; without it ids would be given again`);
    }
  }

  writeMark(mark: bigint): void {
    writeAtomically(join(this.#directory, HIGH_WATER_MARK), String(mark));
  }

  #look(name: string): CachedFile | null {
    const stamp = this.#stamp(name);
    if (stamp === null) return null;
    const known = this.#files.get(name);
    if (known !== undefined && isSame(known.stamp, stamp)) return known;
    const task = readTaskFile(join(this.#directory, name));
    return task === "gone" ? null : { stamp, task };
  }

  #stamp(name: string): Stamp | null {
    return lstatSync(join(this.#directory, name), { throwIfNoEntry: false }) ?? null;
  }
}
