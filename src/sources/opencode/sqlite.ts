import type { DatabaseSync } from "node:sqlite";

export type Sqlite = typeof import("node:sqlite");
export type { DatabaseSync };

let loading: Promise<Sqlite> | null = null;

/** Node's own SQLite, loaded when first needed: its notice of being experimental would land on the screen. */
export function loadSqlite(): Promise<Sqlite> {
  loading ??= importQuietly();
  return loading;
}

async function importQuietly(): Promise<Sqlite> {
  const { emitWarning } = process;
  const quiet = (warning: string | Error, ...rest: unknown[]): void => {
    if (!/sqlite/iu.test(String(warning))) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = quiet;
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
