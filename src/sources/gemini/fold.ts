import type { ByteSource, FileFold } from "../../files/fold.ts";
import { foldLines } from "../jsonl/folded-lines.ts";
import {
  type Fields,
  field,
  fieldsOf,
  listField,
  objectField,
  parseRecord,
  textField,
  timeField,
} from "../jsonl/record.ts";
import { type GeminiFile, type GeminiMessage, messageOf, messagesOf, newGeminiFile, type Spot } from "./file.ts";
import { isMessageId, SESSION_ID } from "./ids.ts";
import { mergeMessage } from "./message.ts";

const MOST_STRING = 4096;
const MOST_REWINDS = 200;
const MOST_DIRECTORIES = 200;

/** A chat file that is appended to (agents.md §5.2). */
export const geminiFold: FileFold<GeminiFile> = {
  name: "gemini",
  version: 3,
  initial: newGeminiFile,
  *advance(state, bytes, from) {
    return yield* advanceLines(state, bytes, from);
  },
};

/** Largest `.json` chat that is read: it has to be taken in whole. */
export const MOST_OBJECT = 256 * 1024 * 1024;

/** A chat of older versions: one object, rewritten whole, so that nothing of it is ever finished (agents.md §5.1). */
export const geminiObjectFold: FileFold<GeminiFile> = {
  name: "gemini-object",
  version: 3,
  initial: newGeminiFile,
  *advance(state, bytes) {
    const fields =
      bytes.size > MOST_OBJECT ? null : (parseRecord(bytes.read(0, bytes.size), MOST_STRING)?.fields ?? null);
    yield;
    // Its writer may be in the middle of it: until it can be read again, what was read last holds.
    if (fields === null) state.torn = bytes.size;
    else {
      Object.assign(state, newGeminiFile());
      takeMetadata(state, fields);
      replaceList(state, listField(fields, "messages"), 0);
    }
    return 0;
  },
};

export function* advanceLines(state: GeminiFile, bytes: ByteSource, from: number): Generator<void, number> {
  return yield* foldLines(state, bytes, from, (line, offset) => {
    const fields = parseRecord(line, MOST_STRING)?.fields ?? null;
    if (fields !== null) takeRecord(state, fields, offset);
    return fields !== null;
  });
}

function takeRecord(state: GeminiFile, fields: Fields, offset: number): void {
  const set = objectField(fields, "$set");
  if (set !== null) {
    takeMetadata(state, set);
    if (Array.isArray(field(set, "messages"))) replaceList(state, listField(set, "messages"), offset);
    return;
  }
  const rewind = textField(fields, "$rewindTo");
  if (rewind !== null) rewindTo(state, rewind);
  else if (isMessage(state, fields)) {
    const message = takeMessage(state, fields, [offset, -1]);
    if (message !== null && !message.active) {
      message.active = true;
      state.active.push(message.id);
    }
  } else takeMetadata(state, fields);
}

/** What is known already may be written again without its type. */
function isMessage(state: GeminiFile, fields: Fields): boolean {
  const id = textField(fields, "id");
  return id !== null && (textField(fields, "type") !== null || messageOf(state, id) !== null);
}

/** Written again on every resume; the first start is the session's, the last of everything else holds. */
function takeMetadata(state: GeminiFile, fields: Fields): void {
  const id = textField(fields, "sessionId");
  if (id !== null && SESSION_ID.test(id)) state.id = id;
  state.kind = textField(fields, "kind") ?? state.kind;
  state.projectHash = textField(fields, "projectHash") ?? state.projectHash;
  state.summary = textField(fields, "summary")?.slice(0, 2000) ?? state.summary;
  const directories = listField(fields, "directories").filter((one) => typeof one === "string");
  if (directories.length > 0) state.directories = directories.slice(0, MOST_DIRECTORIES);
  const started = timeField(fields, "startTime");
  if (started !== null && (state.startedAt === null || started < state.startedAt)) state.startedAt = started;
  noteTime(state, timeField(fields, "lastUpdated"));
}

function noteTime(state: GeminiFile, time: number | null): void {
  if (time !== null && (state.updatedAt === null || time > state.updatedAt)) state.updatedAt = time;
}

function takeMessage(state: GeminiFile, fields: Fields, at: Spot): GeminiMessage | null {
  const id = textField(fields, "id");
  if (id === null || !isMessageId(id)) return null;
  const before = messageOf(state, id);
  const message = mergeMessage(before, id, fields, at);
  if (before === null) state.seen.push(id);
  state.messages[id] = message;
  noteTime(state, message.time || null);
  return message;
}

/** A checkpoint: its list is the conversation from now on. It repeats ids, and lacks numbers and calls. */
function replaceList(state: GeminiFile, list: readonly unknown[], offset: number): void {
  for (const message of messagesOf(state, state.active)) message.active = false;
  state.active = [];
  for (const [index, one] of list.entries()) {
    const fields = fieldsOf(one);
    const message = fields === null ? null : takeMessage(state, fields, [offset, index]);
    if (message === null || message.active) continue;
    message.active = true;
    state.active.push(message.id);
  }
}

/** Drops that message and all behind it; an id nobody knows drops everything. */
function rewindTo(state: GeminiFile, id: string): void {
  const at = Math.max(0, state.active.indexOf(id));
  const dropped = state.active.splice(at);
  for (const message of messagesOf(state, dropped)) {
    message.active = false;
    message.rewound = true;
  }
  if (dropped.length > 0) state.rewinds.push(dropped);
  if (state.rewinds.length > MOST_REWINDS) state.rewinds.shift();
}
