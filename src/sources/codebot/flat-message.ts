import { compactJson } from "../../session/json-text.ts";
import { isObject, type JsonObject, textOf } from "./json.ts";
import { type Message, readMessage } from "./message.ts";

const STOPS: Record<string, string> = { end: "stop", tool_use: "toolUse" };

/**
 * A version 5 message in the shape of version 3, as far as its blocks are understood: the keys inside them are not all
 * known and are read loosely (codebot.md §13). null when it is no message at all.
 */
export function fromFlat(data: unknown): Message | null {
  if (!isObject(data)) return null;
  const blocks = Array.isArray(data.blocks) ? data.blocks.filter(isObject) : [];
  const result = blocks.find((block) => block.type === "tool_result");
  const stop = textOf(data, "stop");
  const metadata: JsonObject = {};
  // A message with a kind was made by the harness: summary, resume, reminder …
  if (textOf(data, "kind") !== "") metadata.injected = true;
  if (result !== undefined) {
    metadata.tool_call_id = callId(result);
    metadata.is_error = result.is_error === true || result.error === true;
  }
  return readMessage({
    role: result === undefined ? textOf(data, "role") : "tool",
    content: blocks.map(blockFromFlat),
    stop_reason: STOPS[stop] ?? stop,
    metadata,
    timestamp: textOf(data, "time"),
    ...(isObject(data.usage) ? { usage: usageFromFlat(data, data.usage) } : {}),
  });
}

/** Who answered, named even where no usage is recorded. */
export function flatModel(data: unknown): { provider: string; model: string } {
  return isObject(data)
    ? { provider: textOf(data, "provider"), model: textOf(data, "model") }
    : { provider: "", model: "" };
}

function usageFromFlat(data: JsonObject, usage: JsonObject): JsonObject {
  return { ...usage, provider: textOf(data, "provider"), model: textOf(data, "model") };
}

function blockFromFlat(block: JsonObject): JsonObject {
  switch (block.type) {
    case "reasoning":
      return { type: "thinking", thinking: textOf(block, "text") || textOf(block, "reasoning") };
    case "tool_use":
      return {
        type: "toolCall",
        tool_call: { id: callId(block), name: textOf(block, "name"), args: block.input ?? block.args ?? null },
      };
    case "tool_result":
      return { type: "text", text: resultText(block.content) };
    case "text":
      return { type: "text", text: textOf(block, "text") };
    case "image":
      return { type: "image", image: isObject(block.image) ? block.image : block };
    default:
      return { type: textOf(block, "type"), tool_name: textOf(block, "tool_name") || textOf(block, "name") };
  }
}

/** The id of a call, or of the call a result answers, under any of the names it may have. */
function callId(block: JsonObject): string {
  for (const key of ["tool_use_id", "call_id", "tool_call_id", "id"]) {
    const id = textOf(block, key);
    if (id !== "") return id;
  }
  return "";
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    return content
      .filter(isObject)
      .map((block) => textOf(block, "text"))
      .filter((text) => text !== "")
      .join("\n");
  }
  return content === undefined || content === null ? "" : compactJson(content);
}
