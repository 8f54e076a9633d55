import type { StoredTokens } from "./rows.ts";
import { allRows, countOf, firstRow, type SqlRow, textOf } from "./sql.ts";
import type { DatabaseSync } from "./sqlite.ts";

/** Where a generation keeps its messages: a name of ours, never one from a file. */
type MessageTable = "message" | "session_message";

/** How many messages each session has. */
export function messageCounts(database: DatabaseSync, table: MessageTable): Map<string, number> {
  const rows = allRows(database, `select session_id, count(*) as n from ${table} group by session_id`);
  return new Map(rows.map((row) => [textOf(row, "session_id") ?? "", countOf(row, "n")]));
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
