import { callSummary } from "../../session/call-summary.ts";
import { filesEditedBy, noteEdits } from "../../session/edited-files.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { type Fields, field, fieldsOf, listField, objectField, textField } from "../jsonl/record.ts";
import { CALLS, type PiFile, ROW } from "./file.ts";
import { nameIndex } from "./names.ts";
import { takeUsage } from "./usage-fold.ts";

const MOST_PROMPT = 2000;

/** A `message` entry (agents.md §3.2); `hookMessage` is version 2's word for `custom`. */
export function takeMessage(state: PiFile, entry: Fields, row: number): void {
  const message = objectField(entry, "message");
  switch (textField(message, "role")) {
    case "user":
      state.kinds[row] = ROW.user;
      state.prompts.push({ row, text: contentText(field(message, "content")).slice(0, MOST_PROMPT) });
      return;
    case "assistant":
      takeReply(state, message, row);
      return;
    case "toolResult": {
      state.kinds[row] = ROW.result;
      const id = textField(message, "toolCallId");
      if (id !== null) state.results.push({ row, id });
      takeUsage(state, row, message, null);
      return;
    }
    case "bashExecution":
      state.kinds[row] = ROW.bash;
      return;
    case "branchSummary":
      state.kinds[row] = ROW.summary;
      return;
    case "compactionSummary":
      state.kinds[row] = ROW.compaction;
      return;
    default:
      state.kinds[row] = ROW.injected;
  }
}

function takeReply(state: PiFile, message: Fields | null, row: number): void {
  let kind: number = ROW.assistant;
  let calls = 0;
  for (const block of blocksOf(field(message, "content"))) {
    const type = textField(block, "type");
    if (type === "text" && (textField(block, "text") ?? "").trim() !== "") kind |= ROW.says;
    if (type !== "toolCall") continue;
    kind |= ROW.says;
    calls += 1;
    const name = textField(block, "name") ?? "?";
    const args = field(block, "arguments");
    noteEdits(state.edited, filesEditedBy(name, args, state.header?.cwd ?? null), state.times[row] || state.updatedAt);
    const summary = cutCodePoints(callSummary(name, args), 200);
    const question = /^(?:ask|question|ask_user\w*)$/iu.test(name) ? questionOf(args, summary) : null;
    state.calls.push({ row, id: textField(block, "id") ?? "", name, summary, question });
  }
  const stop = textField(message, "stopReason");
  if (stop === "stop" || stop === "length") kind |= ROW.stop;
  if (stop === "error") kind |= ROW.error;
  if (stop === "aborted") kind |= ROW.aborted;
  const failed = textField(message, "errorMessage");
  if (failed !== null) state.errors.push({ row, text: failed.slice(0, MOST_PROMPT) });
  state.kinds[row] = kind + calls * CALLS;
  const provider = textField(message, "provider");
  const model = textField(message, "model");
  if (provider !== null) state.providers[row] = nameIndex(state, provider);
  if (model !== null) state.models[row] = nameIndex(state, model);
  takeUsage(state, row, message, { provider, model });
}

function questionOf(args: unknown, otherwise: string): string {
  const asked = textField(fieldsOf(args), "question");
  return asked === null ? otherwise : cutCodePoints(cleanLine(asked), 200);
}

/** Blocks of a message: text alone may be written as a string. */
export function blocksOf(content: unknown): Fields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(fieldsOf).filter((block) => block !== null) : [];
}

export function contentText(content: unknown): string {
  return blocksOf(content)
    .filter((block) => textField(block, "type") === "text")
    .map((block) => textField(block, "text") ?? "")
    .join("\n");
}

/** The text of a system prompt: whole, or in named sections. */
export function systemText(message: Fields | null): string {
  const whole = contentText(field(message, "content"));
  if (whole !== "") return whole;
  const sections = objectField(message, "sections") ?? {};
  return Object.values(sections)
    .filter((text) => typeof text === "string")
    .join("\n\n");
}

/** Pictures of a message: type and base64, never shown. */
export function picturesOf(message: Fields | null): Fields[] {
  return listField(message, "content")
    .map(fieldsOf)
    .filter((block) => block !== null)
    .filter((block) => textField(block, "type") === "image");
}
