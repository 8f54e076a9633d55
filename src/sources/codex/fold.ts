import type { ByteSource, FileFold } from "../../files/fold.ts";
import { callSummary } from "../../session/call-summary.ts";
import { absolutes, filesEditedBy, noteEdits } from "../../session/edited-files.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { foldLines } from "../jsonl/folded-lines.ts";
import {
  countField,
  type Fields,
  field,
  fieldsOf,
  listField,
  numberField,
  objectField,
  textField,
  timeField,
} from "../jsonl/record.ts";
import { type CodexEvent, type CodexFile, type Family, newCodexFile, placeAsId, type RawUsage } from "./file.ts";
import { readMeta } from "./meta.ts";
import { contentText, parseRow, typedText } from "./prompt-text.ts";
import { THREAD_ID } from "./rollout-name.ts";
import { decompressed } from "./zstd.ts";

const MOST_STRING = 4096;
const MOST_PROMPT = 400;
const MOST_SUMMARY = 300;
const MOST_RECENT = 64;
const MOST_COPIED_METAS = 64;

/** One rollout of Codex (agents.md §2). */
export const codexFold: FileFold<CodexFile> = {
  name: "codex",
  version: 4,
  initial: newCodexFile,
  *advance(state, bytes, from) {
    return yield* advanceCodex(state, bytes, from);
  },
};

/** A compressed rollout: written as a whole, read as a whole. */
export const codexZstFold: FileFold<CodexFile> = {
  name: "codex-zst",
  version: 4,
  initial: newCodexFile,
  *advance(state, bytes) {
    Object.assign(state, newCodexFile());
    const plain = decompressed(bytes);
    if (plain.ok) yield* advanceCodex(state, plain.bytes, 0);
    else state.compression = plain.reason;
    return bytes.size;
  },
};

export function* advanceCodex(state: CodexFile, bytes: ByteSource, from: number): Generator<void, number> {
  state.bytes = yield* foldLines(state, bytes, from, (line, offset) => {
    const record = parseRow(line, MOST_STRING);
    const first = isFirst(state);
    if (record !== null) takeRecord(state, record.fields, offset, first);
    // A first line that is no header has lost what it was there for.
    return record !== null && (!first || state.meta !== null);
  });
  return state.bytes;
}

/** Was nothing read yet? Blank lines are nothing. */
function isFirst({ meta, bad, events }: CodexFile): boolean {
  return meta === null && bad.count === 0 && events.length === 0;
}

/** Only the first line is the file's own header: later ones were copied with a parent's rows (agents.md §2.2). */
function noteCopiedMeta(state: CodexFile, payload: Fields | null): void {
  const id = textField(payload, "id");
  if (id === null || id === state.meta?.id || !THREAD_ID.test(id)) return;
  if (!state.copiedMetas.includes(id) && state.copiedMetas.length < MOST_COPIED_METAS) state.copiedMetas.push(id);
}

/** What every event has: its place. */
type Place = Pick<CodexEvent, "at" | "ord" | "time" | "thread">;

function takeRecord(state: CodexFile, fields: Fields, offset: number, first: boolean): void {
  const payload = objectField(fields, "payload");
  const type = textField(fields, "type");
  const time = timeField(fields, "timestamp");
  if (first) {
    if (type === "session_meta" && payload !== null) state.meta = readMeta(payload, 2);
    else if (type === null && payload === null) state.meta = readMeta(fields, 1);
  } else if (type === "session_meta") noteCopiedMeta(state, payload);
  if (time !== null) {
    if (state.startedAt === null || time < state.startedAt) state.startedAt = time;
    // The bare header of the first generation says when it began; nothing says when it ended.
    const ended = type !== null || payload !== null;
    if (ended && (state.updatedAt === null || time > state.updatedAt)) state.updatedAt = time;
  }
  const named = textField(payload, "thread_id");
  const place: Place = { at: offset, ord: numberField(fields, "ordinal") ?? -1, time };
  if (named !== null && named !== state.meta?.id) place.thread = named;
  switch (type) {
    case "event_msg":
      if (payload !== null) takeEvent(state, payload, place);
      return;
    case "response_item":
      if (payload !== null) takeItem(state, payload, place);
      return;
    case "turn_context":
      state.events.push({
        ...place,
        k: "context",
        turn: textField(payload, "turn_id"),
        model: textField(payload, "model"),
        cwd: textField(payload, "cwd"),
        approval: textField(payload, "approval_policy"),
      });
      return;
    case "token_usage_record":
      state.events.push({
        ...place,
        k: "record",
        id: textField(payload, "response_id") ?? placeAsId(offset),
        usage: rawUsage(objectField(payload, "usage")),
      });
      return;
    case "compacted":
      state.events.push({ ...place, k: "compaction" });
      return;
    case "thread_rolled_back":
      state.events.push({ ...place, k: "rollback", prompts: countField(payload, "num_turns") });
      return;
    default:
      // First generation: the item is the line.
      if (payload === null && type !== null) takeItem(state, fields, place);
  }
}

