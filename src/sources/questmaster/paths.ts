import { join } from "node:path";

/**
 * The directory of all session state, or the empty string when neither an override nor `HOME` is set: then there is
 * nothing to do (questmaster.md §2). Empty variables count as unset; `~` is not expanded.
 */
export function stateRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.QUESTMASTER_STATE_ROOT) return env.QUESTMASTER_STATE_ROOT;
  if (env.PARTY_STATE_ROOT) return env.PARTY_STATE_ROOT;
  return env.HOME ? join(env.HOME, ".questmaster-state") : "";
}

/** The session an agent runs in, from the environment its tmux session gave it; null when there is none. */
export function sessionIDFromEnv(env: NodeJS.ProcessEnv = process.env): string | null {
  return env.QUESTMASTER_SESSION || env.PARTY_SESSION || null;
}

/** `<root>/<id>`. The caller has checked the id. */
export function sessionStateDir(root: string, id: string): string {
  return join(root, id);
}

export function sessionStatePath(root: string, id: string): string {
  return join(root, id, "state.json");
}

/** The lock is a file beside state.json, because the atomic rename would replace a lock on state.json itself. */
export function sessionStateLockPath(root: string, id: string): string {
  return join(root, id, "state.json.lock");
}

export function sessionStateLogPath(root: string, id: string): string {
  return join(root, id, "state.jsonl");
}

export function manifestPath(root: string, id: string): string {
  return join(root, `${id}.json`);
}

export function manifestLockPath(root: string, id: string): string {
  return join(root, `${id}.json.lock`);
}
