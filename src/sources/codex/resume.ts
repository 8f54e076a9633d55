import { existsSync } from "node:fs";
import type { ResumeAnswer } from "../source.ts";
import type { HeldThread } from "./reader.ts";
import { metaOf } from "./rollouts.ts";

/** `codex resume <id>`, in the thread's directory (agents.md §8). */
export function codexResume(held: HeldThread): ResumeAnswer {
  const { snapshot, described, holder } = held;
  if (described.kind !== "user") return { ok: false, reason: "it belongs to another thread: resume that one" };
  const meta = metaOf(held.current);
  if (meta?.headless === true) {
    return { ok: false, reason: "its first line, the header, is damaged: codex cannot tell which thread it is" };
  }
  if (snapshot.resume === null) return { ok: false, reason: "it cannot be resumed" };
  if (meta?.generation === 1) {
    return { ok: false, reason: "its file is of the first generation (2025-05), which codex no longer resumes" };
  }
  if (holder.held === "yes") {
    const where = snapshot.livePane === null ? "" : ` in pane ${snapshot.livePane}`;
    return { ok: false, reason: `it is open already${where} (${holder.why}): go there, or \`${officialFork(held)}\`` };
  }
  const notes: string[] = [];
  if (snapshot.cwd !== null && !existsSync(snapshot.cwd)) {
    notes.push(`its directory ${snapshot.cwd} is not there: make it again, or move it back`);
  }
  if (held.current.archived) notes.push("it is archived: codex may have to unarchive it first");
  if (holder.held === "unknown") notes.push("locks cannot be looked at: it may be open already");
  return { ok: true, command: snapshot.resume, notes };
}

/** The program's own fork, which is safe at any time. */
export function officialFork(held: HeldThread): string {
  return `codex fork ${held.described.thread}`;
}
