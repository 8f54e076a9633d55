import type { Some, StoredTokens } from "./rows.ts";
import { allRows, countOf, firstRow, type SqlRow, textOf } from "./sql.ts";
import type { DatabaseSync } from "./sqlite.ts";

/** Where a generation keeps its messages: a name of ours, never one from a file. */
type MessageTable = "message" | "session_message";

/** Messages of each session, counted once a look: that goes over a whole table. By table and condition. */
export type Counted = Map<string, ReadonlyMap<string, number>>;

/** How many messages a session has; `where` is SQL of ours. */
export function messageCount(
  { database, counted }: { database: DatabaseSync; counted: Counted },
  table: MessageTable,
  session: string,
  where = "true",
): number {
  const name = `${table} ${where}`;
  let counts = counted.get(name);
  if (counts === undefined) {
    const sql = `select session_id, count(*) as n from ${table} where ${where} group by session_id`;
    counts = new Map(allRows(database, sql).map((row) => [textOf(row, "session_id") ?? "", countOf(row, "n")]));
    counted.set(name, counts);
  }
  return counts.get(session) ?? 0;
}

/** What changes with the rows of a table, as SQL over the columns that it has. */
export function rowsMark(columns: ReadonlySet<string>): string {
  const time = columns.has("time_updated") ? "max(time_updated)" : "null";
  return `count(*) as n, ${time} as t, sum(octet_length(data)) as b`;
}

/** The end of a query for a session's messages, in this order or, for the last ones, in the reverse. */
export function ordered(columns: ReadonlySet<string>, by: readonly string[], some: Some | undefined): string {
  const direction = some?.edge === "last" ? " desc" : "";
  const names = by.filter((name) => columns.has(name)).map((name) => `${name}${direction}`);
  return `order by ${names.join(", ")} limit ${some?.most ?? -1}`;
}

/** A generation's tables lack what nothing can be read without. */
export class MissingColumns extends Error {
  override name = "MissingColumns";
}

/** Throws MissingColumns. */
export function mustHave(table: string, columns: ReadonlySet<string>, needed: readonly string[]): void {
  const missing = needed.filter((name) => !columns.has(name));
  if (missing.length > 0) throw new MissingColumns(`its table ${table} has no ${missing.join(", no ")}`);
}

/** Bytes of a session's messages. */
export function messageBytes(database: DatabaseSync, table: MessageTable, session: string): number {
  const sql = `select sum(octet_length(data)) as n from ${table} where session_id = ?`;
  return countOf(firstRow(database, sql, session) ?? {}, "n");
}

/** Tokens of a message row, whichever generation's query it came from. null: none were recorded. */
export function rowTokens(row: SqlRow): StoredTokens | null {
  if (textOf(row, "has_tokens") !== "object") return null;
  return {
    input: countOf(row, "input"),
    output: countOf(row, "output"),
    reasoning: countOf(row, "reasoning"),
    cacheRead: countOf(row, "cache_read"),
    cacheWrite: countOf(row, "cache_write"),
  };
}