function rawUsage(of: Fields | null): RawUsage {
  const input = countField(of, "input_tokens");
  const output = countField(of, "output_tokens");
  return {
    input,
    cached: countField(of, "cached_input_tokens"),
    cacheWrite: countField(of, "cache_write_input_tokens"),
    output,
    reasoning: countField(of, "reasoning_output_tokens"),
    // What was cached is a part of the input, and reasoning one of the output.
    total: numberField(of, "total_tokens") === null ? input + output : countField(of, "total_tokens"),
  };
}

function takeEvent(state: CodexFile, payload: Fields, place: Place): void {
  const turn = textField(payload, "turn_id");
  switch (textField(payload, "type")) {
    case "user_message":
      notePrompt(state, place, "event", textField(payload, "message") ?? "", null);
      return;
    case "agent_message":
      state.events.push({ ...place, k: "reply", from: "event" });
      return;
    case "item_completed":
      takeCompleted(state, objectField(payload, "item"), place, turn);
      return;
    case "patch_apply_begin":
    case "patch_apply_end":
      noteChanges(state, field(payload, "changes"), place);
      return;
    case "token_count":
      noteTotal(state, objectField(payload, "info"), place);
      return;
    case "task_started":
    case "turn_started":
      state.events.push({ ...place, k: "task", turn, window: numberField(payload, "model_context_window") });
      return;
    case "task_complete":
    case "turn_complete": {
      const error = objectField(payload, "error");
      const message = textField(error, "message") ?? (error === null ? null : "the turn failed");
      state.events.push({ ...place, k: "done", turn, error: message === null ? null : shown(message) });
      return;
    }
    case "turn_aborted":
      state.events.push({ ...place, k: "abort", turn, reason: textField(payload, "reason") });
      return;
    case "thread_rolled_back":
      state.events.push({ ...place, k: "rollback", prompts: countField(payload, "num_turns") });
      return;
    default:
  }
}

function takeCompleted(state: CodexFile, item: Fields | null, place: Place, turn: string | null): void {
  const id = textField(item, "id");
  const key = id === null ? null : `${turn ?? ""}/${id}`;
  switch (textField(item, "type")) {
    case "UserMessage":
      notePrompt(state, place, "item", contentText(field(item, "content")), key);
      return;
    case "AgentMessage":
      if (!isRepeated(state, key)) state.events.push({ ...place, k: "reply", from: "item" });
      return;
    case "FileChange":
      noteChanges(state, field(item, "changes"), place);
      return;
    default:
  }
}

/** A row for the model. Messages of it are a second copy where another family tells of them too. */
function takeItem(state: CodexFile, item: Fields, place: Place): void {
  switch (textField(item, "type")) {
    case "message": {
      const text = contentText(field(item, "content"));
      const role = textField(item, "role");
      if (role === "assistant") state.events.push({ ...place, k: "reply", from: "response" });
      if (role !== "user") return;
      state.environmentCwd ??= /<environment_context>[\s\S]*?<cwd>([^<]*)<\/cwd>/u.exec(text)?.[1] ?? null;
      notePrompt(state, place, "response", text, null);
      return;
    }
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "web_search_call":
    case "tool_search_call":
    case "image_generation_call":
      noteCall(state, item, place);
      return;
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "tool_search_output": {
      const id = textField(item, "call_id");
      if (id !== null) state.events.push({ ...place, k: "result", id });
      return;
    }
    default:
  }
}

