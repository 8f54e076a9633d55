import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize, resolve, sep } from "node:path";

/** `opencode.db`, and other channels' `opencode-<channel>.db` (agents.md §4.1). */
const DATABASE = /^opencode(?:-[A-Za-z0-9._-]{1,64})?\.db$/u;

/** Where OpenCode keeps its data, on every system; and where `OPENCODE_DB` names a database elsewhere. */
export function opencodeRoots(env: NodeJS.ProcessEnv): string[] {
  const usual = dataDirectory(env, env.HOME ?? homedir());
  const roots = env.OPENCODE_DB ? [usual, dirname(resolve(usual, env.OPENCODE_DB))] : [usual];
  return [...new Set(roots)];
}

/** The directory and the database an OpenCode started here would open; null: without a home that is not known. */
export function placesInUse(env: NodeJS.ProcessEnv): { data: string; database: string } | null {
  if (!env.HOME && !env.XDG_DATA_HOME) return null;
  const data = dataDirectory(env, env.HOME ?? homedir());
  return { data, database: resolve(data, env.OPENCODE_DB || "opencode.db") };
}

function dataDirectory(env: NodeJS.ProcessEnv, home: string): string {
  const given = env.XDG_DATA_HOME;
  const data = given !== undefined && isAbsolute(given) ? given : join(home, ".local", "share");
  return resolve(data, "opencode");
}

/** Is this name one of a root's databases? */
export function isDatabaseName(name: string, root: string, env: NodeJS.ProcessEnv): boolean {
  if (DATABASE.test(name)) return true;
  const named = env.OPENCODE_DB;
  if (!named || named === ":memory:") return false;
  return isAbsolute(named) ? resolve(named) === join(root, name) : normalize(named) === name;
}

/** What a path below a root belongs to: a database by its path, or the files from before databases. */
export function placeOf(root: string, path: string, env: NodeJS.ProcessEnv): { database: string } | "storage" | null {
  if (dirname(path) === root) {
    const name = basename(path);
    const database = name.endsWith("-wal") ? name.slice(0, -"-wal".length) : name;
    return isDatabaseName(database, root, env) ? { database: join(root, database) } : null;
  }
  if (!path.startsWith(`${root}${sep}storage${sep}`)) return null;
  const [kind, owner, name, more] = path
    .slice(root.length + 1)
    .split(sep)
    .slice(1);
  if (kind === "todo") return owner !== undefined && name === undefined ? "storage" : null;
  if (name === undefined || owner === undefined || more !== undefined) return null;
  return ["session", "message", "part"].includes(kind ?? "") ? "storage" : null;
}

export function storageOf(root: string): string {
  return join(root, "storage");
}
