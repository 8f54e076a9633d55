import type { Document } from "../../session/document.ts";
import type { TaskCounts } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { fieldsOf, textField } from "../jsonl/record.ts";
import { allRows, columnOr, columnsOf, firstRow, textOf } from "./sql.ts";
import type { DatabaseSync } from "./sqlite.ts";

/** An entry of the agent's own list of things to do (agents.md §4.1). */
export interface Todo {
  text: string;
  status: string;
  priority: string;
}

const MOST_TODOS = 500;
/** Characters of one that are kept. */
const MOST_TEXT = 500;

/** The `todo` table, which both generations of the database have. Reads only columns that it has. */
export class TodoTable {
  readonly #database: DatabaseSync;
  readonly #columns: Set<string>;
  readonly #there: boolean;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#columns = columnsOf(database, "todo");
    this.#there = this.#columns.has("content") && this.#columns.has("session_id");
  }

  todos(session: string): Todo[] {
    if (!this.#there) return [];
    const more = columnOr(this.#columns, "status", "priority");
    const order = this.#columns.has("position") ? "order by position" : "";
    const sql = `select substr(content, 1, ${MOST_TEXT}) as content, ${more} from todo where session_id = ? ${order} limit ${MOST_TODOS}`;
    return allRows(this.#database, sql, session).map((row) => ({
      text: textOf(row, "content") ?? "",
      status: textOf(row, "status") ?? "pending",
      priority: textOf(row, "priority") ?? "",
    }));
  }

  mark(session: string): string {
    if (!this.#there) return "";
    // Without a time of writing the list itself tells.
    if (!this.#columns.has("time_updated")) return JSON.stringify(this.todos(session));
    const sql = "select count(*) as n, max(time_updated) as t from todo where session_id = ?";
    return JSON.stringify(firstRow(this.#database, sql, session));
  }
}

/** The list of a `storage/todo/<session>.json`. */
export function todosOf(value: unknown): Todo[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_TODOS).flatMap((one) => {
    const fields = fieldsOf(one);
    const text = textField(fields, "content");
    if (text === null) return [];
    const status = textField(fields, "status") ?? "pending";
    return [{ text: text.slice(0, MOST_TEXT), status, priority: textField(fields, "priority") ?? "" }];
  });
}

/** null without a list: shown as none, not as nothing done. What was cancelled is no task any more. */
export function taskCounts(todos: readonly Todo[]): TaskCounts | null {
  const kept = todos.filter((one) => one.status !== "cancelled");
  if (kept.length === 0) return null;
  const count = (status: string): number => kept.filter((one) => one.status === status).length;
  const [completed, inProgress] = [count("completed"), count("in_progress")];
  return { total: kept.length, pending: kept.length - completed - inProgress, inProgress, completed, blocked: 0 };
}

/** The view `tasks`. */
export function todosDocument(todos: readonly Todo[]): Document {
  const rows = todos.map((todo) => {
    const cells = [cleanLine(todo.status).replace("_", " "), cleanLine(todo.text), cleanLine(todo.priority)];
    if (todo.status === "in_progress") return { cells, tone: "strong" as const };
    return todo.status === "pending" ? { cells } : { cells, tone: "faint" as const };
  });
  const columns = [{ title: "status" }, { title: "task", flexible: true }, { title: "priority", from: 60 }];
  return { title: "tasks", blocks: [{ type: "table", columns, rows, empty: "No tasks." }] };
}
