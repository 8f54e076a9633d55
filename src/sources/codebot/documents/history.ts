import type { Document } from "../../../session/document.ts";
import { cleanLine } from "../../../session/untrusted.ts";
import { type HistoryFile, recall } from "../history.ts";
import { minute } from "./numbers.ts";

/** The prompts of the project as codebot recalls them: newest first, each once (codebot.md §12). */
export function historyDocument(history: HistoryFile, cwd: string, sessionId: string): Document {
  const prompts = recall(history.entries, cwd);
  return {
    title: "history",
    blocks: [
      {
        type: "fields",
        rows: [
          { label: "project", value: cleanLine(cwd) || "–" },
          { label: "prompts", value: `${prompts.length} of ${history.entries.length} in all projects` },
          ...(history.malformed === 0
            ? []
            : [{ label: "unreadable lines", value: String(history.malformed), tone: "warn" as const }]),
        ],
      },
      {
        type: "table",
        columns: [
          { title: "time", from: 50 },
          { title: "prompt", flexible: true },
          { title: "session", from: 80 },
        ],
        rows: prompts.map((prompt) => ({
          cells: [
            minute(timeOf(prompt.timestamp)),
            cleanLine(prompt.display),
            prompt.sessionId === sessionId ? "this one" : cleanLine(prompt.sessionId) || "–",
          ],
          ...(prompt.sessionId === sessionId ? { tone: "strong" as const } : {}),
        })),
        empty: "No prompt of this project is recorded.",
      },
    ],
  };
}

function timeOf(ms: number): string | null {
  return ms > 0 && ms < 8.64e15 ? new Date(ms).toISOString() : null;
}
