import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Live } from "../by-process/seats.ts";
import type { ResumeAnswer } from "../source.ts";
import { backUpChat } from "./backup.ts";

/** `gemini --resume <id>` in the project's directory, after a back-up (agents.md §8). */
export function geminiResume(
  snapshot: Snapshot,
  live: Live | null,
  env: NodeJS.ProcessEnv,
  now: () => number,
): ResumeAnswer {
  if (snapshot.hidden) return { ok: false, reason: "it is a sub-agent's chat: resume the session that started it" };
  if (snapshot.resume === null) {
    return {
      ok: false,
      reason: "nothing says which directory its folder stands for, and only there it can be resumed",
    };
  }
  if (live !== null && !live.guess) {
    const where = snapshot.livePane === null ? "in another terminal" : `in pane ${snapshot.livePane}`;
    return { ok: false, reason: `it is open already ${where} (process ${live.process.pid}): go there` };
  }
  const notes = ["Gemini's clean-up can delete a resumed chat: it is backed up first"];
  if (live !== null) notes.push(`${live.evidence}: it may be open already`);
  return {
    ok: true,
    command: snapshot.resume,
    notes,
    prepare: async () => {
      const { directory, files } = await backUpChat(snapshot, env, now());
      return [`${files === 1 ? "the chat was" : `${files} chat files were`} backed up to ${cleanLine(directory)}`];
    },
  };
}
