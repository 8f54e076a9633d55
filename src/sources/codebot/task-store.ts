import { join } from "node:path";
import { removeIfThere } from "./atomic.ts";
import { goNow } from "./go-time.ts";
import type { JsonObject } from "./json.ts";
import {
  blockersOf,
  copyMetadata,
  copyTask,
  countedNumber,
  nextClaimable,
  sortTasksByID,
  TASK_COMPLETED,
  TASK_IN_PROGRESS,
  TASK_PENDING,
  type Task,
  taskNumber,
} from "./task.ts";
import { TaskCache } from "./task-cache.ts";
import { freeNumber, later, taskFileNames } from "./task-files.ts";
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
 * synchronous nothing comes between that look and our own write within this process. A task changes with its file: what
 * could not be written stays as it was.
 */
export class TaskStore {
  /** Never changed in place. */
  #tasks = new Map<string, Task>();
  #nextId = 1n;
  #directory: string | null = null;
  #cache: TaskCache | null = null;
  #notify: TaskNotifyFn | null = null;

  /**
   * Keeps the tasks in a directory from now on, beginning with those that are there; it may be missing. Tasks that were
   * only in memory go there too: with a new id where theirs was, or may have been, given there before. Throws when it
   * cannot be listed, or those cannot be written, and the store stays as it was then.
   */
  setDir(directory: string): void {
    const cache = new TaskCache(directory);
    const found = cache.all();
    const isFirst = this.#directory === null;
    const carried = isFirst ? this.#sorted() : [];
    const tasks = found?.tasks ?? new Map<string, Task>();
    const highest = found?.highest ?? 0n;
    // Each directory has a sequence of its own.
    let nextId = later(isFirst ? this.#nextId : 1n, highest + 1n);
    if (carried.length > 0) {
      const given = later(highest, cache.mark());
      const isTaken = (id: string) => tasks.has(id) || cache.holds(id);
      const moved = withFreeIds(carried, given, later(nextId, given + 1n), isTaken);
      nextId = moved.nextId;
      // Known before any file tells of it: what comes to nothing here costs some ids, and none is given twice.
      cache.writeMark(nextId - 1n);
      writeAll(moved.tasks, cache);
      for (const task of moved.tasks) tasks.set(task.id, task);
    }
    this.#directory = directory;
    this.#cache = cache;
    this.#tasks = tasks;
    this.#nextId = nextId;
    if (carried.length > 0) this.#tell();
  }

  /** Called after every change with all tasks. */
  setNotifyFn(notify: TaskNotifyFn | null): void {
    this.#notify = notify;
  }

  create(subject: string, description = "", activeForm = "", metadata: JsonObject | null = null): Task {
    this.#refresh();
    this.#mindMark();
    const number = freeNumber(this.#nextId, (id) => this.#tasks.has(id) || this.#cache?.holds(id) === true);
    const task: Task = {
      id: String(number),
      subject,
      description,
      activeForm,
      status: TASK_PENDING,
      owner: "",
      blocks: [],
      blockedBy: [],
      metadata: copyMetadata(metadata),
      completedAt: null,
    };
    this.#write(task);
    this.#nextId = number + 1n;
    this.#cache?.writeMark(number);
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
    const before = this.#tasks.get(id);
    if (before === undefined) throw new TaskNotFoundError(id);
    if (change.status === "deleted") {
      this.#remove(id);
      this.#tell();
      return null;
    }
    const task = copyTask(before);
    if (change.status !== undefined) setStatus(task, change.status);
    task.subject = change.subject ?? task.subject;
    task.description = change.description ?? task.description;
    task.activeForm = change.activeForm ?? task.activeForm;
    task.owner = change.owner ?? task.owner;
    if (change.metadata !== undefined) task.metadata = mergedMetadata(task.metadata, change.metadata);
    for (const one of this.#linked(task, change.addBlocks ?? [], change.addBlockedBy ?? [])) this.#write(one);
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
    if (task.status === TASK_COMPLETED) throw new AlreadyResolvedError(id);
    const { open } = blockersOf(task, (other) => this.#tasks.get(other)?.status);
    if (open.length > 0) throw new BlockedError(id, open);
    if (task.owner === owner) return copyTask(task);
    const claimed = { ...task, owner };
    this.#write(claimed);
    this.#tell();
    return copyTask(claimed);
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
    const mark = [...this.#tasks.keys()].reduce(
      (most, id) => later(most, countedNumber(taskNumber(id))),
      this.#nextId - 1n,
    );
    if (this.#directory !== null) this.#removeFiles(this.#directory, mark);
    this.#tasks = new Map();
    this.#nextId = mark + 1n;
    this.#tell();
  }

  #removeFiles(directory: string, mark: bigint): void {
    const names = taskFileNames(directory);
    if (names === null) return;
    this.#cache?.writeMark(mark);
    for (const name of names) removeIfThere(join(directory, name));
  }

  /** Takes in what is in the directory now. One that vanished is made again with the next write, so nothing is dropped. */
  #refresh(): void {
    const now = this.#cache?.all() ?? null;
    if (now === null) return;
    this.#tasks = now.tasks;
    this.#nextId = later(this.#nextId, now.highest + 1n);
  }

  /** Minds the mark, which remembers ids whose tasks are gone, and returns it: only giving and taking ids depends on it. */
  #mindMark(): bigint {
    const mark = this.#cache?.mark() ?? 0n;
    this.#nextId = later(this.#nextId, mark + 1n);
    return mark;
  }

  /** Like `#refresh`, for one task and what it waits for: a claim looks at no other file where those are known. */
  #refreshOne(id: string): Task | undefined {
    if (this.#cache !== null && !this.#renew(id, this.#cache)) this.#refresh();
    return this.#tasks.get(id);
  }

  /** False when the whole directory has to tell: a task is not where it was, or not known. */
  #renew(id: string, cache: TaskCache): boolean {
    const task = cache.one(id);
    if (task === null) return false;
    this.#tasks.set(id, task);
    return task.blockedBy.every((other) => {
      const blocker = cache.one(other);
      if (blocker !== null) this.#tasks.set(other, blocker);
      return blocker !== null;
    });
  }

  /** The task with new dependencies, and copies of those that get the other side of one. */
  #linked(task: Task, blocks: string[], blockedBy: string[]): Task[] {
    addUnique(task.blocks, blocks);
    addUnique(task.blockedBy, blockedBy);
    const changed = new Map([[task.id, task]]);
    const link = (id: string, side: "blocks" | "blockedBy"): void => {
      const known = this.#tasks.get(id);
      const other = changed.get(id) ?? (known === undefined ? null : copyTask(known));
      if (other !== null && addUnique(other[side], [task.id])) changed.set(id, other);
    };
    for (const id of blocks) link(id, "blockedBy");
    for (const id of blockedBy) link(id, "blocks");
    return [...changed.values()];
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
      pending: count(TASK_PENDING),
      inProgress: count(TASK_IN_PROGRESS),
      completed: count(TASK_COMPLETED),
      total: items.length,
    };
  }

  #tell(): void {
    this.#notify?.(this.#snapshot());
  }

  /** A mark that does not know the id yet gets it first: no file tells of it any more. */
  #remove(id: string): void {
    const mark = this.#mindMark();
    const highest = later(this.#nextId - 1n, countedNumber(taskNumber(id)));
    if (mark < highest) this.#cache?.writeMark(highest);
    this.#nextId = highest + 1n;
    this.#cache?.remove(id);
    this.#tasks.delete(id);
  }

  #write(task: Task): void {
    this.#cache?.write(task);
    this.#tasks.set(task.id, task);
  }
}

