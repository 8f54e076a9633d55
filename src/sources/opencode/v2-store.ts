import { type Counted, messageBytes, messageCount, mustHave, ordered, rowsMark, rowTokens } from "./both-stores.ts";
import { parsed, v2Parts } from "./part-fields.ts";
import type { MessageRow, Part, SessionRow, SessionStore, Some } from "./rows.ts";
import { sessionRows } from "./session-rows.ts";
import { allRows, columnOr, columnsOf, countOf, firstRow, numberOf, textOf } from "./sql.ts";
import type { DatabaseSync } from "./sqlite.ts";
import { type Todo, TodoTable } from "./todos.ts";

/** Above this a row's content is not counted call by call. */
const BIG_ROW = 4 * 1024 * 1024;
const MOST_ERROR = 500;
const ORDER = ["seq", "time_created", "id"];

/** The tables `session_v2` and `session_message` (agents.md §4.1): content lies in the row, which is written in place. */
export class V2Store implements SessionStore {
  readonly generation = "v2";
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #columns: Set<string>;
  readonly #todos: TodoTable;
  readonly #counted: Counted;

  /** `counted`: of this database and look, as far as others have counted. */
  constructor(database: DatabaseSync, path: string, counted: Counted = new Map()) {
    this.#counted = counted;
    this.#database = database;
    this.#path = path;
    this.#todos = new TodoTable(database);
    this.#columns = columnsOf(database, "session_message");
  }

  /** An empty `session_message` stands in v1's databases too: `session_v2` is the sign. */
  sessions(): SessionRow[] {
    const rows = sessionRows(this.#database, "session_v2", this.#path);
    if (rows.length > 0) mustHave("session_message", this.#columns, ["id", "session_id", "type", "data"]);
    return rows;
  }

  count(session: SessionRow): number {
    return this.#countOf(session, "type in ('user', 'assistant')");
  }

  mark(session: SessionRow): string {
    return String(this.#countOf(session));
  }

  #countOf(session: SessionRow, where?: string): number {
    const of = { database: this.#database, counted: this.#counted };
    return messageCount(of, "session_message", session.id, where);
  }

  sharpMark(session: SessionRow): string {
    const sql = `select ${rowsMark(this.#columns)} from session_message where session_id = ?`;
    return `${JSON.stringify(firstRow(this.#database, sql, session.id))}${this.#todos.mark(session.id)}`;
  }

  todos(session: SessionRow): Todo[] {
    return this.#todos.todos(session.id);
  }

  weight(session: SessionRow): number {
    return messageBytes(this.#database, "session_message", session.id);
  }

  messages(session: SessionRow, some?: Some): { rows: MessageRow[]; bad: number } {
    const found = allRows(
      this.#database,
      `select id, type, seq, time_created, time_updated, ok,
        json_extract(d, '$.time.created') as created, json_extract(d, '$.time.completed') as completed,
        json_extract(d, '$.model.providerID') as provider, json_extract(d, '$.model.id') as model,
        json_type(d, '$.tokens') as has_tokens,
        json_extract(d, '$.tokens.input') as input, json_extract(d, '$.tokens.output') as output,
        json_extract(d, '$.tokens.reasoning') as reasoning, json_extract(d, '$.tokens.cache.read') as cache_read,
        json_extract(d, '$.tokens.cache.write') as cache_write, json_extract(d, '$.cost') as cost,
        json_extract(d, '$.finish') as finish, json_extract(d, '$.error.type') as error_name,
        substr(json_extract(d, '$.error.message'), 1, ${MOST_ERROR}) as error_message
      from (select id, type, ${columnOr(this.#columns, "seq", "time_created", "time_updated")}, json_valid(data) as ok,
        case when json_valid(data) then data else '{}' end as d
        from session_message where session_id = ? ${ordered(this.#columns, ORDER, some)})`,
      session.id,
    );
    if (some?.edge === "last") found.reverse();
    let bad = 0;
    const rows = found.flatMap((row): MessageRow[] => {
      const id = textOf(row, "id");
      const role = textOf(row, "type");
      if (numberOf(row, "ok") !== 1) bad += 1;
      if (id === null || role === null) return [];
      const createdAt = numberOf(row, "created") ?? numberOf(row, "time_created") ?? 0;
      const name = textOf(row, "error_name");
      return [
        {
          id,
          seq: numberOf(row, "seq") ?? 0,
          role,
          createdAt,
          updatedAt: numberOf(row, "time_updated") ?? createdAt,
          completedAt: numberOf(row, "completed"),
          provider: textOf(row, "provider"),
          model: textOf(row, "model"),
          tokens: rowTokens(row),
          cost: numberOf(row, "cost"),
          finish: textOf(row, "finish"),
          error: name === null ? null : { name, message: textOf(row, "error_message") },
          summary: false,
        },
      ];
    });
    return { rows, bad };
  }

  parts(_session: SessionRow, message: string, most?: number): Part[] {
    const more = columnOr(this.#columns, "time_updated");
    const sql = `select type, data, ${more}, octet_length(data) as bytes from session_message where id = ?`;
    const row = firstRow(this.#database, sql, message);
    const data = row === null ? null : parsed(textOf(row, "data"));
    if (row === null || data === null) return [];
    const mark = `${numberOf(row, "time_updated") ?? 0}.${countOf(row, "bytes")}`;
    return v2Parts(textOf(row, "type") ?? "", data, mark, most);
  }

  countCalls(session: SessionRow, messages: readonly string[]): number {
    const wanted = new Set(messages);
    const rows = allRows(
      this.#database,
      `select m.id as id, count(*) as n from session_message m,
          json_each(case when json_valid(m.data) then m.data else '{}' end, '$.content') c
        where m.session_id = ? and m.type = 'assistant' and octet_length(m.data) <= ${BIG_ROW}
          and c.type = 'object' and json_extract(c.value, '$.type') = 'tool' group by m.id`,
      session.id,
    );
    return rows.reduce((sum, row) => sum + (wanted.has(textOf(row, "id") ?? "") ? countOf(row, "n") : 0), 0);
  }
}
