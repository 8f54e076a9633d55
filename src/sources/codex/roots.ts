import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `CODEX_HOME`, else `~/.codex` (agents.md §2.1). */
export function codexRoots(env: NodeJS.ProcessEnv): string[] {
  const given = env.CODEX_HOME;
  const home = env.HOME ?? homedir();
  return [resolve(given !== undefined && given !== "" ? given : join(home, ".codex"))];
}
