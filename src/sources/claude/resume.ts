import { existsSync } from "node:fs";
import type { ResumeAnswer } from "../source.ts";
import type { Live } from "./liveness.ts";
import type { HeldSession } from "./reader.ts";

/** `claude --resume <id>` in the session's first directory: only that project's folder is searched (agents.md §8). */
export function claudeResume(held: HeldSession, live: Live | null): ResumeAnswer {
  const { snapshot, id } = held;
  const cwd = snapshot.cwd;
  if (snapshot.resume === null || cwd === null) {
    return { ok: false, reason: "no record says which directory it belongs to, and only there it can be resumed" };
  }
  if (live !== null && !live.guess) {
    const { pid } = live.process;
    if (live.registered?.kind === "bg") {
      return {
        ok: false,
        reason: `it runs in the background (process ${pid}): see \`claude agents\`, or \`${officialFork(id)}\``,
      };
    }
    const where = snapshot.livePane === null ? "in another terminal" : `in pane ${snapshot.livePane}`;
    return { ok: false, reason: `it is open already ${where} (process ${pid}): go there, or \`${officialFork(id)}\`` };
  }
  const notes: string[] = [];
  if (!existsSync(cwd)) notes.push(`its directory ${cwd} is not there: make it again, or move it back`);
  const { lastCwd } = snapshot.extra;
  if (typeof lastCwd === "string") notes.push(`it had gone on to ${lastCwd}; Claude Code finds it only in ${cwd}`);
  if (live !== null) notes.push(`${live.evidence}: it may be open already`);
  return { ok: true, command: snapshot.resume, notes };
}

/** The program's own fork, which is safe at any time. */
export function officialFork(id: string): string {
  return `claude --resume ${id} --fork-session`;
}
