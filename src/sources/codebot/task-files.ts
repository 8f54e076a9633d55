import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen } from "../../files/open.ts";
import { readSmallText } from "./atomic.ts";
import { readTask, sortTasksByID, type Task, taskNumber } from "./task.ts";

export const HIGH_WATER_MARK = ".highwatermark";

/** A task directory as it is on disk. */
export interface TaskDirectory {
  /** By `compareTaskIDs`. The task's own id counts, not the file's name. */
  tasks: Task[];
  /** Highest id ever given. */
  highWaterMark: number;
  /** The id the next task gets. */
  nextId: number;
  /** Names of numbered files that hold no task. */
  unreadable: string[];
  /** Is the directory there? With only a mark in it the list was cleared. */
  exists: boolean;
}

/** Reads a task directory and changes nothing; a missing one is empty. Throws when it cannot be listed. */
export function readTaskDirectory(directory: string): TaskDirectory {
  const listed = numberedFiles(directory);
  const highWaterMark = readHighWaterMark(directory);
  const byId = new Map<string, Task>();
  const unreadable: string[] = [];
  let highest = highWaterMark;
  for (const { name, number } of listed ?? []) {
    const task = readTaskFile(join(directory, name));
    if (task === null) unreadable.push(name);
    if (task === null || task === "gone") continue;
    byId.set(task.id, task);
    highest = Math.max(highest, number);
  }
  const tasks = [...byId.values()];
  sortTasksByID(tasks);
  return { tasks, highWaterMark, nextId: highest + 1, unreadable, exists: listed !== null };
}

/** Files whose stem is a number, by name; null when the directory is not there. */
export function numberedFiles(directory: string): { name: string; number: number }[] | null {
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

export function readHighWaterMark(directory: string): number {
  try {
    const text = readSmallText(join(directory, HIGH_WATER_MARK))?.trim() ?? "";
    return Math.max(0, taskNumber(text) ?? 0);
  } catch (error) {
    if (error instanceof CannotOpen) return 0;
    throw error;
  }
}
