import { createHash } from "node:crypto";
import { callSummary } from "../../session/call-summary.ts";
import { filesEditedBy, noteEdits } from "../../session/edited-files.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import type { OpenCall } from "../by-process/tail.ts";
import { countField, type Fields, field, fieldsOf, listField, objectField, textField } from "../jsonl/record.ts";
import { CALLS, type ClaudeFile, type ClaudeRequest, isFuller, promptOf, ROW } from "./file.ts";
import { isRowId } from "./ids.ts";
import { acceptPendingCommand, dropPendingCommand } from "./user-fold.ts";

const MOST_SUMMARY = 300;
const MOST_OPEN_CALLS = 64;
const MOST_MODELS = 64;

/** A row of type `assistant`: one content block of an API message (agents.md §1.2). */
export function readAssistantRow(
  state: ClaudeFile,
  fields: Fields,
  row: number,
  uuid: string,
  time: number | null,
  side: boolean,
): void {
  const message = objectField(fields, "message");
  const model = textField(message, "model");
  const blocks = listField(message, "content").map(fieldsOf);
  if (model === "<synthetic>" || field(fields, "isApiErrorMessage") === true) {
    const failed = field(fields, "isApiErrorMessage") === true;
    state.kinds[row] = (state.kinds[row] ?? 0) | ROW.synthetic | (failed ? ROW.error : 0);
    if (failed && !side) {
      dropPendingCommand(state);
      const text = cutCodePoints(cleanLine(plainText(message, blocks)), MOST_SUMMARY);
      state.tail = { state: "error", evidence: "the last record is an error", text, time, calls: [] };
    }
    return;
  }
  const calls = blocks.filter((block) => isCall(block));
  const answers = providerAnswers(blocks);
  if (answers.length > 0) state.answered[row] = answers.length;
  state.kinds[row] = ((state.kinds[row] ?? 0) | (calls.length > 0 ? ROW.calls : 0)) + calls.length * CALLS;
  if (!side) acceptPendingCommand(state);
  // A row that says where it was copied from changed its files under another session.
  if (field(fields, "forkedFrom") === undefined) noteCallEdits(state, calls, time);
  noteRequest(state, message, row, messageId(message) ?? `row:${uuid}`, time, side ? (state.sides[row] ?? uuid) : null);
  if (model !== null) noteModel(side ? state.sideModels : state.models, model);
  if (!side) noteTail(state, message, calls, answers, time);
}

/** A row that is written again may have the reply's final numbers. */
export function readRepeatedAssistantRow(state: ClaudeFile, fields: Fields, row: number): void {
  const message = objectField(fields, "message");
  const id = messageId(message);
  if (id === null || !Object.hasOwn(state.byMessage, id)) return;
  noteRequest(state, message, row, id, null, state.sides[row] ?? null);
}

function noteCallEdits(state: ClaudeFile, calls: readonly (Fields | null)[], time: number | null): void {
  for (const call of calls) {
    const paths = filesEditedBy(textField(call, "name") ?? "", field(call, "input"), state.lastCwd);
    noteEdits(state.edits, paths, time);
  }
}

function isCall(block: Fields | null): boolean {
  const type = textField(block, "type");
  return type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use";
}

/** Ids of the calls that the provider answered in the same reply: `web_search_tool_result`, `mcp_tool_result` … */
function providerAnswers(blocks: readonly (Fields | null)[]): string[] {
  return blocks.flatMap((block) => {
    const id = textField(block, "tool_use_id");
    return id !== null && textField(block, "type")?.endsWith("_tool_result") === true ? [id] : [];
  });
}

/** What a reply is counted by. Gateways make up ids of any form: one that could not be a key is told by its hash. */
function messageId(message: Fields | null): string | null {
  const given = textField(message, "id");
  if (given === null || given === "") return null;
  return isRowId(given) ? given : `sha256:${createHash("sha256").update(given).digest("hex")}`;
}

function noteModel(models: string[], model: string): void {
  if (models.length < MOST_MODELS && !models.includes(model)) models.push(model);
}

