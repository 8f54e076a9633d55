import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** `CLAUDE_CONFIG_DIR` (a comma list is several), else both usual places (agents.md §1.1). */
export function claudeRoots(env: NodeJS.ProcessEnv): string[] {
  const home = env.HOME ?? homedir();
  const given = (env.CLAUDE_CONFIG_DIR ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const roots =
    given.length > 0
      ? given.map((part) => untilde(part, home))
      : [join(home, ".claude"), join(configHome(env, home), "claude")];
  return [...new Set(roots.map((root) => resolve(root)))];
}

function untilde(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

function configHome(env: NodeJS.ProcessEnv, home: string): string {
  const given = env.XDG_CONFIG_HOME;
  return given !== undefined && isAbsolute(given) ? given : join(home, ".config");
}
