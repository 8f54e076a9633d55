import { cleanLine } from "../../session/untrusted.ts";
import type { ResumeAnswer } from "../source.ts";
import { damageOf, type SessionState } from "./fold.ts";
import { projectId } from "./ids.ts";
import { SESSION_VERSION } from "./payloads.ts";

/** What the line is like for which codebot refuses to open a session (codebot.md §14). */
const REFUSED: Record<string, string> = {
  malformed_line: "is malformed",
  oversize_line: "is too long",
  empty_id: "is an entry without an id",
  missing_parent: "leads to an entry that is not there",
  parent_cycle: "leads into a circle of entries",
  no_header: "does not lead to the header",
};

export interface ResumeFacts {
  id: string;
  state: SessionState;
  /** Name of the project directory the file lies in. */
  project: string;
  /** Would `codebot -c` take this one? */
  newest: boolean;
}

/**
 * How codebot is made to open a session: `-c` takes the newest of the directory, any other is chosen in the list of
 * `-r`; there is no option that names one (codebot.md §14.1).
 */
export function resumeAnswer({ id, state, project, newest }: ResumeFacts): ResumeAnswer {
  const { header } = state;
  if (header === null) return { ok: false, reason: "it is no session" };
  if (header.version < SESSION_VERSION || state.shape === "unknown") {
    return { ok: false, reason: `codebot does not open session version ${header.version}` };
  }
  const bad = state.fatal ?? damageOf(state).find(({ kind }) => REFUSED[kind] !== undefined);
  if (bad !== undefined) {
    const remedy = state.chain.broken === null ? "; fork it: the copy leaves such lines out" : "";
    return { ok: false, reason: `codebot refuses to open it: line ${bad.line} ${REFUSED[bad.kind]}${remedy}` };
  }
  if (header.cwd === "") return { ok: false, reason: "it does not say in which directory it was held" };
  if (projectId(header.cwd) !== project) {
    return {
      ok: false,
      reason: `codebot looks for sessions of ${cleanLine(header.cwd)} in ${projectId(header.cwd)}, but this file lies in ${project}`,
    };
  }
  const notes =
    header.version > SESSION_VERSION ? [`needs a codebot that knows session version ${header.version}`] : [];
  if (newest) return { ok: true, command: { argv: ["codebot", "-c"], cwd: header.cwd }, notes };
  notes.push(`codebot lists the sessions of this directory: answer with ${id}`);
  return { ok: true, command: { argv: ["codebot", "-r"], cwd: header.cwd }, notes };
}
