import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Live } from "../by-process/seats.ts";
import type { ResumeAnswer } from "../source.ts";

/** `pi --session <path>`, which finds the file wherever it lies (agents.md §8). */
export function piResume(snapshot: Snapshot, live: Live | null): ResumeAnswer {
  if (snapshot.resume === null) return { ok: false, reason: "its file has no header" };
  if (live !== null && !live.guess) {
    const where = snapshot.livePane === null ? "in another terminal" : `in pane ${snapshot.livePane}`;
    const fork = `pi --fork ${cleanLine(snapshot.path)}`;
    return { ok: false, reason: `it is open already ${where} (process ${live.process.pid}): go there, or \`${fork}\`` };
  }
  const notes: string[] = [];
  if (live !== null) notes.push(`${live.evidence}: it may be open already`);
  const { version } = snapshot.extra;
  if (typeof version === "number" && version < 3) {
    notes.push(`pi rewrites this file to its present format when it opens it (version ${version} now)`);
  }
  if (snapshot.damage.some((one) => one.kind === "torn-tail")) notes.push("pi repairs its unfinished last line");
  return { ok: true, command: snapshot.resume, notes };
}
