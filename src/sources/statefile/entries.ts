import { isoTime } from "../../files/go-json.ts";
import { blankEntry, type Entry, type EntryKind } from "../../session/entry.ts";
import { nameInCall } from "./activity.ts";
import { isTextType } from "./chain.ts";
import { type Header, isKind } from "./record.ts";

/** What an entry needs besides its header. */
export interface EntryFacts {
  /** 1-based ordinal in the file: the ref. */
  n: number;
  /** As much of the body as was read. */
  body: Buffer;
  /** Bytes of text to show at most. */
  limit: number;
  inContext: boolean;
  forkable: boolean;
}

/** What stands around the words of thinking, or in their place: JSON that says nothing in part. It is read, not kept. */
export const MOST_THINKING_BYTES = 64 * 1024;

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
  // As for the tool, an empty type is a missing one.
  const type = header.type ?? "";
  if (type !== "" && !isTextType(type)) entry.media = { type, bytes: header.len };
  else show(entry, facts.body, header.len, facts.limit);
  if (kind === "thinking") readThinking(entry, header, facts);
  if (kind === "call") readCall(entry, header, facts);
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

/** Shows at most `limit` bytes of a text of `length`, never half a character. */
function show(entry: Entry, bytes: Buffer, length: number, limit: number): void {
  const within = bytes.subarray(0, limit);
  const shown = within.length < length ? wholeCharacters(within) : within;
  entry.text = shown.toString("utf8");
  entry.clipped = length - shown.length;
}

/** Without the beginning of a character whose rest is cut off. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf8 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Thinking is JSON as the provider sent it; what can be read of it is shown, the rest stays as it is. */
function readThinking(entry: Entry, header: Header, { body, limit }: EntryFacts): void {
  entry.model = header.provider ?? null;
  const value = entry.text === null ? null : parsed(body);
  const said = value === null ? null : saidIn(value);
  if (said === null) return;
  const bytes = Buffer.from(said);
  show(entry, bytes, bytes.length, limit);
}

function saidIn(value: Record<string, unknown>): string | null {
  const summary = Array.isArray(value.summary) ? value.summary : [];
  const summed = summary.flatMap((part) =>
    typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? part.text : [],
  );
  if (typeof value.thinking === "string") return value.thinking;
  if (value.type === "redacted_thinking") return "(redacted by the provider)";
  if (summed.length > 0) return summed.join("\n\n");
  return typeof value.encrypted_content === "string" ? "(encrypted by the provider)" : null;
}

function readCall(entry: Entry, header: Header, { body }: EntryFacts): void {
  const value = entry.text === null ? null : parsed(body);
  const name = value === null ? nameInCall(entry.text ?? "") : value.name;
  entry.call = {
    id: header.id,
    name: typeof name === "string" ? name : "?",
    args: value?.arguments ?? null,
  };
  // What could be read is in `call`; a body that was cut off, or is none, stays visible as text.
  if (value === null) return;
  entry.text = null;
  entry.clipped = 0;
}

/** The object a body holds; null when it is cut off, or none. */
function parsed(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