/** Tasks that come into a directory, where ids up to `given` are used up: those that need it have a new id, from `next` on. */
function withFreeIds(
  tasks: readonly Task[],
  given: bigint,
  next: bigint,
  isTaken: (id: string) => boolean,
): { tasks: Task[]; nextId: bigint } {
  let nextId = next;
  const ids = new Map<string, string>();
  for (const { id } of tasks) {
    if (countedNumber(taskNumber(id)) > given && !isTaken(id)) continue;
    const number = freeNumber(nextId, isTaken);
    ids.set(id, String(number));
    nextId = number + 1n;
  }
  const renamed = (id: string): string => ids.get(id) ?? id;
  const moved = tasks.map((task) => ({
    ...task,
    id: renamed(task.id),
    blocks: task.blocks.map(renamed),
    blockedBy: task.blockedBy.map(renamed),
  }));
  return { tasks: moved, nextId };
}

/** Writes new tasks, all of them or none. */
function writeAll(tasks: readonly Task[], cache: TaskCache): void {
  try {
    for (const task of tasks) cache.write(task);
  } catch (error) {
    for (const { id } of tasks) cache.remove(id);
    throw error;
  }
}

function setStatus(task: Task, status: string): void {
  if (status === TASK_COMPLETED && task.status !== TASK_COMPLETED) task.completedAt = goNow();
  else if (status !== TASK_COMPLETED && task.status === TASK_COMPLETED) task.completedAt = null;
  task.status = status;
}

function mergedMetadata(before: JsonObject | null, change: JsonObject): JsonObject | null {
  if (Object.keys(change).length === 0) return before;
  const merged: JsonObject = { ...before };
  for (const [key, value] of Object.entries(change)) {
    if (value === null || value === undefined) delete merged[key];
    else merged[key] = copyMetadata({ value }).value;
  }
  return merged;
}

/** Appends what is not there yet; false when nothing was new. */
function addUnique(list: string[], more: readonly string[]): boolean {
  const before = list.length;
  for (const one of more) if (!list.includes(one)) list.push(one);
  return list.length > before;
}
