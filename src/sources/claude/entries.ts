import { blankEntry, type Entry, type EntryKind, type EntryUsage } from "../../session/entry.ts";
import { shownArguments } from "../../session/json-text.ts";
import { base64Bytes, clipText } from "../jsonl/clip.ts";
import {
  type Fields,
  field,
  fieldsOf,
  isoTime,
  listField,
  numberField,
  objectField,
  type ParsedRecord,
  textField,
  timeField,
} from "../jsonl/record.ts";
import { isRowId } from "./ids.ts";
import { readUserRow } from "./user-row.ts";

/** What a page knows of a line besides its text. */
export interface LineFacts {
  /** 1-based, 0 while only the end of the file was read. */
  n: number;
  offset: number;
  branch: boolean;
  inContext: boolean;
  forkable: boolean;
  /** The sub-agent whose sidechain it is. */
  side: string | null;
  /** Numbers of the request, on the one row that stands for it. */
  usage: EntryUsage | null;
  /** Is this typed-ahead prompt still waiting? */
  queued: boolean;
}

/** A line as lines of a transcript: one per content block (design §5). */
export function entriesOf(record: ParsedRecord, facts: LineFacts, textLimit?: number): Entry[] {
  const { fields } = record;
  const maker = new EntryMaker(record, facts, textLimit);
  switch (textField(fields, "type")) {
    case "user":
      return userEntries(maker, fields);
    case "assistant":
      return assistantEntries(maker, fields);
    case "system":
      return systemEntries(maker, fields);
    default:
      return noteEntries(maker, fields);
  }
}

class EntryMaker {
  readonly #record: ParsedRecord;
  readonly #facts: LineFacts;
  readonly #limit: number | undefined;
  readonly made: Entry[] = [];

  constructor(record: ParsedRecord, facts: LineFacts, limit: number | undefined) {
    this.#record = record;
    this.#facts = facts;
    this.#limit = limit;
  }

  get facts(): LineFacts {
    return this.#facts;
  }

