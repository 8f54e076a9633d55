import { UNSET_TIME } from "./go-time.ts";
import { isObject, type JsonObject, textOf } from "./json.ts";

/**
 * One message of a conversation in the shape it has in the file (codebot.md §5). Keys we do not know are kept, so
 * that a message goes back into a file as it came out of one.
 */
export interface Message extends JsonObject {
  role: string;
  content: ContentBlock[] | null;
  stop_reason?: string;
  usage?: MessageUsage;
  metadata?: JsonObject;
  timestamp?: string;
}

/** `type` decides which of the other keys it has: `text`, `thinking`, `toolCall`, `image`, `tool_reference`. */
export interface ContentBlock extends JsonObject {
  type: string;
  text?: string;
  thinking?: string;
  tool_call?: ToolCall;
  image?: JsonObject;
  tool_name?: string;
}

export interface ToolCall extends JsonObject {
  id: string;
  name: string;
  args?: unknown;
}

/** `input` contains the cache reads (codebot.md §7). */
export interface MessageUsage extends JsonObject {
  provider?: string;
  model?: string;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  total_tokens: number;
  cost?: JsonObject;
}

/** A parsed value as a message; null where codebot could not decode it, and so drops it (codebot.md §14). */
export function readMessage(value: unknown): Message | null {
  if (!isObject(value)) return null;
  const { role, content, metadata, usage } = value;
  if (role !== undefined && typeof role !== "string") return null;
  if (content !== undefined && content !== null && !Array.isArray(content)) return null;
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) return null;
  if (usage !== undefined && usage !== null && !isObject(usage)) return null;
  const blocks: ContentBlock[] = [];
  for (const block of content ?? []) {
    const read = readBlock(block);
    if (read === null) return null;
    blocks.push(read);
  }
  const message: Message = { ...value, role: role ?? "", content: content === null ? null : blocks };
  if (metadata === null) delete message.metadata;
  if (usage === null) delete message.usage;
  return message;
}

function readBlock(value: unknown): ContentBlock | null {
  if (!isObject(value)) return null;
  for (const key of ["type", "text", "thinking", "tool_name"]) {
    if (value[key] !== undefined && value[key] !== null && typeof value[key] !== "string") return null;
  }
  const block: ContentBlock = { ...value, type: textOf(value, "type") };
  const call = value.tool_call;
  if (call === undefined || call === null) delete block.tool_call;
  else if (!isObject(call)) return null;
  else block.tool_call = { ...call, id: textOf(call, "id"), name: textOf(call, "name") };
  if (value.image === null) delete block.image;
  else if (value.image !== undefined && !isObject(value.image)) return null;
  return block;
}

export function blocksOf(message: Message): ContentBlock[] {
  return message.content ?? [];
}

/** What the person typed: the last text block that is not empty; earlier ones are reminders put before it (codebot.md §5). */
export function displayText(message: Message): string {
  return (
    blocksOf(message)
      .filter((block) => block.type === "text" && block.text)
      .at(-1)?.text ?? ""
  );
}

/** Written by the harness, not by the person (codebot.md §5). */
export function isInjected(message: Message): boolean {
  return message.metadata?.injected === true;
}

/** The tool calls an assistant message asks for. */
export function callsOf(message: Message): ToolCall[] {
  if (message.role !== "assistant") return [];
  return blocksOf(message).flatMap((block) =>
    block.type === "toolCall" && block.tool_call !== undefined ? [block.tool_call] : [],
  );
}

/** What a call was given; where that was no JSON, the text the model wrote (codebot.md §5). */
export function argumentsOf(call: ToolCall): unknown {
  const raw = call.args_invalid === true ? textOf(call, "args_raw_text") : "";
  return raw === "" ? (call.args ?? null) : raw;
}

/** Which call a tool message answers, `""` when it does not say. */
export function answeredCall(message: Message): string {
  return message.metadata === undefined ? "" : textOf(message.metadata, "tool_call_id");
}

/** Longest thinking that is stored, code points (codebot.md §5). */
export const MOST_STORED_THINKING = 200;

/** The message as it is stored: thinking over 200 code points becomes its first 199 and `…`. The given one is untouched. */
export function shortenThinking(message: Message): Message {
  let shortened = false;
  const content = blocksOf(message).map((block) => {
    if (block.type !== "thinking" || (block.thinking ?? "").length <= MOST_STORED_THINKING) return block;
    const points = Array.from(block.thinking ?? "");
    if (points.length <= MOST_STORED_THINKING) return block;
    shortened = true;
    return { ...block, thinking: `${points.slice(0, MOST_STORED_THINKING - 1).join("")}…` };
  });
  return shortened ? { ...message, content } : message;
}

/** A message as Go prints it: known keys first and in order, empty ones left out, metadata sorted, a time always. */
export function messageData(message: Message): JsonObject {
  const { role, content, stop_reason, usage, metadata, timestamp, ...rest } = message;
  return {
    role,
    content: content?.map(blockData) ?? null,
    ...(stop_reason ? { stop_reason } : {}),
    ...(usage ? { usage } : {}),
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata: sortedKeys(metadata) } : {}),
    ...rest,
    timestamp: timestamp ?? UNSET_TIME,
  };
}

function blockData(block: ContentBlock): JsonObject {
  const { text, thinking, ...rest } = block;
  const { type, ...others } = rest;
  return { type, ...(text ? { text } : {}), ...(thinking ? { thinking } : {}), ...others };
}

function sortedKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How many entries a message becomes: one a block, a result's texts as one, never none. */
export function partsOf(message: Message): number {
  const blocks = blocksOf(message);
  if (message.role !== "tool") return Math.max(1, blocks.length);
  const others = blocks.filter((block) => block.type !== "text").length;
  return blocks.some((block) => block.type === "text") || others === 0 ? others + 1 : others;
}
