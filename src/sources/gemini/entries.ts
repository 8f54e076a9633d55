import { blankEntry, type Entry, type EntryKind } from "../../session/entry.ts";
import { shownArguments } from "../../session/json-text.ts";
import { base64Bytes, clipText } from "../jsonl/clip.ts";
import {
  type Fields,
  field,
  fieldsOf,
  isoTime,
  listField,
  objectField,
  type ParsedRecord,
  textField,
} from "../jsonl/record.ts";
import type { GeminiMessage } from "./file.ts";
import { contentText, partsOf } from "./message.ts";

export interface EntryFacts {
  n: number;
  branch: boolean;
  inContext: boolean;
  forkable: boolean;
  /** Calls whose results stand with the reply that made them. */
  answered: ReadonlySet<string>;
}

/** A message as lines of a transcript: one per text, thought, call and result (design §5). */
export function entriesOf(message: GeminiMessage, record: ParsedRecord, facts: EntryFacts, limit?: number): Entry[] {
  const maker = new Maker(message, record, facts, limit);
  const content = field(record.fields, "content");
  switch (message.type) {
    case "user":
      userEntries(maker, message, partsOf(content));
      break;
    case "gemini":
      replyEntries(maker, record.fields, partsOf(content));
      break;
    case "error":
      maker.add("error", "assistant", contentText(content));
      break;
    default:
      maker.add("marker", null, contentText(content)).injected = true;
  }
  const first = maker.made[0];
  if (first !== undefined && message.tokens !== null) {
    const { input, output, cacheRead, reasoning } = message.tokens;
    first.usage = { input, output, cacheRead, cacheWrite: 0, cacheWrite1h: 0, reasoning, cost: null };
  }
  return maker.made;
}

class Maker {
  readonly #message: GeminiMessage;
  readonly #record: ParsedRecord;
  readonly #facts: EntryFacts;
  readonly #limit: number | undefined;
  readonly made: Entry[] = [];

  constructor(message: GeminiMessage, record: ParsedRecord, facts: EntryFacts, limit: number | undefined) {
    this.#message = message;
    this.#record = record;
    this.#facts = facts;
    this.#limit = limit;
  }

  get facts(): EntryFacts {
    return this.#facts;
  }

  add(kind: EntryKind, role: string | null, text: string | null): Entry {
    const { id, time, model } = this.#message;
    const { n, branch, inContext, forkable } = this.#facts;
    const first = this.made.length === 0;
    const entry = blankEntry({ ref: first ? id : `${id}/${this.made.length}`, n, kind });
    entry.role = role;
    entry.time = isoTime(time || null);
    if (text !== null) Object.assign(entry, clipText(text, this.#limit, this.#record.cuts));
    entry.model = role === "assistant" ? model : null;
    entry.branch = branch;
    entry.inContext = inContext;
    entry.forkable = first && forkable;
    this.made.push(entry);
    return entry;
  }

  media(data: Fields, role: string): void {
    const entry = this.add("message", role, null);
    const bytes = base64Bytes(textField(data, "data") ?? "", this.#record.cuts);
    entry.media = { type: textField(data, "mimeType") ?? "unknown", bytes };
  }

  result(answer: Fields, isError: boolean): void {
    const response = objectField(answer, "response");
    const said = textField(response, "output") ?? textField(response, "error");
    const entry = this.add("result", "tool", said ?? (response === null ? "" : JSON.stringify(response)));
    const failed = isError || textField(response, "error") !== null;
    const id = textField(answer, "id") ?? "";
    entry.result = { for: id, exit: null, isError: failed, truncated: false, fullOutput: null };
  }
}

function userEntries(maker: Maker, message: GeminiMessage, parts: readonly Fields[]): void {
  const text = parts.map((part) => textField(part, "text")).filter((one) => one !== null);
  if (text.length > 0) {
    const entry = maker.add("message", "user", text.join("\n"));
    // Commands are typed too; what the program puts around a conversation is not.
    entry.injected = !message.prompt && !/^[/?]/u.test(message.text.trimStart());
  }
  for (const part of parts) {
    const data = objectField(part, "inlineData");
    if (data !== null) maker.media(data, "user");
    const answer = objectField(part, "functionResponse");
    if (answer !== null && !maker.facts.answered.has(textField(answer, "id") ?? "")) maker.result(answer, false);
  }
}

function replyEntries(maker: Maker, fields: Fields, parts: readonly Fields[]): void {
  for (const thought of listField(fields, "thoughts").map(fieldsOf)) {
    const subject = textField(thought, "subject");
    const description = textField(thought, "description") ?? textField(thought, "text") ?? "";
    if (thought !== null) {
      maker.add("thinking", "assistant", subject === null ? description : `**${subject}** ${description}`.trim());
    }
  }
  const text = parts.map((part) => textField(part, "text")).filter((one) => one !== null && one !== "");
  const calls = listField(fields, "toolCalls").map(fieldsOf);
  if (text.length > 0 || calls.length === 0) maker.add("text", "assistant", text.join("\n"));
  for (const call of calls) {
    if (call === null) continue;
    const entry = maker.add("call", "assistant", null);
    const id = textField(call, "id") ?? "";
    entry.call = { id, name: textField(call, "name") ?? "?", args: shownArguments(field(call, "args")) };
    const status = textField(call, "status");
    const results = listField(call, "result").map((one) => objectField(fieldsOf(one), "functionResponse"));
    const answers = results.filter((one) => one !== null);
    for (const answer of answers) maker.result(answer, status === "error");
    if (answers.length === 0 && (status === "cancelled" || status === "error")) {
      maker.result({ id, response: { output: status === "cancelled" ? "cancelled" : "failed" } }, true);
    }
  }
}
