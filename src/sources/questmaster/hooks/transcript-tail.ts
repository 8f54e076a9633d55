import { CannotOpen, openRegular } from "../../../files/open.ts";
import { isObject, textOf } from "./payload.ts";

const TAIL_BYTES = 64 * 1024;

/** The text of the last assistant message in the end of a transcript; empty when there is none or it cannot be read. */
export function lastAssistantText(path: string): string {
  if (path === "") return "";
  for (const line of tailOf(path).split("\n").reverse()) {
    if (line.trim() === "") continue;
    const text = assistantText(line);
    if (text !== "") return text;
  }
  return "";
}

function tailOf(path: string): string {
  try {
    using file = openRegular(path);
    const from = Math.max(0, file.size - TAIL_BYTES);
    return file.read(from, file.size - from).toString("utf8");
  } catch (error) {
    if (error instanceof CannotOpen) return "";
    throw error;
  }
}

function assistantText(line: string): string {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return "";
  }
  if (!isObject(record)) return "";
  const message = isObject(record.message) ? record.message : {};
  if ((textOf(record, "role") || textOf(message, "role")) !== "assistant") return "";
  const { content } = message;
  if (typeof content === "string" && content !== "") return content;
  if (Array.isArray(content)) {
    const block = content.find((one) => isObject(one) && one.type === "text" && textOf(one, "text") !== "");
    if (block !== undefined) return textOf(block, "text");
  }
  return textOf(record, "text");
}