function notePrompt(state: CodexFile, place: Place, from: Family, raw: string, key: string | null): void {
  const text = typedText(raw, from === "response");
  if (text === null || isRepeated(state, key)) return;
  // Of a long text a copy: a piece of it would keep all of it in memory.
  const head = raw.length > MOST_STRING ? copyOf(text.slice(0, 2 * MOST_PROMPT + 1)) : text;
  state.events.push({ ...place, k: "prompt", from, text: cutCodePoints(head, MOST_PROMPT) });
}

function copyOf(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

function isRepeated(state: CodexFile, key: string | null): boolean {
  if (key === null) return false;
  if (state.recent.includes(key)) return true;
  state.recent.push(key);
  if (state.recent.length > MOST_RECENT) state.recent.shift();
  return false;
}

function noteCall(state: CodexFile, item: Fields, place: Place): void {
  const type = textField(item, "type") ?? "";
  const id = textField(item, "call_id") ?? textField(item, "id") ?? "";
  if (id !== "" && isRepeated(state, `call/${id}`)) return;
  const name = textField(item, "name") ?? type.replace(/_call$/u, "");
  const args = callArguments(item);
  noteEdits(state.edits, filesEditedBy(name, args, cwdNow(state)), place.time, state.events.length);
  const asks = name === "request_user_input" ? questionOf(args) : null;
  state.events.push({
    ...place,
    k: "call",
    id,
    name: cutCodePoints(cleanLine(name), 80),
    summary: shown(callSummary(name, args)),
    asks: asks === null ? null : shown(asks),
    escalated: textField(fieldsOf(args), "sandbox_permissions") === "require_escalated",
    // These run at the provider: no answer is ever written.
    answered: type === "web_search_call" || type === "image_generation_call",
  });
}

/** What a patch changed: paths as keys, or in a list. */
function noteChanges(state: CodexFile, changes: unknown, place: Place): void {
  const paths = Array.isArray(changes)
    ? changes.flatMap((one) => textField(fieldsOf(one), "path") ?? [])
    : Object.keys(fieldsOf(changes) ?? {});
  noteEdits(state.edits, absolutes(paths.slice(0, 100), cwdNow(state)), place.time, state.events.length);
}

function cwdNow(state: CodexFile): string | null {
  const context = state.events.findLast((event) => event.k === "context");
  return (context?.k === "context" ? context.cwd : null) ?? state.meta?.cwd ?? state.environmentCwd;
}

/** Arguments are JSON inside a string; what is none stays text. */
export function callArguments(item: Fields): unknown {
  const text = textField(item, "arguments");
  if (text === null) return field(item, "input") ?? field(item, "action") ?? null;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

function questionOf(args: unknown): string {
  const of = fieldsOf(args);
  const first = fieldsOf(listField(of, "questions")[0]);
  return textField(first, "question") ?? textField(of, "question") ?? "a question waits for you";
}

function shown(text: string): string {
  return cutCodePoints(cleanLine(text), MOST_SUMMARY);
}

/** Re-emitted unchanged on resume, interrupt and rate limits: only what differs is kept (agents.md §2.4). */
function noteTotal(state: CodexFile, info: Fields | null, place: Place): void {
  if (info === null) return;
  const total = rawUsage(objectField(info, "total_token_usage"));
  const last = rawUsage(objectField(info, "last_token_usage"));
  const before = state.events.findLast((event) => event.k === "total");
  if (before?.k === "total" && sameUsage(before.total, total) && sameUsage(before.last, last)) return;
  state.events.push({ ...place, k: "total", total, last, window: numberField(info, "model_context_window") });
}

function sameUsage(a: RawUsage, b: RawUsage): boolean {
  return (
    a.input === b.input &&
    a.cached === b.cached &&
    a.cacheWrite === b.cacheWrite &&
    a.output === b.output &&
    a.reasoning === b.reasoning &&
    a.total === b.total
  );
}
