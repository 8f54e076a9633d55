import { callSummary } from "../session/call-summary.ts";
import type { Entry, EntryUsage } from "../session/entry.ts";
import { cleanLine, cleanText } from "../session/untrusted.ts";

/** How an entry is shown in a document: as running text, or folded away under a line that says what it is. */
export interface EntryPart {
  /** `words` are somebody's Markdown, `code` is verbatim, `note` one faint line; what is folded is opened when wanted. */
  shape: "words" | "folded-words" | "code" | "folded-code" | "note";
  /** For styles: prompt, reply, thinking, call, result, error … */
  role: string;
  /** One cleaned line. */
  title: string;
  /** Cleaned; empty when there is none. */
  text: string;
  /** For code: what language it is in. */
  language: string;
}

/** What is shown of an entry; null for what would only be noise between the words. */
export function entryPart(entry: Entry): EntryPart | null {
  const text = cleanText(entry.text ?? "");
  const part = (shape: EntryPart["shape"], role: string, title: string, over: Partial<EntryPart> = {}): EntryPart => ({
    shape,
    role,
    title: titled(title, entry),
    text,
    language: "",
    ...over,
  });
  switch (entry.kind) {
    case "message":
      return entry.injected
        ? part("folded-words", "injected", "Message by the tool")
        : part("words", "prompt", entry.role === null || entry.role === "user" ? "Prompt" : `Message (${entry.role})`);
    case "text":
      return part("words", "reply", "Reply");
    case "thinking":
      return part("folded-words", "thinking", "Thinking");
    case "call": {
      const { name = "?", args = null } = entry.call ?? {};
      const verbatim = typeof args === "string";
      const said = verbatim ? cleanText(args) : cleanText(JSON.stringify(args, null, 2) ?? "");
      return part("code", "call", `Call: ${callSummary(name, args)}`, { text: said, language: verbatim ? "" : "json" });
    }
    case "result":
      return part("code", entry.result?.isError ? "error" : "result", resultTitle(entry));
    case "error":
      return part("code", "error", "Error");
    case "step":
      return entry.usage === null ? null : part("note", "step", `Step: ${usageWords(entry.usage)}`, { text: "" });
    case "system":
    case "config":
      return part("folded-code", entry.kind, entry.kind === "system" ? "System prompt" : "Configuration");
    case "compaction":
      return part("folded-words", "compaction", "Context compacted");
    case "start":
      return null;
    case "marker":
      return part("note", "marker", cleanLine(text) || "Marker", { text: "" });
  }
}

function resultTitle({ result }: Entry): string {
  const exit = result?.exit ?? 0;
  const how = exit !== 0 ? ` (exit ${exit})` : result?.isError ? " (error)" : "";
  return `Result${how}${result?.truncated ? ", cut by the tool" : ""}`;
}

function titled(title: string, entry: Entry): string {
  const media = entry.media === null ? "" : ` [${entry.media.type}, ${entry.media.bytes} bytes, not included]`;
  return cleanLine(`${cut(title)}${media}${entry.branch ? "" : " (on another branch)"}`);
}

function cut(title: string): string {
  const points = Array.from(title.slice(0, 400));
  return points.length <= 160 ? title.slice(0, 400) : `${points.slice(0, 159).join("")}…`;
}

function usageWords(usage: EntryUsage): string {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const words = [`${prompt} tokens in`, `${usage.output} out`];
  if (usage.cost !== null) words.push(`$${usage.cost.toFixed(4)}`);
  return words.join(", ");
}
