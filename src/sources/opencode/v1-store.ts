import { type Counted, messageBytes, messageCount, mustHave, ordered, rowsMark, rowTokens } from "./both-stores.ts";
import { parsed, partOf } from "./part-fields.ts";
import type { MessageRow, Part, SessionRow, SessionStore, Some } from "./rows.ts";
import { sessionRows } from "./session-rows.ts";
import { allRows, columnOr, columnsOf, countOf, firstRow, numberOf, type SqlRow, textOf } from "./sql.ts";
import type { DatabaseSync } from "./sqlite.ts";
import { type Todo, TodoTable } from "./todos.ts";

/** Above this a part is taken apart by SQLite, and only what is shown comes here. */
const BIG_PART = 256 * 1024;
const MOST_ERROR = 500;
const ORDER = ["time_created", "id"];

/** The tables `session`, `message` and `part` (agents.md §4.2). Reads only columns that they have. */
export class V1Store implements SessionStore {
  readonly generation = "v1";
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #message: Set<string>;
  readonly #part: Set<string>;
  /** Can what was said be read? Without it sessions are only counted. */
  readonly hasParts: boolean;
  readonly #todos: TodoTable;
  readonly #counted: Counted;

  /** `counted`: of this database and look, as far as others have counted. */
  constructor(database: DatabaseSync, path: string, counted: Counted = new Map()) {
    this.#counted = counted;
    this.#database = database;
    this.#path = path;
    this.#todos = new TodoTable(database);
    this.#message = columnsOf(database, "message");
    this.#part = columnsOf(database, "part");
    this.hasParts = ["id", "message_id", "data"].every((name) => this.#part.has(name));
  }

  sessions(): SessionRow[] {
    const rows = sessionRows(this.#database, "session", this.#path);
    if (rows.length > 0) mustHave("message", this.#message, ["id", "session_id", "data"]);
    return rows;
  }

  count(session: SessionRow): number {
    return messageCount({ database: this.#database, counted: this.#counted }, "message", session.id);
  }

  mark(session: SessionRow): string {
    return String(this.count(session));
  }

  sharpMark(session: SessionRow): string {
    const sql = `select ${rowsMark(this.#message)} from message where session_id = ?`;
    const messages = firstRow(this.#database, sql, session.id);
    const end = ordered(this.#message, ORDER, { edge: "last", most: 3 });
    const last = allRows(this.#database, `select id from message where session_id = ? ${end}`, session.id);
    const parts = last.map((row) => {
      if (!this.hasParts) return "";
      const of = `select ${rowsMark(this.#part)} from part where message_id = ?`;
      return JSON.stringify(firstRow(this.#database, of, textOf(row, "id") ?? ""));
    });
    return `${JSON.stringify(messages)}${parts.join("")}${this.#todos.mark(session.id)}`;
  }

  todos(session: SessionRow): Todo[] {
    return this.#todos.todos(session.id);
  }

  weight(session: SessionRow): number {
    return messageBytes(this.#database, "message", session.id);
  }

  messages(session: SessionRow, some?: Some): { rows: MessageRow[]; bad: number } {
    // A row that is no JSON would fail the whole query: it costs itself only.
    const found = allRows(
      this.#database,
      `select id, time_created, time_updated, ok,
        json_extract(d, '$.role') as role, json_extract(d, '$.time.created') as created,
        json_extract(d, '$.time.completed') as completed,
        coalesce(json_extract(d, '$.providerID'), json_extract(d, '$.model.providerID')) as provider,
        coalesce(json_extract(d, '$.modelID'), json_extract(d, '$.model.modelID')) as model,
        json_type(d, '$.tokens') as has_tokens,
        json_extract(d, '$.tokens.input') as input, json_extract(d, '$.tokens.output') as output,
        json_extract(d, '$.tokens.reasoning') as reasoning, json_extract(d, '$.tokens.cache.read') as cache_read,
        json_extract(d, '$.tokens.cache.write') as cache_write, json_extract(d, '$.cost') as cost,
        json_extract(d, '$.finish') as finish, json_extract(d, '$.error.name') as error_name,
        substr(json_extract(d, '$.error.data.message'), 1, ${MOST_ERROR}) as error_message,
        json_type(d, '$.summary') = 'true' as summary
      from (select id, ${columnOr(this.#message, "time_created", "time_updated")}, json_valid(data) as ok,
        case when json_valid(data) then data else '{}' end as d
        from message where session_id = ? ${ordered(this.#message, ORDER, some)})`,
      session.id,
    );
    if (some?.edge === "last") found.reverse();
    const rows = found.flatMap((row) => messageOf(row) ?? []);
    return { rows, bad: found.length - rows.length };
  }

  parts(_session: SessionRow, message: string, most?: number): Part[] {
    if (!this.hasParts) return [];
    const rows = allRows(
      this.#database,
      `select id, ${columnOr(this.#part, "time_updated")}, octet_length(data) as bytes,
        case when octet_length(data) <= ? then data end as data from part where message_id = ? order by id`,
      most === undefined ? Number.MAX_SAFE_INTEGER : BIG_PART,
      message,
    );
    return rows.flatMap((row) => {
      const id = textOf(row, "id") ?? "";
      const mark = `${numberOf(row, "time_updated") ?? 0}.${countOf(row, "bytes")}`;
      if (textOf(row, "data") === null && most !== undefined)
        return this.#bigPart(id, mark, most, countOf(row, "bytes"));
      const fields = parsed(textOf(row, "data"));
      return fields === null ? [] : [partOf(id, fields, mark, most)];
    });
  }

  countCalls(_session: SessionRow, messages: readonly string[]): number {
    let calls = 0;
    for (const message of this.hasParts ? messages : []) {
      // What is bigger than any text or thought in a reply is a call's output.
      const sql = `select count(*) as n from part where message_id = ? and
        case when octet_length(data) > ${BIG_PART} then 1 when json_valid(data) then json_extract(data, '$.type') = 'tool' else 0 end`;
      calls += countOf(firstRow(this.#database, sql, message) ?? {}, "n");
    }
    return calls;
  }

  #bigPart(id: string, mark: string, most: number, bytes: number): Part[] {
    const row = firstRow(
      this.#database,
      `select json_extract(d, '$.type') as type, substr(json_extract(d, '$.text'), 1, ?) as text,
        json_extract(d, '$.synthetic') as synthetic, json_extract(d, '$.tool') as tool,
        json_extract(d, '$.callID') as callID, json_extract(d, '$.mime') as mime,
        json_extract(d, '$.filename') as filename, json_extract(d, '$.state.status') as status,
        substr(json_extract(d, '$.state.input'), 1, ?) as input, substr(json_extract(d, '$.state.output'), 1, ?) as output,
        substr(json_extract(d, '$.state.error'), 1, ?) as error
      from (select case when json_valid(data) then data else '{}' end as d from part where id = ?)`,
      most,
      most,
      most,
      most,
      id,
    );
    if (row === null || textOf(row, "type") === null) return [];
    const input = textOf(row, "input");
    const fields = {
      type: textOf(row, "type"),
      text: textOf(row, "text"),
      synthetic: numberOf(row, "synthetic") === 1,
      mime: textOf(row, "mime"),
      filename: textOf(row, "filename"),
      tool: textOf(row, "tool"),
      callID: textOf(row, "callID"),
      state: {
        status: textOf(row, "status"),
        input: parsed(input) ?? input,
        output: textOf(row, "output"),
        error: textOf(row, "error"),
      },
    };
    const part = partOf(id, fields, mark, most);
    const kept = (fields.text ?? "").length + (fields.state.output ?? "").length + (input ?? "").length;
    return [{ ...part, clipped: Math.max(0, bytes - kept) }];
  }
}

function messageOf(row: SqlRow): MessageRow | null {
  const id = textOf(row, "id");
  const role = textOf(row, "role");
  if (id === null || role === null) return null;
  const createdAt = numberOf(row, "created") ?? numberOf(row, "time_created") ?? 0;
  const errorName = textOf(row, "error_name");
  return {
    id,
    seq: 0,
    role,
    createdAt,
    updatedAt: numberOf(row, "time_updated") ?? createdAt,
    completedAt: numberOf(row, "completed"),
    provider: textOf(row, "provider"),
    model: textOf(row, "model"),
    tokens: rowTokens(row),
    cost: numberOf(row, "cost"),
    finish: textOf(row, "finish"),
    error: errorName === null ? null : { name: errorName, message: textOf(row, "error_message") },
    summary: numberOf(row, "summary") === 1,
  };
}
