import { readdirSync } from "node:fs";
import { join } from "node:path";
import { removeIfThere, writeAtomically } from "./atomic.ts";
import { goNow } from "./go-time.ts";
import type { JsonObject } from "./json.ts";
import { blockersOf, copyTask, formatTask, nextClaimable, sortTasksByID, type Task, taskNumber } from "./task.ts";
import { TaskCache } from "./task-cache.ts";
import { HIGH_WATER_MARK } from "./task-files.ts";
import { AlreadyClaimedError, AlreadyResolvedError, BlockedError, TaskNotFoundError } from "./task-refusals.ts";

/** All tasks at one moment. `total` counts unknown statuses too, the three counters do not (codebot.md §10). */
export interface TaskSnapshot {
  items: Task[];
  pending: number;
  inProgress: number;
  completed: number;
  total: number;
}

export type TaskNotifyFn = (snapshot: TaskSnapshot) => void;

/** What an update changes; absent fields stay. */
export interface TaskUpdateOpts {
  /** `deleted` removes the task. */
  status?: string;
  subject?: string;
  description?: string;
  activeForm?: string;
  owner?: string;
  /** Merged key by key; null removes a key. */
  metadata?: JsonObject;
  addBlocks?: string[];
  addBlockedBy?: string[];
}

/**
 * The tasks of a session (codebot.md §10). In memory until a directory is set; the directory itself is made with the
 * first write. With a directory every call first takes in what other programs wrote there, and since everything is
 * synchronous nothing comes between that look and our own write within this process.
 */
export class TaskStore {
  #tasks = new Map<string, Task>();
  #nextId = 1;
  #directory: string | null = null;
  #cache: TaskCache | null = null;
  #notify: TaskNotifyFn | null = null;

