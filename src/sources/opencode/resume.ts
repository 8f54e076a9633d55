import type { Snapshot } from "../../session/snapshot.ts";
import type { Live } from "../by-process/seats.ts";
import type { ResumeAnswer } from "../source.ts";
import type { SessionFacts } from "./session-facts.ts";

/** OpenCode's own fork of the whole session, safe at any time (agents.md §8). */
export function officialFork(program: string, id: string): string {
  return `${program} -s ${id} --fork`;
}

/** `opencode -s <id>` in the session's directory (agents.md §8). */
export function opencodeResume(
  snapshot: Snapshot,
  facts: SessionFacts,
  live: Live | null,
  hasDatabase: boolean,
): ResumeAnswer {
  const { resume } = snapshot;
  if (resume === null) return { ok: false, reason: "it has no id OpenCode would know" };
  if (live !== null && !live.guess) {
    const where = snapshot.livePane === null ? "in another terminal" : `in pane ${snapshot.livePane}`;
    const fork = officialFork(resume.argv[0] ?? "opencode", snapshot.id);
    return { ok: false, reason: `it is open already ${where} (process ${live.process.pid}): go there, or \`${fork}\`` };
  }
  if (facts.session.generation === "json" && hasDatabase) {
    const reason = "it lies only in the files of an OpenCode before 1.2, where the one in use no longer looks";
    return { ok: false, reason };
  }
  const notes: string[] = [];
  if (live !== null) notes.push(`${live.evidence}: it may be open already`);
  if (facts.session.revert !== null) notes.push("the next prompt deletes what was reverted");
  if (facts.session.archived) notes.push("it is archived");
  return { ok: true, command: resume, notes };
}
