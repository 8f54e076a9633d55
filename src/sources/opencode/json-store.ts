import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen, openRegular } from "../../files/open.ts";
import type { Problem } from "../../session/problem.ts";
import { countField, type Fields, field, fieldsOf, numberField, objectField, textField } from "../jsonl/record.ts";
import { partOf } from "./part-fields.ts";
import {
  ID,
  type MessageRow,
  type Part,
  type SessionRow,
  type SessionStore,
  type Some,
  type StoredTokens,
} from "./rows.ts";
import { type Todo, todosOf } from "./todos.ts";

const MOST_FILE = 64 * 1024 * 1024;
const MOST_ERROR = 500;
const NO_ID = "its name cannot be an id of OpenCode's: left out; rename it if a session lies there";
const NO_SESSION =
  "it is half written or damaged: OpenCode writes it again when the session goes on, else move it away";

/** The files below `storage/` that came before the database (agents.md §4.1). They are rewritten whole. */
export class JsonStore implements SessionStore {
  readonly generation = "json";
  readonly #storage: string;

  constructor(storage: string) {
    this.#storage = storage;
  }

  sessions(): SessionRow[] {
    return this.look(new Map()).rows;
  }

  /** All sessions, and what could not be read; of a file that is half written the row it had `before`, by its path. */
  look(before: ReadonlyMap<string, SessionRow>): { rows: SessionRow[]; problems: Problem[] } {
    const rows: SessionRow[] = [];
    const problems: Problem[] = [];
    const worktrees = new Map<string, string | null>();
    const folder = join(this.#storage, "session");
    const problem = (path: string, kind: string, why: string): void => {
      problems.push({ source: "opencode", path, kind, message: `${path}: ${why}` });
    };
    for (const project of namesIn(folder)) {
      if (!ID.test(project)) {
        if (namesIn(join(folder, project)).length > 0) problem(join(folder, project), "bad-name", NO_ID);
        continue;
      }
      for (const name of namesIn(join(folder, project)).filter((one) => one.endsWith(".json"))) {
        const path = join(folder, project, name);
        const id = name.slice(0, -".json".length);
        const found = ID.test(id) ? readSession(path) : { kind: "bad-name", why: NO_ID };
        if (found === null) continue;
        if ("fields" in found) {
          rows.push(...this.#session(id, path, found.fields, project, worktrees));
          continue;
        }
        const last = found.kind === "torn" ? before.get(path) : undefined;
        if (last !== undefined) rows.push(last);
        problem(path, found.kind, last === undefined ? found.why : `${found.why}; shown as it was before`);
      }
    }
    return { rows, problems };
  }

  #session(
    id: string,
    path: string,
    fields: Fields,
    folder: string,
    worktrees: Map<string, string | null>,
  ): SessionRow[] {
    const time = objectField(fields, "time");
    const createdAt = numberField(time, "created") ?? 0;
    const project = textField(fields, "projectID") ?? folder;
    const revert = objectField(fields, "revert");
    const message = textField(revert, "messageID");
    return [
      {
        id,
        generation: "json",
        path,
        parentId: textField(fields, "parentID"),
        forkId: null,
        forkBoundary: null,
        title: textField(fields, "title"),
        cwd: textField(fields, "directory") ?? this.#worktree(project, worktrees),
        version: textField(fields, "version"),
        agent: null,
        cost: null,
        tokens: null,
        revert: message === null ? null : { message, part: textField(revert, "partID") },
        createdAt,
        updatedAt: numberField(time, "updated") ?? createdAt,
        archived: numberField(time, "archived") !== null,
        idleAt: null,
        suspendedAt: null,
        outcome: null,
        idleError: null,
      },
    ];
  }

  #worktree(project: string, known: Map<string, string | null>): string | null {
    if (!ID.test(project)) return null;
    const before = known.get(project);
    if (before !== undefined) return before;
    const found = textField(readObject(join(this.#storage, "project", `${project}.json`)), "worktree");
    known.set(project, found);
    return found;
  }

  mark(session: SessionRow): string {
    const todos = stamp(join(this.#storage, "todo", `${session.id}.json`));
    return `${stamp(session.path)} ${stamp(join(this.#storage, "message", session.id))} ${todos}`;
  }

  sharpMark(session: SessionRow): string {
    const folder = join(this.#storage, "message", session.id);
    const last = idsIn(folder).slice(-3);
    const marks = last.map((id) => {
      const parts = join(this.#storage, "part", id);
      const stamps = idsIn(parts).map((part) => stamp(join(parts, `${part}.json`)));
      return `${stamp(join(folder, `${id}.json`))} ${stamps.join(" ")}`;
    });
    return `${this.mark(session)} ${marks.join(" ")}`;
  }

  todos(session: SessionRow): Todo[] {
    return todosOf(readJson(join(this.#storage, "todo", `${session.id}.json`)));
  }

  weight(session: SessionRow): number {
    // A file's least cost on disk, whatever it holds.
    return this.count(session) * 4096;
  }

  count(session: SessionRow): number {
    return idsIn(join(this.#storage, "message", session.id)).length;
  }

  messages(session: SessionRow, some?: Some): { rows: MessageRow[]; bad: number } {
    const folder = join(this.#storage, "message", session.id);
    const all = idsIn(folder);
    // Ids grow with time.
    const ids = some === undefined ? all : some.edge === "first" ? all.slice(0, some.most) : all.slice(-some.most);
    const rows = ids.flatMap((id) => {
      const fields = readObject(join(folder, `${id}.json`));
      return fields === null ? [] : (messageOf(id, fields) ?? []);
    });
    rows.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    return { rows, bad: ids.length - rows.length };
  }

  parts(_session: SessionRow, message: string, most?: number): Part[] {
    if (!ID.test(message)) return [];
    const folder = join(this.#storage, "part", message);
    return idsIn(folder).flatMap((id) => {
      const path = join(folder, `${id}.json`);
      const fields = readObject(path);
      return fields === null ? [] : [partOf(id, fields, stamp(path), most)];
    });
  }

  countCalls(session: SessionRow, messages: readonly string[]): number {
    return messages.reduce((sum, id) => sum + this.parts(session, id).filter((part) => part.type === "tool").length, 0);
  }
}

function messageOf(id: string, fields: Fields): MessageRow | null {
  const role = textField(fields, "role");
  if (role === null) return null;
  const time = objectField(fields, "time");
  const model = objectField(fields, "model");
  const error = objectField(fields, "error");
  const name = textField(error, "name");
  const createdAt = numberField(time, "created") ?? 0;
  return {
    id,
    seq: 0,
    role,
    createdAt,
    updatedAt: numberField(time, "completed") ?? createdAt,
    completedAt: numberField(time, "completed"),
    provider: textField(fields, "providerID") ?? textField(model, "providerID"),
    model: textField(fields, "modelID") ?? textField(model, "modelID"),
    tokens: tokensOf(objectField(fields, "tokens")),
    cost: numberField(fields, "cost"),
    finish: textField(fields, "finish"),
    error:
      name === null
        ? null
        : { name, message: textField(objectField(error, "data"), "message")?.slice(0, MOST_ERROR) ?? null },
    summary: field(fields, "summary") === true,
  };
}

function tokensOf(fields: Fields | null): StoredTokens | null {
  if (fields === null) return null;
  const cache = objectField(fields, "cache");
  return {
    input: countField(fields, "input"),
    output: countField(fields, "output"),
    reasoning: countField(fields, "reasoning"),
    cacheRead: countField(cache, "read"),
    cacheWrite: countField(cache, "write"),
  };
}

/** A session's own file, or why it cannot be read; null when it is gone meanwhile. */
function readSession(path: string): { fields: Fields } | { kind: string; why: string } | null {
  try {
    using file = openRegular(path);
    if (file.size > MOST_FILE)
      return { kind: "too-big", why: `${file.size} bytes are too many for a session: left out` };
    const fields = fieldsOf(JSON.parse(file.read(0, file.size).toString("utf8")));
    return fields === null ? { kind: "torn", why: NO_SESSION } : { fields };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: "torn", why: NO_SESSION };
    if (!(error instanceof CannotOpen)) throw error;
    return error.kind === "gone" ? null : { kind: error.kind, why: error.message };
  }
}

function readObject(path: string): Fields | null {
  return fieldsOf(readJson(path));
}

/** null for a file that is gone, too big, half written or no file at all. */
function readJson(path: string): unknown {
  try {
    using file = openRegular(path);
    return file.size > MOST_FILE ? null : JSON.parse(file.read(0, file.size).toString("utf8"));
  } catch (error) {
    if (error instanceof CannotOpen || error instanceof SyntaxError) return null;
    throw error;
  }
}

function stamp(path: string): string {
  try {
    const { mtimeMs, size, ino } = lstatSync(path);
    return `${mtimeMs}.${size}.${ino}`;
  } catch {
    return "-";
  }
}

/** In order; none where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function idsIn(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".json") && ID.test(name.slice(0, -5)))
    .map((name) => name.slice(0, -5));
}
