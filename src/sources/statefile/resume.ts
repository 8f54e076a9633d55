import type { ResumeCommand } from "../../session/snapshot.ts";
import { hasHealthyCut, readOnly } from "./cuts.ts";
import { refusalOf, type StateOfFile } from "./fold.ts";

/** How the tool goes on with a session, or why it cannot (statefile.md §6, §15). */
export type ResumePlan = { ok: true; command: ResumeCommand } | { ok: false; reason: string };

export function planResume(state: StateOfFile, path: string, id: string): ResumePlan {
  const reason = readOnly(path) ?? refusedReading(state) ?? withoutConfig(state);
  return reason === null
    ? { ok: true, command: { argv: ["mainplane", "chat", id], cwd: null } }
    : { ok: false, reason };
}

function refusedReading(state: StateOfFile): string | null {
  const refusal = refusalOf(state);
  if (refusal === null) return null;
  return `the tool refuses this file: ${refusal}${hasHealthyCut(state) ? "; fork what stands before that instead" : ""}`;
}

function withoutConfig({ conf, confProblem }: StateOfFile): string | null {
  if (conf !== null) return null;
  return confProblem === null
    ? "it has no config record: the tool cannot continue it"
    : `the tool cannot continue it: ${confProblem}`;
}
