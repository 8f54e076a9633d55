import { blankEntry, type Entry, type EntryKind } from "../../session/entry.ts";
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
import type { CodexEvent, RawUsage } from "./file.ts";
import { callArguments } from "./fold.ts";
import { contentText, isPicture, typedText } from "./prompt-text.ts";

/** What a page knows of a line besides its text. */
export interface LineFacts {
  ref: string;
  /** 1-based in its file, 0 while only the end of it was read. */
  n: number;
  first: boolean;
  branch: boolean;
  inContext: boolean;
  forkable: boolean;
  /** The event this line is, null for lines that are none. */
  event: CodexEvent | null;
  /** Is its text the one to show, not the copy of another family? */
  shown: boolean;
  /** Is it the compaction that the view begins with? Then what it kept is shown too. */
  beginsContext: boolean;
  /** Set when the model changed with this line. */
  newModel: boolean;
  model: string | null;
  /** Numbers of a request that ended here. */
  usage: RawUsage | null;
}

/** A line as lines of a transcript (design §5, agents.md §2.2). */
export function entriesOf(record: ParsedRecord, facts: LineFacts, textLimit?: number): Entry[] {
  const { fields } = record;
  const maker = new EntryMaker(record, facts, textLimit);
  const payload = objectField(fields, "payload");
  const type = textField(fields, "type");
  if (type === null && payload === null && facts.first) maker.add("start", null, null);
  else if (type === "session_meta") {
    if (facts.first) maker.add("start", null, textField(payload, "cwd"));
  } else if (type === "turn_context") {
    if (facts.newModel && facts.model !== null) maker.note(`model: ${facts.model}`);
  } else if (type === "event_msg" && payload !== null) eventEntries(maker, payload);
  else if (type === "compacted") compactionEntries(maker, payload);
  else if (type === "token_usage_record") stepEntry(maker);
  else if (type === "thread_rolled_back") rolledBack(maker, payload);
  else itemEntries(maker, type === "response_item" ? payload : payload === null ? fields : null);
  return maker.made;
}

class EntryMaker {
  readonly record: ParsedRecord;
  readonly facts: LineFacts;
  readonly made: Entry[] = [];
  readonly #limit: number | undefined;

  constructor(record: ParsedRecord, facts: LineFacts, limit: number | undefined) {
    this.record = record;
    this.facts = facts;
    this.#limit = limit;
  }