  add(kind: EntryKind, role: string | null, text: string | null): Entry {
    const { fields, cuts } = this.#record;
    const uuid = textField(fields, "uuid");
    const base = uuid !== null && isRowId(uuid) ? uuid : `@${this.#facts.offset}`;
    const first = this.made.length === 0;
    const entry = blankEntry({ ref: first ? base : `${base}/${this.made.length}`, n: this.#facts.n, kind });
    entry.role = role;
    entry.time = isoTime(timeField(fields, "timestamp"));
    if (text !== null) Object.assign(entry, clipText(text, this.#limit, cuts));
    entry.branch = this.#facts.branch;
    entry.inContext = this.#facts.inContext;
    entry.forkable = first && this.#facts.forkable;
    entry.via = this.#facts.side === null ? null : `agent:${this.#facts.side}`;
    this.made.push(entry);
    return entry;
  }

  /** A picture or a document: type and size, never the bytes. */
  media(block: Fields, role: string): void {
    const source = objectField(block, "source");
    const data = textField(source, "data") ?? "";
    const entry = this.add("message", role, null);
    const plain = textField(source, "type") === "text";
    const bytes = plain ? Buffer.byteLength(data) : base64Bytes(data, this.#record.cuts);
    entry.media = { type: textField(source, "media_type") ?? textField(block, "type") ?? "unknown", bytes };
  }
}

function userEntries(maker: EntryMaker, fields: Fields): Entry[] {
  const row = readUserRow(fields);
  const content = field(objectField(fields, "message"), "content");
  if (row.kind === "result") return resultEntries(maker, fields);
  const injected = row.kind !== "prompt" && row.kind !== "command";
  if (row.kind === "interrupt") maker.add("marker", null, row.text).injected = true;
  else {
    const pictures = Array.isArray(content) ? content.map(fieldsOf).filter(isPicture) : [];
    const said = /^\[(?:image|\d+ images)\]$/u.test(row.text) && pictures.length > 0 ? null : row.text;
    if (said !== null) maker.add("message", "user", said).injected = injected;
    for (const block of pictures) if (block !== null) maker.media(block, "user");
  }
  return maker.made;
}

function isPicture(block: Fields | null): boolean {
  const type = textField(block, "type");
  return type === "image" || type === "document";
}

function resultEntries(maker: EntryMaker, fields: Fields): Entry[] {
  const rich = objectField(fields, "toolUseResult");
  const agent = textField(rich, "agentId");
  for (const block of listField(objectField(fields, "message"), "content").map(fieldsOf)) {
    if (block === null) continue;
    if (textField(block, "type") !== "tool_result") {
      const text = textField(block, "text");
      if (text !== null) maker.add("message", "user", text).injected = true;
      continue;
    }
    const { text, pictures } = resultText(field(block, "content"));
    const entry = maker.add("result", "tool", text);
    const isError = field(block, "is_error") === true;
    const saved = textField(rich, "persistedOutputPath") ?? /Full output saved to: (\S+)/u.exec(text)?.[1] ?? null;
    const exit = /^(?:Error: )?Exit code (-?\d{1,9})\b/u.exec(text)?.[1];
    entry.result = {
      for: textField(block, "tool_use_id") ?? "",
      exit: numberField(rich, "exitCode") ?? (exit === undefined ? null : Number(exit)),
      isError,
      truncated: saved !== null,
      fullOutput: saved,
    };
    if (agent !== null) entry.via = `agent:${agent}`;
    for (const picture of pictures) maker.media(picture, "tool");
  }
  return maker.made;
}

function resultText(content: unknown): { text: string; pictures: Fields[] } {
  if (typeof content === "string") return { text: content, pictures: [] };
  const blocks = Array.isArray(content) ? content.map(fieldsOf).filter((block) => block !== null) : [];
  return {
    text: blocks
      .map((block) => textField(block, "text"))
      .filter((text) => text !== null)
      .join("\n"),
    pictures: blocks.filter(isPicture),
  };
}

function assistantEntries(maker: EntryMaker, fields: Fields): Entry[] {
  const message = objectField(fields, "message");
  const model = textField(message, "model");
  const content = field(message, "content");
  const failed = field(fields, "isApiErrorMessage") === true;
  const synthetic = failed || model === "<synthetic>";
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listField(message, "content");
  for (const block of blocks.map(fieldsOf)) {
    if (block === null) continue;
    const entry = blockEntry(maker, block, failed);
    if (entry === null) continue;
    entry.model = synthetic ? null : model;
    entry.injected = synthetic;
  }
  const first = maker.made[0];
  if (first !== undefined) first.usage = maker.facts.usage;
  return maker.made;
}

function blockEntry(maker: EntryMaker, block: Fields, failed: boolean): Entry | null {
  switch (textField(block, "type")) {
    case "text":
      return maker.add(failed ? "error" : "text", "assistant", textField(block, "text") ?? "");
    case "thinking":
      return maker.add("thinking", "assistant", textField(block, "thinking") ?? "");
    case "redacted_thinking":
      return maker.add("thinking", "assistant", "(redacted by the provider)");
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use": {
      const entry = maker.add("call", "assistant", null);
      entry.call = {
        id: textField(block, "id") ?? "",
        name: textField(block, "name") ?? "?",
        args: shownArguments(field(block, "input")),
      };
      return entry;
    }
    case "web_search_tool_result":
    case "mcp_tool_result": {
      const { text } = resultText(field(block, "content"));
      const entry = maker.add("result", "tool", text);
      const isError = field(block, "is_error") === true;
      entry.result = {
        for: textField(block, "tool_use_id") ?? "",
        exit: null,
        isError,
        truncated: false,
        fullOutput: null,
      };
      return entry;
    }
    default:
      return null;
  }
}

function systemEntries(maker: EntryMaker, fields: Fields): Entry[] {
  const content = textField(fields, "content");
  switch (textField(fields, "subtype")) {
    case "compact_boundary": {
      const about = objectField(fields, "compactMetadata");
      const [before, after] = [numberField(about, "preTokens"), numberField(about, "postTokens")];
      const sizes = before === null ? "" : `, ${before} → ${after ?? "?"} tokens`;
      maker.add("compaction", null, `compacted (${textField(about, "trigger") ?? "unknown trigger"}${sizes})`);
      break;
    }
    case "turn_duration": {
      const ms = numberField(fields, "durationMs");
      maker.add("marker", null, ms === null ? "turn over" : `turn over after ${Math.round(ms / 1000)} s`);
      break;
    }
    case "api_error":
      maker.add("error", null, content ?? "API error");
      break;
    case "local_command":
      maker.add("marker", null, commandLine(content ?? ""));
      break;
    default:
      if (content !== null) maker.add("marker", null, content);
  }
  for (const entry of maker.made) entry.injected = true;
  return maker.made;
}

function commandLine(content: string): string {
  return readUserRow({ message: { content } }).text;
}

/** Lines beside the chain: only what a reader of the conversation would miss. */
function noteEntries(maker: EntryMaker, fields: Fields): Entry[] {
  const note = noteText(fields, maker.facts.queued);
  if (note !== null) {
    const entry = maker.add("marker", null, note);
    entry.injected = true;
    entry.inContext = false;
    entry.forkable = false;
  }
  return maker.made;
}

function noteText(fields: Fields, queued: boolean): string | null {
  const named = (key: string, what: string): string | null => {
    const text = textField(fields, key);
    return text === null ? null : `${what}: ${text}`;
  };
  switch (textField(fields, "type")) {
    case "custom-title":
      return named("customTitle", "renamed");
    case "ai-title":
      return named("aiTitle", "titled");
    case "tag":
      return named("tag", "tagged");
    case "pr-link":
      return named("prUrl", "pull request");
    case "model_changed":
      return named("model", "model");
    case "queue-operation":
      return queued ? named("content", "queued") : null;
    default:
      return null;
  }
}
