import { lstatSync } from "node:fs";
import { join } from "node:path";

/** herrscher's own place: `$HERRSCHER_STATE_DIR`, else under the home directory; null without either (herrscher.md §1). */
export function defaultDirectory(env: NodeJS.ProcessEnv): string | null {
  if (env.HERRSCHER_STATE_DIR) return env.HERRSCHER_STATE_DIR;
  return env.HOME ? join(env.HOME, ".config", "herrscher") : null;
}

/** A root is the directory of the state file; the file itself will do, because a daemon may be told any name. */
export function stateFileOf(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? path : join(path, "state.json");
}
