import { setTimeout as sleep } from "node:timers/promises";
import { CommandFailed, type CommandTimes, type ListedSession, parseSessionList, sendCommand } from "./command.ts";
import type { LockState } from "./lock-file.ts";
import type { StateRow } from "./state-file.ts";

/**
 * Who answers on the command socket. Two daemons on different roots may share its path, and the later one has it
 * (herrscher.md §7): `other` is somebody else's world and gets nothing; `untold`: nothing there to compare by.
 */
export type World = "none" | "refused" | "foreign" | "silent" | "other" | "untold" | "ours";

export interface SocketAnswer {
  world: World;
  /** What was seen, one line. */
  why: string;
  listed: ListedSession[];
}

/** The daemon of one root as far as it can be known. */
export interface Daemon {
  state: "up" | "down" | "unknown";
  pid: number | null;
  world: World;
  /** Strongest evidence first. */
  why: string[];
}

/** Times for asking whether anybody is there: short, a screen may be waiting. */
const ASKING: CommandTimes = { connectMs: 500, answerMs: 2000 };

/**
 * Asks the daemon behind a socket for its sessions and compares incarnations with the state file, which is read
 * after the answer so that a session made meanwhile is in both. Sends nothing else.
 */
export async function askWorld(
  path: string | null,
  rows: () => readonly StateRow[],
  times: CommandTimes = ASKING,
): Promise<SocketAnswer> {
  if (path === null) return { world: "none", why: "the instance id is not one, so there is no socket", listed: [] };
  try {
    const listed = parseSessionList(await sendCommand(path, ["session", "list", "--json"], times));
    if (listed === null) return { world: "silent", why: `${path} answers something else than a list`, listed: [] };
    let world = compareWorlds(rows(), listed);
    if (world === "other") {
      // A name may just be re-used: its row is saved an instant later.
      await sleep(100);
      world = compareWorlds(rows(), listed);
    }
    return { world, why: WORLD_WORDS[world](path), listed };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { world: WORLD_OF_FAILURE[error.kind], why: error.message, listed: [] };
  }
}

const WORLD_OF_FAILURE = {
  absent: "none",
  foreign: "foreign",
  refused: "refused",
  silent: "silent",
  malformed: "silent",
  err: "silent",
} as const;

const WORLD_WORDS = {
  ours: (path: string) => `the daemon at ${path} has the same sessions`,
  other: (path: string) => `the daemon at ${path} has other sessions: it belongs to another root, nothing is sent`,
  untold: (path: string) => `the daemon at ${path} has nothing to be known by`,
};

/** Are these the same sessions? Only incarnations prove it: names are used again. */
export function compareWorlds(
  rows: readonly StateRow[],
  listed: readonly ListedSession[],
): "ours" | "other" | "untold" {
  const byName = new Map<string, string>();
  for (const row of rows) if (!row.duplicate && row.nameValid) byName.set(row.session.name, row.session.incarnation);
  let same = 0;
  let common = 0;
  for (const { name, incarnation } of listed) {
    const ours = byName.get(name);
    if (ours === undefined) continue;
    common += 1;
    if (ours !== incarnation) return "other";
    if (ours !== "") same += 1;
  }
  if (same > 0) return "ours";
  if (byName.size === 0 && listed.length === 0) return "untold";
  return common > 0 ? "untold" : "other";
}

/** Is a daemon running on this root? In the order of herrscher.md §7: the kernel's lock, then pid and socket. */
export function judgeDaemon(lock: LockState, lockFile: boolean, answer: SocketAnswer): Daemon {
  const { world } = answer;
  const judged = (state: Daemon["state"], ...why: string[]): Daemon => ({ state, pid: lock.pid, world, why });
  const holder = lock.pid === null ? "a process" : `process ${lock.pid}`;
  if (lock.held === true) return judged("up", `${holder} holds the daemon's lock`, answer.why);
  if (world === "ours") return judged("up", answer.why);
  const silence =
    lock.held === null ? "who holds the daemon's lock is not shown here" : "nobody holds the daemon's lock";
  if (lock.held === null && lock.pidAlive === true && (world === "silent" || world === "untold")) {
    return judged("up", `${holder} of the lock file is alive`, answer.why);
  }
  if (world === "untold" && !lockFile) return judged("up", answer.why);
  if (world === "silent") return judged("unknown", answer.why, silence);
  return judged("down", lockFile ? silence : "no daemon has left a lock", answer.why);
}
