import { NEW_TAIL, type Tail } from "../by-process/tail.ts";
import { type GeminiFile, messagesOf } from "./file.ts";

/** How the conversation ends (agents.md §5.2). Notes, commands and context that the program writes do not count. */
export function tailOf(file: GeminiFile): Tail {
  const last = messagesOf(file, file.active).findLast(
    (one) => one.prompt || one.answer || one.type === "gemini" || one.type === "error",
  );
  if (last === undefined) return NEW_TAIL;
  const end = (state: Tail["state"], evidence: string, text: string | null = null): Tail => {
    return { state, evidence, text, time: last.time || null, calls: [] };
  };
  if (last.type === "error") return end("error", "the last record is an error", last.text);
  if (last.prompt) return end("open", "the last prompt has no reply");
  if (last.answer) return end("open", "the last record is a result no model has answered");
  const call = last.calls.at(-1);
  if (call !== undefined && (call.status === "cancelled" || call.status === "error")) {
    return end("interrupted", `the last call was ${call.status === "error" ? "an error" : "cancelled"}`, call.summary);
  }
  return end("over", "the last reply has nothing open");
}