  /**
   * Keeps the tasks in a directory from now on, beginning with those that are there; it may be missing. Tasks that were
   * only in memory go there too, unless their id is taken.
   */
  setDir(directory: string): void {
    const carried = this.#directory === null ? this.#tasks : new Map<string, Task>();
    this.#directory = directory;
    this.#cache = new TaskCache(directory);
    this.#tasks = new Map();
    this.#refresh();
    for (const [id, task] of carried) {
      if (this.#tasks.has(id)) continue;
      this.#tasks.set(id, task);
      this.#write(task);
    }
  }

  /** Called after every change with all tasks. */
  setNotifyFn(notify: TaskNotifyFn | null): void {
    this.#notify = notify;
  }

  create(subject: string, description = "", activeForm = "", metadata: JsonObject | null = null): Task {
    this.#refresh();
    this.#mindMark();
    const task: Task = {
      id: String(this.#nextId),
      subject,
      description,
      activeForm,
      status: "pending",
      owner: "",
      blocks: [],
      blockedBy: [],
      metadata: metadata === null ? null : structuredClone(metadata),
      completedAt: null,
    };
    this.#nextId += 1;
    this.#tasks.set(task.id, task);
    this.#write(task);
    this.#writeMark(this.#nextId - 1);
    this.#tell();
    return copyTask(task);
  }

  get(id: string): Task | null {
    this.#refresh();
    const task = this.#tasks.get(id);
    return task === undefined ? null : copyTask(task);
  }

  /** Sorted by id. */
  list(): Task[] {
    this.#refresh();
    return this.#sorted();
  }

  /** Changes a task and returns it; null when it was deleted. Throws `TaskNotFoundError`. */
  update(id: string, change: TaskUpdateOpts): Task | null {
    this.#refresh();
    const task = this.#tasks.get(id);
    if (task === undefined) throw new TaskNotFoundError(id);
    if (change.status === "deleted") {
      this.#remove(id);
      this.#tell();
      return null;
    }
    if (change.status !== undefined) setStatus(task, change.status);
    task.subject = change.subject ?? task.subject;
    task.description = change.description ?? task.description;
    task.activeForm = change.activeForm ?? task.activeForm;
    task.owner = change.owner ?? task.owner;
    if (change.metadata !== undefined) task.metadata = mergedMetadata(task.metadata, change.metadata);
    const touched = this.#link(task, change.addBlocks ?? [], change.addBlockedBy ?? []);
    for (const one of new Set([task, ...touched])) this.#write(one);
    this.#tell();
    return copyTask(task);
  }

  /** False when there is no such task. Its id is never given again. */
  delete(id: string): boolean {
    this.#refresh();
    if (!this.#tasks.has(id)) return false;
    this.#remove(id);
    this.#tell();
    return true;
  }

  /**
   * Gives a task to an owner if it may be had: it exists, nobody else has it, it is not completed and nothing it waits
   * for is open. The same owner again is fine. A blocker that does not exist counts as resolved here.
   * Throws one of the four refusals.
   */
  claim(id: string, owner: string): Task {
    if (owner === "") throw new Error("a claim needs an owner");
    const task = this.#refreshOne(id);
    if (task === undefined) throw new TaskNotFoundError(id);
    if (task.owner !== "" && task.owner !== owner) throw new AlreadyClaimedError(id, task.owner);
    if (task.status === "completed") throw new AlreadyResolvedError(id);
    const { open } = blockersOf(task, (other) => this.#tasks.get(other)?.status);
    if (open.length > 0) throw new BlockedError(id, open);
    if (task.owner === owner) return copyTask(task);
    task.owner = owner;
    this.#write(task);
    this.#tell();
    return copyTask(task);
  }

  /** The next task anybody may take, null when there is none. A blocker that does not exist counts as open here. */
  findClaimable(): Task | null {
    this.#refresh();
    const task = nextClaimable([...this.#tasks.values()]);
    return task === null ? null : copyTask(task);
  }

  snapshot(): TaskSnapshot {
    this.#refresh();
    return this.#snapshot();
  }

  /** Drops all tasks and keeps the sequence of ids. */
  reset(): void {
    this.#refresh();
    this.#mindMark();
    const numbers = [...this.#tasks.keys()].map((id) => taskNumber(id) ?? 0);
    const mark = numbers.reduce((most, number) => Math.max(most, number), this.#nextId - 1);
    if (this.#directory !== null) this.#removeFiles(this.#directory, mark);
    this.#tasks.clear();
    this.#nextId = mark + 1;
    this.#tell();
  }

  #removeFiles(directory: string, mark: number): void {
    let names: string[];
    try {
      names = readdirSync(directory);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
      throw error;
    }
    for (const name of names) {
      if (name.endsWith(".json") && !name.startsWith(".")) removeIfThere(join(directory, name));
    }
    this.#writeMark(mark);
  }

  /** Takes in what is in the directory now. One that vanished is made again with the next write, so nothing is dropped. */
  #refresh(): void {
    const now = this.#cache?.all() ?? null;
    if (now === null) return;
    this.#tasks = now.tasks;
    this.#nextId = Math.max(this.#nextId, now.highest + 1);
  }

  /** Minds the mark, which remembers ids whose tasks are gone: only new ids depend on it. */
  #mindMark(): void {
    this.#nextId = Math.max(this.#nextId, (this.#cache?.mark() ?? 0) + 1);
  }

  /** Like `#refresh`, for one task and what it waits for: a claim looks at no other file. */
  #refreshOne(id: string): Task | undefined {
    this.#look(id);
    const task = this.#tasks.get(id);
    for (const blocker of task?.blockedBy ?? []) this.#look(blocker);
    return this.#tasks.get(id);
  }

  #look(id: string): void {
    const number = taskNumber(id);
    if (this.#cache === null || number === null || this.#cache.isCurrent(id)) return;
    const task = this.#cache.one(id, number);
    // A file whose task has another id, or none: only the whole directory tells what is what.
    if (task?.id === id) this.#tasks.set(id, task);
    else this.#refresh();
  }

  #link(task: Task, blocks: string[], blockedBy: string[]): Task[] {
    const touched: Task[] = [];
    addUnique(task.blocks, blocks);
    addUnique(task.blockedBy, blockedBy);
    for (const id of blocks) {
      const other = this.#tasks.get(id);
      if (other !== undefined && addUnique(other.blockedBy, [task.id])) touched.push(other);
    }
    for (const id of blockedBy) {
      const other = this.#tasks.get(id);
      if (other !== undefined && addUnique(other.blocks, [task.id])) touched.push(other);
    }
    return touched;
  }

  #sorted(): Task[] {
    const tasks = [...this.#tasks.values()].map(copyTask);
    sortTasksByID(tasks);
    return tasks;
  }

  #snapshot(): TaskSnapshot {
    const items = this.#sorted();
    const count = (status: string) => items.filter((task) => task.status === status).length;
    return {
      items,
      pending: count("pending"),
      inProgress: count("in_progress"),
      completed: count("completed"),
      total: items.length,
    };
  }

  #tell(): void {
    this.#notify?.(this.#snapshot());
  }

  #remove(id: string): void {
    this.#tasks.delete(id);
    if (this.#directory !== null && taskNumber(id) !== null) removeIfThere(join(this.#directory, `${id}.json`));
  }

  #write(task: Task): void {
    if (this.#directory === null) return;
    const number = taskNumber(task.id);
    if (number === null) throw new Error(`task id ${JSON.stringify(task.id)} cannot be a file's name`);
    writeAtomically(join(this.#directory, `${task.id}.json`), formatTask(task));
    this.#cache?.wrote(task, number);
  }

  #writeMark(mark: number): void {
    if (this.#directory !== null) writeAtomically(join(this.#directory, HIGH_WATER_MARK), String(mark));
  }
}

function setStatus(task: Task, status: string): void {
  if (status === "completed" && task.status !== "completed") task.completedAt = goNow();
  else if (status !== "completed" && task.status === "completed") task.completedAt = null;
  task.status = status;
}

function mergedMetadata(before: JsonObject | null, change: JsonObject): JsonObject | null {
  if (Object.keys(change).length === 0) return before;
  const merged: JsonObject = { ...before };
  for (const [key, value] of Object.entries(change)) {
    if (value === null || value === undefined) delete merged[key];
    else merged[key] = structuredClone(value);
  }
  return merged;
}

/** Appends what is not there yet; false when nothing was new. */
function addUnique(list: string[], more: readonly string[]): boolean {
  const before = list.length;
  for (const one of more) if (!list.includes(one)) list.push(one);
  return list.length > before;
}
