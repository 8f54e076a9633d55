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
  /** Names of numbered files that hold no task; the mark's too where it cannot be read. */
  unreadable: string[];
  /** Is the directory there? With only a mark in it the list was cleared. */
  exists: boolean;
}

/** Reads a task directory and changes nothing; a missing one is empty. Throws when it cannot be listed. */
export function readTaskDirectory(directory: string): TaskDirectory {
  const listed = numberedFiles(directory);
  const mark = readableMark(directory);
  const byId = new Map<string, Task>();
  const unreadable: string[] = [];
  let highest = mark ?? 0n;
  for (const { name, number } of listed ?? []) {
    const task = readTaskFile(join(directory, name));
    if (task === "gone") continue;
    // Whatever it holds, its number is taken.
    if (number > highest) highest = number;
    if (task === null) unreadable.push(name);
    else byId.set(task.id, task);
  }
  if (mark === null) unreadable.push(HIGH_WATER_MARK);
  const tasks = [...byId.values()];
  sortTasksByID(tasks);
  return {
    tasks,
    highWaterMark: Number(mark ?? 0n),
    nextId: Number(freeNumber(highest + 1n, byId)),
    unreadable,
    exists: listed !== null,
  };
}

/** The first number from `next` on that is no task's id: a task's own id may be another than its file says. */
export function freeNumber(next: bigint, tasks: ReadonlyMap<string, Task>): bigint {
  let number = next;
  while (tasks.has(String(number))) number += 1n;
  return number;
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
  const mark = taskNumber(text) ?? 0n;
  return mark > 0n ? mark : 0n;
}

function readableMark(directory: string): bigint | null {
  try {
    return readHighWaterMark(directory);
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}
