import type { DatabaseSync } from "./sqlite.ts";

type Value = string | number | null;
export type SqlRow = Record<string, Value>;

/** Rows with numbers as JavaScript has them: an integer beyond its range would throw. Blobs are left out. */
export function allRows(database: DatabaseSync, sql: string, ...values: (string | number)[]): SqlRow[] {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement.all(...values).map(plain);
}

export function firstRow(database: DatabaseSync, sql: string, ...values: (string | number)[]): SqlRow | null {
  return allRows(database, sql, ...values)[0] ?? null;
}

function plain(row: Record<string, unknown>): SqlRow {
  const made: SqlRow = {};
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === "bigint") made[name] = Number(value);
    else made[name] = typeof value === "string" || typeof value === "number" ? value : null;
  }
  return made;
}

export function textOf(row: SqlRow, name: string): string | null {
  const value = row[name];
  return typeof value === "string" ? value : null;
}

export function numberOf(row: SqlRow, name: string): number | null {
  const value = row[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A count: a whole number from 0 on. */
export function countOf(row: SqlRow, name: string): number {
  const value = numberOf(row, name);
  return value !== null && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.trunc(value) : 0;
}

/** Names of a table's columns; none when there is no such table. Releases add and drop some. */
export function columnsOf(database: DatabaseSync, table: string): Set<string> {
  const names = allRows(database, "select name from pragma_table_info(?)", table).map((row) => textOf(row, "name"));
  return new Set(names.filter((name) => name !== null));
}

/** A column by name, or `null` under that name where the table lacks it. Names are ours, never from a file. */
export function columnOr(columns: ReadonlySet<string>, ...names: string[]): string {
  return names.map((name) => (columns.has(name) ? name : `null as ${name}`)).join(", ");
}
