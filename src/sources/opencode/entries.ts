import { blankEntry, type Entry, type EntryKind, type EntryUsage } from "../../session/entry.ts";
import { shownArguments } from "../../session/json-text.ts";
import { field, isoTime, objectField, textField } from "../jsonl/record.ts";
import { isTyped } from "./part-fields.ts";
import type { MessageRow, Part } from "./rows.ts";
import { hasTokens, isAbort } from "./session-facts.ts";

export interface EntryFacts {
  n: number;
  branch: boolean;
  inContext: boolean;
  forkable: boolean;
}

/** A message and its parts as lines of a transcript (design §5). `most`: bytes of text in one entry. */
export function entriesOf(message: MessageRow, parts: readonly Part[], facts: EntryFacts, most?: number): Entry[] {
  const maker = new Maker(message, facts, most);
  for (const part of parts) partEntries(maker, message, part);
  if (message.error !== null) {
    const { name, message: said } = message.error;
    const abort = isAbort(name);
    maker.add(abort ? "marker" : "error", abort ? null : "assistant", abort ? "aborted" : (said ?? name));
  }
  if (maker.made.length === 0) maker.add(emptyKind(message), message.role === "user" ? "user" : "assistant", "");
  const first = maker.made[0];
  if (first !== undefined) {
    first.usage = usageOf(message);
    if (message.role === "assistant" && message.completedAt !== null) {
      first.durationMs = Math.max(0, message.completedAt - message.createdAt);
    }
  }
  return maker.made;
}

class Maker {
  readonly #message: MessageRow;
  readonly #facts: EntryFacts;
  readonly #most: number | undefined;
  readonly made: Entry[] = [];

  constructor(message: MessageRow, facts: EntryFacts, most: number | undefined) {
    this.#message = message;
    this.#facts = facts;
    this.#most = most;
  }

  add(kind: EntryKind, role: string | null, text: string | null, clipped = 0): Entry {
    const { id, createdAt, model } = this.#message;
    const { n, branch, inContext, forkable } = this.#facts;
    const first = this.made.length === 0;
    const entry = blankEntry({ ref: first ? id : `${id}/${this.made.length}`, n, kind });
    entry.role = role;
    entry.time = isoTime(createdAt);
    Object.assign(entry, text === null ? {} : clip(text, this.#most));
    entry.clipped += clipped;
    entry.model = role === "assistant" ? model : null;
    entry.branch = branch;
    entry.inContext = inContext;
    entry.forkable = first && forkable;
    this.made.push(entry);
    return entry;
  }
}

/** At most `most` bytes, cut between characters. */
function clip(text: string, most: number | undefined): { text: string; clipped: number } {
  const bytes = Buffer.byteLength(text);
  if (most === undefined || bytes <= most) return { text, clipped: 0 };
  const buffer = Buffer.from(text);
  let end = most;
  while (end > 0 && ((buffer[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: buffer.toString("utf8", 0, end), clipped: bytes - end };
}

function emptyKind({ role }: MessageRow): EntryKind {
  if (role === "assistant") return "text";
  return role === "user" ? "message" : "marker";
}

function partEntries(maker: Maker, message: MessageRow, part: Part): void {
  const { fields, clipped } = part;
  const user = message.role === "user";
  switch (part.type) {
    case "text": {
      const text = textField(fields, "text") ?? "";
      if (message.role === "assistant") maker.add(message.summary ? "compaction" : "text", "assistant", text, clipped);
      else {
        const kind = user || message.role === "synthetic" ? "message" : message.role === "system" ? "system" : "marker";
        const entry = maker.add(kind, kind === "marker" ? null : kind === "system" ? "system" : "user", text, clipped);
        entry.injected = !user || !isTyped(part);
        if (kind === "marker") entry.via = message.role;
      }
      return;
    }
    case "reasoning":
      maker.add("thinking", "assistant", textField(fields, "text") ?? "", clipped);
      return;
    case "tool":
      toolEntries(maker, part);
      return;
    case "file": {
      const entry = maker.add("message", user ? "user" : "assistant", null);
      entry.media = { type: textField(fields, "mime") ?? "file", bytes: dataBytes(textField(fields, "url"), clipped) };
      entry.via = textField(fields, "filename");
      return;
    }
    case "subtask":
      maker.add("message", "user", textField(fields, "prompt") ?? "").via = textField(fields, "agent");
      return;
    case "agent":
      maker.add("marker", null, `agent: ${textField(fields, "name") ?? "?"}`).injected = true;
      return;
    case "compaction": {
      const text = textField(fields, "text");
      maker.add("compaction", null, text ?? "compaction asked for").injected = true;
      return;
    }
    case "patch":
      maker.add("marker", null, "files changed").injected = true;
      return;
    default:
    // step-start and step-finish repeat the message's own numbers; others are not for reading.
  }
}

function toolEntries(maker: Maker, part: Part): void {
  const state = objectField(part.fields, "state");
  const id = textField(part.fields, "callID") ?? part.id;
  const call = maker.add("call", "assistant", null);
  call.call = { id, name: textField(part.fields, "tool") ?? "?", args: shownArguments(field(state, "input")) };
  const child = textField(objectField(state, "metadata"), "sessionId");
  if (child !== null) call.via = `agent:${child}`;
  const status = textField(state, "status");
  if (status !== "completed" && status !== "error") return;
  const text = textField(state, status === "error" ? "error" : "output") ?? "";
  const result = maker.add("result", "tool", text, part.clipped);
  const exit = field(objectField(state, "metadata"), "exit");
  result.model = null;
  result.result = {
    for: id,
    exit: typeof exit === "number" ? exit : null,
    isError: status === "error",
    truncated: field(objectField(state, "metadata"), "truncated") === true,
    fullOutput: textField(objectField(state, "metadata"), "outputPath"),
  };
}

function dataBytes(url: string | null, clipped: number): number {
  if (url === null || !url.startsWith("data:")) return clipped;
  return Math.floor(((url.length - url.indexOf(",") - 1 + clipped) * 3) / 4);
}

function usageOf({ role, tokens, cost }: MessageRow): EntryUsage | null {
  if (role !== "assistant" || !hasTokens(tokens)) return null;
  const { input, output, reasoning, cacheRead, cacheWrite } = tokens;
  return { input, output: output + reasoning, cacheRead, cacheWrite, cacheWrite1h: 0, reasoning, cost };
}
