import type { DatabaseSync } from "node:sqlite";

export type Sqlite = typeof import("node:sqlite");
export type { DatabaseSync };

let loading: Promise<Sqlite> | null = null;

/** Node's own SQLite, loaded when first needed: its notice of being experimental would land on the screen. */
export function loadSqlite(): Promise<Sqlite> {
  loading ??= withoutSqliteNotice(() => import("node:sqlite"));
  return loading;
}

/** Runs a load during which the notice of an experimental SQLite is held back; other warnings pass. */
export async function withoutSqliteNotice<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process;
  const quiet = (warning: string | Error, ...rest: unknown[]): void => {
    if (!/sqlite/iu.test(String(warning))) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = quiet;
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
