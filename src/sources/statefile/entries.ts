import { isoTime } from "../../files/go-json.ts";
import { blankEntry, type Entry, type EntryKind } from "../../session/entry.ts";
import { isTextType } from "./chain.ts";
import { type Header, isKind } from "./record.ts";

/** What an entry needs besides its header. */
export interface EntryFacts {
  /** 1-based ordinal in the file: the ref. */
  n: number;
  /** As much of the body as was read. */
  body: Buffer;
  inContext: boolean;
  forkable: boolean;
}

const ROLES: Partial<Record<EntryKind, string>> = {
  system: "system",
  message: "user",
  text: "assistant",
  thinking: "assistant",
  call: "assistant",
  result: "tool",
};

/** One record as a line of a transcript (design §5). */
export function entryOf(header: Header, facts: EntryFacts): Entry {
  const kind: EntryKind = isKind(header.kind) ? header.kind : "marker";
  const entry = blankEntry({ ref: String(facts.n), n: facts.n, kind });
  entry.role = ROLES[kind] ?? null;
  entry.time = isoTime(header.time);
  entry.via = header.via ?? (kind === "marker" ? header.kind : null);
  entry.inContext = facts.inContext;
  entry.forkable = facts.forkable;
  entry.injected = kind === "system";
  if (kind === "step") {
    entry.model = header.model ?? null;
    if (header.usage) {
      const { input, output, cacheRead, cacheWrite } = header.usage;
      entry.usage = { input, output, cacheRead, cacheWrite, cacheWrite1h: 0, reasoning: 0, cost: null };
    }
    return entry;
  }
  if (kind === "start") return entry;
  if (!isTextType(header.type) && header.type !== undefined) {
    entry.media = { type: header.type, bytes: header.len };
  } else {
    entry.text = facts.body.toString("utf8");
    entry.clipped = header.len - facts.body.length;
  }
  if (kind === "thinking") readThinking(entry, header);
  if (kind === "call") readCall(entry, header);
  if (kind === "system") entry.via = header.source ?? null;
  if (kind === "result") {
    const exit = header.exit ?? null;
    entry.result = {
      for: header.for ?? "",
      exit,
      isError: (exit !== null && exit !== 0) || (entry.text?.startsWith("error: ") ?? false),
      truncated: header.truncated ?? false,
      fullOutput: header.fullOutput ?? null,
    };
  }
  return entry;
}

/** Thinking is JSON as the provider sent it; what can be read of it is shown, the rest stays as it is. */
function readThinking(entry: Entry, header: Header): void {
  entry.model = header.provider ?? null;
  const value = parsed(entry.text);
  if (value === null) return;
  const summary = Array.isArray(value.summary) ? value.summary : [];
  const summed = summary.flatMap((part) =>
    typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? part.text : [],
  );
  if (typeof value.thinking === "string") entry.text = value.thinking;
  else if (value.type === "redacted_thinking") entry.text = "(redacted by the provider)";
  else if (summed.length > 0) entry.text = summed.join("\n\n");
  else if (typeof value.encrypted_content === "string") entry.text = "(encrypted by the provider)";
}

function readCall(entry: Entry, header: Header): void {
  const value = parsed(entry.text);
  entry.call = {
    id: header.id,
    name: value !== null && typeof value.name === "string" ? value.name : "?",
    args: value?.arguments ?? null,
  };
  // What could be read is in `call`; a body that could not stays visible as text.
  if (value !== null) entry.text = null;
}

function parsed(text: string | null): Record<string, unknown> | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