/** One message is several rows with the same numbers, or growing ones: the fullest counts (agents.md §1.5). */
function noteRequest(
  state: ClaudeFile,
  message: Fields | null,
  row: number,
  id: string,
  time: number | null,
  side: string | null,
): void {
  const usage = objectField(message, "usage");
  const made: ClaudeRequest = {
    id,
    row,
    time,
    model: textField(message, "model"),
    input: countField(usage, "input_tokens"),
    cacheRead: countField(usage, "cache_read_input_tokens"),
    ...cacheWrites(usage),
    output: countField(usage, "output_tokens"),
    side,
    counted: usage !== null,
  };
  if (made.side === null && made.model !== null) noteContext(state, made.model, made);
  const known = Object.hasOwn(state.byMessage, id) ? state.byMessage[id] : undefined;
  if (known === undefined) {
    state.byMessage[id] = state.requests.length;
    state.messages[row] = state.requests.length;
    state.requests.push(made);
    return;
  }
  state.messages[row] = known;
  const before = state.requests[known];
  if (before !== undefined && usage !== null && (!before.counted || isFuller(made, before))) {
    state.requests[known] = { ...made, time: before.time, side: before.side };
  }
}

/** The total holds; the split says how much of it is kept for an hour, the rest for five minutes (agents.md §1.5). */
function cacheWrites(usage: Fields | null): { write5m: number; write1h: number } {
  const total = countField(usage, "cache_creation_input_tokens");
  const split = objectField(usage, "cache_creation");
  const write1h = countField(split, "ephemeral_1h_input_tokens");
  if (total === 0) return { write5m: countField(split, "ephemeral_5m_input_tokens"), write1h };
  return { write5m: total - Math.min(write1h, total), write1h: Math.min(write1h, total) };
}

function noteContext(state: ClaudeFile, model: string, request: ClaudeRequest): void {
  const { mostContext } = state;
  const known = Object.hasOwn(mostContext, model);
  if (model === "__proto__" || (!known && Object.keys(mostContext).length >= MOST_MODELS)) return;
  mostContext[model] = Math.max(known ? (mostContext[model] ?? 0) : 0, promptOf(request) + request.output);
}

const TURN_ENDS = new Set(["end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"]);

function noteTail(
  state: ClaudeFile,
  message: Fields | null,
  calls: (Fields | null)[],
  answers: readonly string[],
  time: number | null,
): void {
  const open = [...state.tail.calls, ...calls.map(openCall)]
    .filter((call) => !answers.includes(call.id))
    .slice(-MOST_OPEN_CALLS);
  const stop = textField(message, "stop_reason");
  if (open.length > 0) {
    state.tail = { state: "open", evidence: "calls are waiting for results", text: null, time, calls: open };
  } else if (stop !== null && TURN_ENDS.has(stop)) {
    state.tail = { state: "over", evidence: `the last reply ended its turn (${stop})`, text: null, time, calls: [] };
  } else {
    state.tail = { state: "open", evidence: "the last reply did not end its turn", text: null, time, calls: [] };
  }
}

function openCall(block: Fields | null): OpenCall {
  const name = textField(block, "name") ?? "";
  const input = field(block, "input");
  return {
    id: textField(block, "id") ?? "",
    name: cutCodePoints(cleanLine(name), 80),
    summary: cutCodePoints(callSummary(name, input), MOST_SUMMARY),
    question: questionOf(name, fieldsOf(input)),
  };
}

/** The tools whose only answer is the person's (agents.md §1.6). */
function questionOf(name: string, input: Fields | null): string | null {
  if (name === "ExitPlanMode") return "a plan waits for your approval";
  if (name !== "AskUserQuestion") return null;
  const first = fieldsOf(listField(input, "questions")[0]);
  const asked = textField(first, "question") ?? textField(input, "question") ?? "a question waits for you";
  return cutCodePoints(cleanLine(asked), MOST_SUMMARY);
}

function plainText(message: Fields | null, blocks: (Fields | null)[]): string {
  const content = field(message, "content");
  if (typeof content === "string") return content;
  return blocks.map((block) => textField(block, "text") ?? "").join(" ");
}