  add(kind: EntryKind, role: string | null, text: string | null): Entry {
    const { facts, record } = this;
    const first = this.made.length === 0;
    const entry = blankEntry({ ref: first ? facts.ref : `${facts.ref}/${this.made.length}`, n: facts.n, kind });
    entry.role = role;
    entry.time = isoTime(timeField(record.fields, "timestamp"));
    if (text !== null) Object.assign(entry, clipText(text, this.#limit, record.cuts));
    entry.branch = facts.branch;
    entry.inContext = facts.inContext && kind !== "start";
    entry.forkable = first && facts.forkable;
    this.made.push(entry);
    return entry;
  }

  note(text: string): Entry {
    const entry = this.add("marker", null, text);
    entry.injected = true;
    entry.inContext = false;
    return entry;
  }

  pictures(content: unknown, role: string): void {
    if (!Array.isArray(content)) return;
    for (const block of content.map(fieldsOf)) {
      if (isPicture(block)) this.picture(textField(block, "image_url") ?? textField(block, "url") ?? "", role);
    }
  }

  /** Type and size of a picture, never its bytes. */
  picture(url: string, role: string): void {
    const found = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/iu.exec(url);
    const entry = this.add("message", role, null);
    const head = found?.[0].length ?? 0;
    const bytes = found === null ? 0 : base64Bytes(url, this.record.cuts) - Math.floor((head * 3) / 4);
    entry.media = { type: found?.[1] ?? "image", bytes: Math.max(0, bytes) };
  }
}

function eventEntries(maker: EntryMaker, payload: Fields): void {
  switch (textField(payload, "type")) {
    case "user_message":
      if (!maker.facts.shown && maker.facts.event !== null) return;
      prompt(maker, textField(payload, "message") ?? "", false);
      for (const url of listField(payload, "images")) if (typeof url === "string") maker.picture(url, "user");
      return;
    case "agent_message":
      if (maker.facts.shown) maker.add("text", "assistant", textField(payload, "message") ?? "");
      return;
    case "item_completed":
      completedEntries(maker, objectField(payload, "item"));
      return;
    case "token_count":
      stepEntry(maker);
      return;
    case "task_complete":
    case "turn_complete": {
      const error = objectField(payload, "error");
      if (error !== null) maker.add("error", null, textField(error, "message") ?? "the turn failed");
      return;
    }
    case "turn_aborted":
      maker.note(`interrupted (${textField(payload, "reason") ?? "no reason given"})`);
      return;
    case "error":
    case "stream_error":
      maker.add("error", null, textField(payload, "message") ?? "error");
      return;
    case "thread_rolled_back":
      rolledBack(maker, payload);
      return;
    default:
  }
}

/** Behind a compaction the model sees the rows it kept, its summary one of them; older versions kept none (agents.md §2.2). */
function compactionEntries(maker: EntryMaker, payload: Fields | null): void {
  const summary = textField(payload, "message");
  const kept = maker.facts.beginsContext ? listField(payload, "replacement_history").map(fieldsOf) : [];
  maker.add("compaction", null, kept.some((item) => holds(item, summary)) ? null : summary);
  for (const item of kept) itemEntries(maker, item);
}

/** Texts may be cut: their first words tell. */
function holds(item: Fields | null, summary: string | null): boolean {
  return summary !== null && summary !== "" && contentText(field(item, "content")).includes(summary.slice(0, 1000));
}

function rolledBack(maker: EntryMaker, payload: Fields | null): void {
  maker.note(`rolled back ${numberField(payload, "num_turns") ?? 0} prompts`);
}

function prompt(maker: EntryMaker, raw: string, fromModelRows: boolean): void {
  const typed = typedText(raw, fromModelRows);
  maker.add("message", "user", typed ?? raw).injected = typed === null;
}

function completedEntries(maker: EntryMaker, item: Fields | null): void {
  // A repeated line has no event of its own: it was shown where it was first.
  if (maker.facts.event === null) return;
  const content = field(item, "content");
  if (textField(item, "type") === "UserMessage") {
    prompt(maker, contentText(content), false);
    maker.pictures(content, "user");
  } else if (textField(item, "type") === "AgentMessage") maker.add("text", "assistant", contentText(content));
}

function stepEntry(maker: EntryMaker): void {
  const { usage, model } = maker.facts;
  if (usage === null) return;
  const entry = maker.add("step", null, null);
  entry.model = model;
  entry.inContext = false;
  entry.usage = {
    input: Math.max(0, usage.input - usage.cached - usage.cacheWrite),
    output: usage.output,
    cacheRead: usage.cached,
    cacheWrite: usage.cacheWrite,
    cacheWrite1h: 0,
    reasoning: usage.reasoning,
    cost: null,
  };
}

function itemEntries(maker: EntryMaker, item: Fields | null): void {
  switch (textField(item, "type")) {
    case "message":
      messageEntries(maker, item);
      return;
    case "reasoning":
      maker.add("thinking", "assistant", reasoningText(item)).model = maker.facts.model;
      return;
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "web_search_call":
    case "tool_search_call":
    case "image_generation_call":
      if (item !== null && maker.facts.event !== null) callEntry(maker, item);
      return;
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "tool_search_output":
      resultEntry(maker, item);
      return;
    default:
  }
}

/** Rows for the model: what was typed or answered is shown once; what the program put in is shown as such. */
function messageEntries(maker: EntryMaker, item: Fields | null): void {
  const content = field(item, "content");
  const text = contentText(content);
  const role = textField(item, "role");
  if (role === "assistant") {
    if (maker.facts.shown) maker.add("text", "assistant", text);
    return;
  }
  const typed = role === "user" ? typedText(text, true) : null;
  if (typed !== null && !maker.facts.shown) return;
  maker.add(role === "user" ? "message" : "system", role, typed ?? text).injected = typed === null;
  if (typed !== null) maker.pictures(content, "user");
}

function reasoningText(item: Fields | null): string {
  const parts = [...listField(item, "summary"), ...listField(item, "content")]
    .map((part) => textField(fieldsOf(part), "text"))
    .filter((text) => text !== null);
  if (parts.length > 0) return parts.join("\n\n");
  return textField(item, "encrypted_content") === null ? "" : "(encrypted by the provider)";
}

function callEntry(maker: EntryMaker, item: Fields): void {
  const entry = maker.add("call", "assistant", null);
  const { event } = maker.facts;
  entry.model = maker.facts.model;
  entry.call = {
    id: textField(item, "call_id") ?? textField(item, "id") ?? "",
    name: event?.k === "call" ? event.name : (textField(item, "name") ?? "?"),
    args: shownArguments(callArguments(item)),
  };
}

function resultEntry(maker: EntryMaker, item: Fields | null): void {
  const output = field(item, "output");
  const of = fieldsOf(output);
  const raw = typeof output === "string" ? output : (textField(of, "content") ?? contentText(output));
  const wrapped = wrappedOutput(raw);
  const text = wrapped?.text ?? raw;
  const said = /^(?:Exit code:|Process exited with code) (-?\d{1,9})\b/mu.exec(raw.slice(0, 2000))?.[1];
  const exit = wrapped?.exit ?? (said === undefined ? null : Number(said));
  const entry = maker.add("result", "tool", text);
  entry.result = {
    for: textField(item, "call_id") ?? "",
    exit,
    isError: (exit !== null && exit !== 0) || field(of, "success") === false,
    truncated: /tokens truncated|output truncated/iu.test(raw.slice(0, 4000)),
    fullOutput: null,
  };
}

/** Older versions wrap a command's output as JSON with its exit code. */
function wrappedOutput(raw: string): { text: string; exit: number | null } | null {
  if (!raw.startsWith("{")) return null;
  try {
    const of = fieldsOf(JSON.parse(raw));
    const text = textField(of, "output");
    return text === null ? null : { text, exit: numberField(objectField(of, "metadata"), "exit_code") };
  } catch {
    return null;
  }
}
