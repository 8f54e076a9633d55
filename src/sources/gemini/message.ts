import { callSummary } from "../../session/call-summary.ts";
import { pathsEditedBy } from "../../session/edited-files.ts";
import { cutCodePoints } from "../../session/untrusted.ts";
import {
  countField,
  type Fields,
  field,
  fieldsOf,
  listField,
  objectField,
  textField,
  timeField,
} from "../jsonl/record.ts";
import type { GeminiCall, GeminiMessage, GeminiTokens, Spot } from "./file.ts";

const MOST_TEXT = 2000;
/** What the program itself writes into a user row, and what it does not send to the model (agents.md §5.2). */
const NOT_TYPED = /^(?:<session_context>|<hook_context>|\/|\?)/u;

/** A message record; what a later record leaves out or empty is kept from an earlier one. */
export function mergeMessage(before: GeminiMessage | null, id: string, fields: Fields, at: Spot): GeminiMessage {
  const type = textField(fields, "type") ?? before?.type ?? "?";
  const tokens = tokensOf(objectField(fields, "tokens"));
  const calls = listField(fields, "toolCalls").flatMap((one) => callOf(fieldsOf(one)) ?? []);
  return {
    id,
    type,
    time: timeField(fields, "timestamp") ?? before?.time ?? 0,
    ...contentOf(before, type, field(fields, "content"), at),
    model: textField(fields, "model") ?? before?.model ?? null,
    tokens: tokens ?? before?.tokens ?? null,
    calls: calls.length > 0 ? calls : (before?.calls ?? []),
    at,
    tokensAt: tokens === null ? (before?.tokensAt ?? null) : at,
    callsAt: calls.length > 0 ? at : (before?.callsAt ?? null),
    active: before?.active ?? false,
    rewound: false,
  };
}

function contentOf(
  before: GeminiMessage | null,
  type: string,
  content: unknown,
  at: Spot,
): Pick<GeminiMessage, "prompt" | "answer" | "text" | "contentAt"> {
  if (before !== null && isBlank(content)) {
    const { prompt, answer, text, contentAt } = before;
    return { prompt, answer, text, contentAt };
  }
  const text = contentText(content);
  const answer = type === "user" && isAnswer(content);
  return {
    prompt:
      type === "user" && !answer && text.trim() !== "" ? !NOT_TYPED.test(text.trimStart()) : hasMedia(type, content),
    answer,
    text: (type === "user" || type === "error" ? text : "").slice(0, MOST_TEXT),
    contentAt: isBlank(content) ? null : at,
  };
}

/** Says nothing: a record that is written again may have such a value where an earlier one had more. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function hasMedia(type: string, content: unknown): boolean {
  if (type !== "user" || !Array.isArray(content)) return false;
  return content.some((part) => objectField(fieldsOf(part), "inlineData") !== null);
}

/** Blocks of a message: text alone may be written as a string. */
export function partsOf(content: unknown): Fields[] {
  if (typeof content === "string") return [{ text: content }];
  if (Array.isArray(content)) {
    return content
      .map((part) => (typeof part === "string" ? { text: part } : fieldsOf(part)))
      .filter((one) => one !== null);
  }
  const one = fieldsOf(content);
  return one === null ? [] : [one];
}

export function contentText(content: unknown): string {
  return partsOf(content)
    .map((part) => textField(part, "text"))
    .filter((text) => text !== null)
    .join("\n");
}

function isAnswer(content: unknown): boolean {
  const parts = partsOf(content);
  return parts.length > 0 && parts.every((part) => objectField(part, "functionResponse") !== null);
}

/** Stored `input` holds the cached part, stored `output` leaves thoughts out (agents.md §0). null: none were used. */
function tokensOf(fields: Fields | null): GeminiTokens | null {
  if (fields === null) return null;
  const cached = countField(fields, "cached");
  const thoughts = countField(fields, "thoughts");
  const input = Math.max(0, countField(fields, "input") - cached) + countField(fields, "tool");
  const output = countField(fields, "output") + thoughts;
  if (input + cached + output === 0) return null;
  return {
    input,
    cacheRead: cached,
    output,
    reasoning: thoughts,
    total: countField(fields, "total") || input + cached + output,
  };
}

function callOf(fields: Fields | null): GeminiCall | null {
  if (fields === null) return null;
  const name = textField(fields, "name") ?? "?";
  const args = field(fields, "args");
  const status = textField(fields, "status") ?? "?";
  const summary = cutCodePoints(callSummary(name, args), 200);
  const edits = status === "success" ? pathsEditedBy(name, args).slice(0, 20) : [];
  return { id: textField(fields, "id") ?? "", name, status, summary, edits };
}
