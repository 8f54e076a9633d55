import { basename, dirname } from "node:path";
import type { Snapshot } from "../../session/snapshot.ts";
import type { Live } from "../by-process/seats.ts";
import type { ResumeAnswer } from "../source.ts";
import { placesInUse } from "./places.ts";
import type { SessionRow } from "./rows.ts";
import type { SessionFacts } from "./session-facts.ts";

/**
 * `opencode -s <id>` (agents.md §8), told where the session lies when an OpenCode started here would look elsewhere.
 * null: files from before databases, in a directory of a name that none can be told.
 */
export function resumeArgv(
  program: string,
  session: SessionRow,
  root: string,
  env: NodeJS.ProcessEnv,
): string[] | null {
  const command = [program, "-s", session.id];
  const inUse = placesInUse(env);
  if (inUse === null) return command;
  if (session.generation !== "json") {
    return session.path === inUse.database ? command : ["env", `OPENCODE_DB=${session.path}`, ...command];
  }
  if (root === inUse.data) return command;
  return basename(root) === "opencode" ? ["env", `XDG_DATA_HOME=${dirname(root)}`, ...command] : null;
}

/** OpenCode's own fork of the whole session, safe at any time (agents.md §8). */
export function officialFork(argv: readonly string[]): string {
  return [...argv, "--fork"].join(" ");
}

export interface ResumeNeeds {
  snapshot: Snapshot;
  facts: SessionFacts;
  live: Live | null;
  /** Is there a database beside it? */
  hasDatabase: boolean;
}

/** Whether it can be resumed, and with which command, in the session's directory. */
export function opencodeResume({ snapshot, facts, live, hasDatabase }: ResumeNeeds): ResumeAnswer {
  const { resume } = snapshot;
  if (facts.session.generation === "json" && hasDatabase) {
    const reason = "it lies only in the files of an OpenCode before 1.2, where the one in use no longer looks";
    return { ok: false, reason };
  }
  if (resume === null) {
    const reason = `OpenCode finds these files only in a directory named opencode: copy ${snapshot.root} to one`;
    return { ok: false, reason: `${reason}, and name that with --root` };
  }
  if (live !== null && !live.guess) {
    const where = snapshot.livePane === null ? "in another terminal" : `in pane ${snapshot.livePane}`;
    const fork = officialFork(resume.argv);
    return { ok: false, reason: `it is open already ${where} (process ${live.process.pid}): go there, or \`${fork}\`` };
  }
  const notes: string[] = [];
  if (live !== null) notes.push(`${live.evidence}: it may be open already`);
  if (facts.session.revert !== null) notes.push("the next prompt deletes what was reverted");
  if (facts.session.archived) notes.push("it is archived");
  return { ok: true, command: resume, notes };
}
