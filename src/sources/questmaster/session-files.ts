import { mkdirSync, statSync } from "node:fs";
import { CannotLock, type LockOptions, withFlock } from "../../files/flock.ts";
import { CannotOpen } from "../../files/open.ts";
import { STATE_JSONL_MAX_SIZE, type StateEvent, stateEventLine } from "./events.ts";
import { isValidPartyID } from "./ids.ts";
import { sessionStateDir, sessionStateLockPath, sessionStateLogPath, sessionStatePath, stateRoot } from "./paths.ts";
import { readSmallFile } from "./read-small.ts";
import {
  newPaneState,
  newSessionState,
  parseSessionState,
  type SessionState,
  sessionStateText,
} from "./session-state.ts";
import { nanoTime } from "./time.ts";
import { appendRotating, replaceUnderLock } from "./write.ts";

/** Where a session's files are and how long to wait for their lock. Where there is no root, nothing is read or written. */
export interface SessionFiles extends LockOptions {
  /** The state root; without it `stateRoot(env)`. */
  root?: string;
}

/** The state of a session, null when it has none yet. Takes no lock: the rename makes it whole. Throws `BadJson`, `CannotOpen`, `TooLarge`. */
export async function loadSessionState(id: string, where: SessionFiles = {}): Promise<SessionState | null> {
  const root = rootOf(where);
  requireID(id);
  return root === "" ? null : readState(root, id);
}

function readState(root: string, id: string): SessionState | null {
  try {
    return parseSessionState(readSmallFile(sessionStatePath(root, id)).text);
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return null;
    throw error;
  }
}

/** Writes the whole state under its lock. Throws `CannotLock` without writing. */
export async function saveSessionState(id: string, state: SessionState, where: SessionFiles = {}): Promise<void> {
  await locked(id, where, (root) => replaceUnderLock(sessionStatePath(root, id), sessionStateText(state)));
}

/** Changes a freshly read state under its lock, or refuses by returning false. */
export type Mutate = (state: SessionState) => boolean;

/**
 * Read, change and write as one locked step: the only safe way to change a state, because hooks write all the time.
 * A session without a state gets a new one. Returns whether it was written. Throws `BadJson` for a torn file, which
 * is left as it is, and `CannotLock`.
 */
export async function updateSessionState(id: string, mutate: Mutate, where: SessionFiles = {}): Promise<boolean> {
  return (await locked(id, where, (root) => updateLocked(root, id, mutate))) ?? false;
}

function updateLocked(root: string, id: string, mutate: Mutate): boolean {
  const state = readState(root, id) ?? newSessionState(id);
  if (!mutate(state)) return false;
  replaceUnderLock(sessionStatePath(root, id), sessionStateText(state));
  return true;
}

/** Adds one event to state.jsonl, which is rotated at `STATE_JSONL_MAX_SIZE`. The root must exist. */
export async function appendStateEvent(id: string, event: StateEvent, where: SessionFiles = {}): Promise<void> {
  await locked(id, where, (root) => appendLocked(root, id, event));
}

function appendLocked(root: string, id: string, event: StateEvent): void {
  appendRotating(sessionStateLogPath(root, id), stateEventLine(event), STATE_JSONL_MAX_SIZE);
}

/** What a hook does: the event and the change under one lock, each of them even when the other's file is bad. */
export async function updateAndLog(
  id: string,
  event: StateEvent,
  mutate: Mutate,
  where: SessionFiles = {},
): Promise<boolean> {
  const updated = await locked(id, where, (root) => {
    let written = false;
    try {
      appendLocked(root, id, event);
    } finally {
      written = updateLocked(root, id, mutate);
    }
    return written;
  });
  return updated ?? false;
}

/** Seeds panes (role → agent) as starting, so that a new session is not `unknown` until its first hook; a pane with a state stays. */
export async function initStartingState(
  id: string,
  agentsByRole: Record<string, string>,
  where: SessionFiles & { now?: bigint } = {},
): Promise<void> {
  const now = where.now ?? BigInt(Date.now()) * 1_000_000n;
  await updateSessionState(
    id,
    (state) => {
      let changed = false;
      for (const [role, agent] of Object.entries(agentsByRole)) {
        if (state.panes.get(role)?.state) continue;
        const at = nanoTime(now);
        const started = { state: "starting", activity: "started", seq: now, lastEvent: at, lastKind: "SessionStart" };
        state.panes.set(role, { ...newPaneState(role, agent), ...started });
        state.seenAt = at;
        changed = true;
      }
      return changed;
    },
    where,
  );
}

/** Does the work under the session's lock; null: there is no root, so that there is nothing to do (see `stateRoot`). */
async function locked<T>(id: string, where: SessionFiles, work: (root: string) => T): Promise<T | null> {
  const root = rootOf(where);
  requireID(id);
  if (root === "") return null;
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`no state root at ${root}`);
  // Private, as every release from v0.3.35 on makes it: activity lines hold prompts.
  mkdirSync(sessionStateDir(root, id), { recursive: true, mode: 0o700 });
  return await withFlock(sessionStateLockPath(root, id), () => work(root), where);
}

function rootOf(where: SessionFiles): string {
  return where.root ?? stateRoot(where.env);
}

function requireID(id: string): void {
  if (!isValidPartyID(id)) throw new CannotLock("refused", id, `not a session id: ${JSON.stringify(id)}`);
}
