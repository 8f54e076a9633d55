import { escapeLikeGo, goJson } from "../../files/go-json.ts";
import { compactJson, isDeeplyNested } from "../../session/json-text.ts";
import { type GoTime, isGoTime, setTime, UNSET_TIME } from "./go-time.ts";
import { isObject, type JsonObject, parseObject, textOf, withoutEmpty } from "./json.ts";

/** `pending`, `in_progress`, `completed`; another word is kept as it is. "Blocked" is never stored (codebot.md §10). */
export type TaskStatus = string;

export const TASK_PENDING = "pending";
export const TASK_IN_PROGRESS = "in_progress";
export const TASK_COMPLETED = "completed";
export const TASK_STATUSES = [TASK_PENDING, TASK_IN_PROGRESS, TASK_COMPLETED] as const;

/** One work item of a session (codebot.md §10). */
export interface Task {
  /** A decimal number, by codebot; kept as text. */
  id: string;
  subject: string;
  description: string;
  /** What is shown while it is in progress. */
  activeForm: string;
  status: TaskStatus;
  /** `""`: nobody. */
  owner: string;
  blocks: string[];
  blockedBy: string[];
  metadata: JsonObject | null;
  completedAt: GoTime | null;
}

/** A task file's text as a task; null when Go could not decode it. */
export function readTask(text: string): Task | null {
  const value = parseObject(text);
  if (value === null) return null;
  for (const key of ["id", "subject", "description", "activeForm", "status", "owner"]) {
    if (value[key] !== undefined && value[key] !== null && typeof value[key] !== "string") return null;
  }
  const blocks = readIds(value.blocks);
  const blockedBy = readIds(value.blockedBy);
  const { metadata, completedAt } = value;
  if (blocks === null || blockedBy === null) return null;
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) return null;
  if (completedAt !== undefined && completedAt !== null && !isGoTime(completedAt)) return null;
  return {
    id: textOf(value, "id"),
    subject: textOf(value, "subject"),
    description: textOf(value, "description"),
    activeForm: textOf(value, "activeForm"),
    status: textOf(value, "status"),
    owner: textOf(value, "owner"),
    blocks,
    blockedBy,
    metadata: metadata ?? null,
    completedAt: setTime(completedAt),
  };
}

/** A nil slice is `null` in the file. */
function readIds(value: unknown): string[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((id) => typeof id !== "string")) return null;
  return value;
}

/**
 * The file's text as Go prints it: indented, no LF at the end, metadata sorted. Metadata nested deeper than anybody
 * reads stays on one line: indented it would make a file too large to be read again.
 */
export function formatTask(task: Task): string {
  const { id, subject, description, activeForm, status, owner, blocks, blockedBy, metadata, completedAt } = task;
  const sorted =
    metadata === null || Object.keys(metadata).length === 0
      ? undefined
      : Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
  const fields = {
    id,
    subject,
    ...withoutEmpty({ description, activeForm }),
    status,
    ...withoutEmpty({ owner }),
    blocks,
    blockedBy,
    ...withoutEmpty({ metadata: sorted, completedAt: completedAt === UNSET_TIME ? null : completedAt }),
  };
  const lines = Object.entries(fields).map(([key, value]) => `  "${key}": ${fieldText(value)}`);
  return `{\n${lines.join(",\n")}\n}`;
}

function fieldText(value: unknown): string {
  return isDeeplyNested(value) ? escapeLikeGo(oneLine(value)) : goJson(value, 2).replaceAll("\n", "\n  ");
}

/** A value on one line, however deep it is nested. Throws TypeError for what is no JSON, like one that contains itself. */
function oneLine(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return compactJson(value);
  }
}

export function copyTask(task: Task): Task {
  return {
    ...task,
    blocks: [...task.blocks],
    blockedBy: [...task.blockedBy],
    metadata: copyMetadata(task.metadata),
  };
}

/** A deep copy; by way of text where metadata is nested too deep for a structured clone. */
export function copyMetadata<T extends JsonObject | null>(metadata: T): T {
  return isDeeplyNested(metadata) ? JSON.parse(oneLine(metadata)) : structuredClone(metadata);
}

/** Longer ones are no numbers: a file's name has no room for them. */
const DECIMAL = /^[+-]?[0-9]{1,250}$/u;

function decimal(id: string): bigint | null {
  return DECIMAL.test(id) ? BigInt(id) : null;
}

/** The number an id spells as Go's Atoi reads it, 64 bits wide; null when it spells none. */
export function taskNumber(id: string): bigint | null {
  const number = decimal(id);
  return number !== null && BigInt.asIntN(64, number) === number ? number : null;
}

/** codebot counts up from 1 and never comes here. Whatever has such a number is a stray: the ids must not go on behind it. */
const FIRST_STRAY = 2n ** 53n;

/** What a number counts for where the highest one is looked for: itself, or nothing. */
export function countedNumber(number: bigint | null): bigint {
  return number !== null && number > 0n && number < FIRST_STRAY ? number : 0n;
}

/** Numeric order; ids that are no number last, by text. Negative, zero or positive. */
export function compareTaskIDs(a: string, b: string): number {
  const [left, right] = [decimal(a), decimal(b)];
  if (left !== null && right !== null) return left < right ? -1 : left > right ? 1 : 0;
  if (left !== null) return -1;
  if (right !== null) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts in place by `compareTaskIDs`. */
export function sortTasksByID(tasks: Task[]): void {
  tasks.sort((a, b) => compareTaskIDs(a.id, b.id));
}

/** How a task stands to the tasks it waits for (codebot.md §10). */
export interface Blockers {
  /** There and not completed: they block. */
  open: string[];
  /** Not there any more: resolved for a claim, open for `findClaimable`. */
  missing: string[];
}

export function blockersOf(task: Task, status: (id: string) => TaskStatus | undefined): Blockers {
  const open: string[] = [];
  const missing: string[] = [];
  for (const id of task.blockedBy) {
    const other = status(id);
    if (other === undefined) missing.push(id);
    else if (other !== "completed") open.push(id);
  }
  return { open, missing };
}

/** The lowest task with no owner, not completed, whose blockers are all there and completed; null when there is none. */
export function nextClaimable(tasks: readonly Task[]): Task | null {
  const status = new Map(tasks.map((task) => [task.id, task.status]));
  let next: Task | null = null;
  for (const task of tasks) {
    if (task.owner !== "" || task.status === "completed") continue;
    if (task.blockedBy.some((id) => status.get(id) !== "completed")) continue;
    if (next === null || compareTaskIDs(task.id, next.id) < 0) next = task;
  }
  return next;
}

/** The label of a task: what is being done while it is in progress, else its subject. */
export function taskLabel(task: Task): string {
  return task.status === "in_progress" && task.activeForm !== "" ? task.activeForm : task.subject;
}
