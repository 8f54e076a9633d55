import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen } from "../../files/open.ts";
import { readSmallText } from "./atomic.ts";
import { countedNumber, readTask, sortTasksByID, type Task, taskNumber } from "./task.ts";

export const HIGH_WATER_MARK = ".highwatermark";

/** A task directory as it is on disk. */
export interface TaskDirectory {
  /** By `compareTaskIDs`. The task's own id counts, not the file's name. */
  tasks: Task[];
  /** Highest id ever given. */
  highWaterMark: number;
  /** The id the next task gets. */
  nextId: number;
  /** Names of numbered files that hold no task; the mark's too where it cannot be read. */
  unreadable: string[];
  /** Is the directory there? With only a mark in it the list was cleared. */
  exists: boolean;
}

/** Reads a task directory and changes nothing; a missing one is empty. Throws when it cannot be listed. */
export function readTaskDirectory(directory: string): TaskDirectory {
  const listed = numberedFiles(directory);
  const names = new Set(listed?.map(({ name }) => name));
  const mark = readableMark(directory);
  const byId = new Map<string, Task>();
  const unreadable: string[] = [];
  let highest = mark ?? 0n;
  for (const { name, number } of listed ?? []) {
    const task = readTaskFile(join(directory, name));
    if (task === "gone") continue;
    // Whatever it holds, its number is taken.
    highest = later(highest, countedNumber(number));
    if (task === null) unreadable.push(name);
    else byId.set(task.id, task);
  }
  if (mark === null) unreadable.push(HIGH_WATER_MARK);
  const tasks = [...byId.values()];
  sortTasksByID(tasks);
  return {
    tasks,
    highWaterMark: Number(mark ?? 0n),
    nextId: Number(freeNumber(highest + 1n, (id) => byId.has(id) || names.has(fileName(id)))),
    unreadable,
    exists: listed !== null,
  };
}

/** The first number from `next` on that is not taken as an id: by a task, whatever its file is called, or by a file. */
export function freeNumber(next: bigint, isTaken: (id: string) => boolean): bigint {
  let number = next;
  while (isTaken(String(number))) number += 1n;
  return number;
}

/** The file that a new task goes into. */
export function fileName(id: string): string {
  return `${id}.json`;
}

export function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Files whose stem is a number, by name; null when the directory is not there. */
export function numberedFiles(directory: string): { name: string; number: bigint }[] | null {
  let names: string[];
  try {
    names = readdirSync(directory).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  return names.flatMap((name) => {
    const number = name.endsWith(".json") ? taskNumber(name.slice(0, -".json".length)) : null;
    return number === null ? [] : [{ name, number }];
  });
}

/** The task in a file; null when it holds none, `gone` when the file went away meanwhile. */
export function readTaskFile(path: string): Task | null | "gone" {
  try {
    const text = readSmallText(path);
    return text === null ? "gone" : readTask(text);
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}

/** The highest id ever given, 0 when none was recorded. Throws `CannotOpen` when what was recorded cannot be read. */
export function readHighWaterMark(directory: string): bigint {
  const text = readSmallText(join(directory, HIGH_WATER_MARK))?.trim() ?? "";
  return countedNumber(taskNumber(text));
}

function readableMark(directory: string): bigint | null {
  try {
    return readHighWaterMark(directory);
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}

/** What a reset removes; null when there is no directory. */
export function taskFileNames(directory: string): string[] | null {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith(".json") && !entry.name.startsWith("."))
      .map((entry) => entry.name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
