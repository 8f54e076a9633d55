import { blankEntry, type Entry, type EntryKind, type EntryUsage } from "../../session/entry.ts";
import { shownArguments } from "../../session/json-text.ts";
import { base64Bytes, clipText } from "../jsonl/clip.ts";
import {
  type Fields,
  field,
  isoTime,
  numberField,
  objectField,
  type ParsedRecord,
  textField,
  timeField,
} from "../jsonl/record.ts";
import { blocksOf, contentText, picturesOf, systemText } from "./message-fold.ts";

/** What a page knows of an entry besides its line. */
export interface EntryFacts {
  ref: string;
  n: number;
  branch: boolean;
  inContext: boolean;
  forkable: boolean;
  usage: EntryUsage | null;
  model: string | null;
  label: string | null;
}

/** An entry of the file as lines of a transcript: one per block (design §5). */
export function entriesOf(record: ParsedRecord, facts: EntryFacts, textLimit?: number): Entry[] {
  const { fields } = record;
  const maker = new Maker(record, facts, textLimit);
  const type = textField(fields, "type");
  if (type === "message") messageEntries(maker, objectField(fields, "message"));
  else otherEntry(maker, type, fields);
  const first = maker.made[0];
  if (first !== undefined) {
    first.usage = facts.usage;
    if (facts.label !== null) first.via = `label: ${facts.label}`;
  }
  return maker.made;
}

class Maker {
  readonly record: ParsedRecord;
  readonly #facts: EntryFacts;
  readonly #limit: number | undefined;
  readonly made: Entry[] = [];

  constructor(record: ParsedRecord, facts: EntryFacts, limit: number | undefined) {
    this.record = record;
    this.#facts = facts;
    this.#limit = limit;
  }

  get facts(): EntryFacts {
    return this.#facts;
  }

  add(kind: EntryKind, role: string | null, text: string | null): Entry {
    const { ref, n, branch, inContext, forkable } = this.#facts;
    const first = this.made.length === 0;
    const entry = blankEntry({ ref: first ? ref : `${ref}/${this.made.length}`, n, kind });
    entry.role = role;
    entry.time = isoTime(timeField(this.record.fields, "timestamp"));
    if (text !== null) Object.assign(entry, clipText(text, this.#limit, this.record.cuts));
    entry.branch = branch;
    entry.inContext = inContext;
    entry.forkable = first && forkable;
    this.made.push(entry);
    return entry;
  }

  pictures(message: Fields | null, role: string): void {
    for (const block of picturesOf(message)) {
      const entry = this.add("message", role, null);
      const bytes = base64Bytes(textField(block, "data") ?? "", this.record.cuts);
      entry.media = { type: textField(block, "mimeType") ?? "image", bytes };
    }
  }
}

function messageEntries(maker: Maker, message: Fields | null): void {
  switch (textField(message, "role")) {
    case "system":
      maker.add("system", "system", systemText(message)).injected = true;
      return;
    case "user": {
      const text = contentText(field(message, "content"));
      if (text !== "" || picturesOf(message).length === 0) maker.add("message", "user", text);
      maker.pictures(message, "user");
      return;
    }
    case "assistant":
      replyEntries(maker, message);
      return;
    case "toolResult": {
      const entry = maker.add("result", "tool", contentText(field(message, "content")));
      entry.result = {
        for: textField(message, "toolCallId") ?? "",
        exit: numberField(objectField(message, "details"), "exitCode"),
        isError: field(message, "isError") === true,
        truncated: false,
        fullOutput: null,
      };
      maker.pictures(message, "tool");
      return;
    }
    case "bashExecution":
      bashEntries(maker, message);
      return;
    case "branchSummary":
    case "compactionSummary":
      maker.add("compaction", null, textField(message, "summary") ?? "").injected = true;
      return;
    default: {
      const entry = maker.add("message", "user", contentText(field(message, "content")));
      entry.injected = true;
      entry.via = textField(message, "customType") ?? textField(message, "role");
      maker.pictures(message, "user");
    }
  }
}

function replyEntries(maker: Maker, message: Fields | null): void {
  for (const block of blocksOf(field(message, "content"))) {
    const type = textField(block, "type");
    let entry: Entry | null = null;
    if (type === "text") entry = maker.add("text", "assistant", textField(block, "text") ?? "");
    else if (type === "thinking") entry = maker.add("thinking", "assistant", textField(block, "thinking") ?? "");
    else if (type === "toolCall") {
      entry = maker.add("call", "assistant", null);
      const id = textField(block, "id") ?? "";
      entry.call = { id, name: textField(block, "name") ?? "?", args: shownArguments(field(block, "arguments")) };
    }
    if (entry !== null) entry.model = maker.facts.model;
  }
  const stop = textField(message, "stopReason");
  const failed = textField(message, "errorMessage");
  if (stop === "error") maker.add("error", "assistant", failed ?? "the request failed");
  if (stop === "aborted") maker.add("marker", null, failed ?? "aborted");
  if (maker.made.length === 0) maker.add("text", "assistant", "").model = maker.facts.model;
}

/** A command the person ran: what it was, and what it printed. */
function bashEntries(maker: Maker, message: Fields | null): void {
  const call = maker.add("call", "user", null);
  const command = textField(message, "command") ?? "";
  call.call = { id: call.ref, name: "bash", args: { command } };
  const result = maker.add("result", "tool", textField(message, "output") ?? "");
  const exit = numberField(message, "exitCode");
  result.result = {
    for: call.ref,
    exit,
    isError: (exit !== null && exit !== 0) || field(message, "cancelled") === true,
    truncated: field(message, "truncated") === true,
    fullOutput: textField(message, "fullOutputPath"),
  };
}

function otherEntry(maker: Maker, type: string | null, fields: Fields): void {
  switch (type) {
    case "compaction":
      maker.add("compaction", null, textField(fields, "summary") ?? "").injected = true;
      return;
    case "branch_summary": {
      const entry = maker.add("compaction", null, textField(fields, "summary") ?? "");
      entry.injected = true;
      entry.via = "branch summary";
      return;
    }
    case "custom_message": {
      const entry = maker.add("message", "user", contentText(field(fields, "content")));
      entry.injected = true;
      entry.via = textField(fields, "customType");
      return;
    }
    case "usage": {
      const entry = maker.add("step", null, null);
      entry.via = textField(fields, "kind");
      entry.model = maker.facts.model;
      return;
    }
    default: {
      const note = noteOf(type, fields);
      if (note !== null) maker.add("marker", null, note).injected = true;
    }
  }
}

function noteOf(type: string | null, fields: Fields): string | null {
  switch (type) {
    case "model_change":
      return `model: ${textField(fields, "provider") ?? "?"}/${textField(fields, "modelId") ?? "?"}`;
    case "thinking_level_change":
      return `thinking: ${textField(fields, "thinkingLevel") ?? "?"}`;
    case "session_info": {
      const name = textField(fields, "name") ?? "";
      return name === "" ? "name cleared" : `renamed: ${name}`;
    }
    case "label": {
      const label = textField(fields, "label") ?? "";
      const target = textField(fields, "targetId") ?? "?";
      return label === "" ? `label taken from ${target}` : `label on ${target}: ${label}`;
    }
    case "context_edit": {
      const target = textField(fields, "targetId") ?? "?";
      return field(fields, "replacement") === null ? `${target} taken out of context` : `${target} replaced in context`;
    }
    default:
      return null;
  }
}
