import { blankEntry, type Entry, type EntryUsage } from "../../session/entry.ts";
import { shownArguments } from "../../session/json-text.ts";
import { modelName, type TokenFacts, usageFacts } from "./facts.ts";
import { isoOf } from "./go-time.ts";
import { type JsonObject, textOf } from "./json.ts";
import {
  answeredCall,
  argumentsOf,
  blocksOf,
  type ContentBlock,
  displayText,
  isInjected,
  type Message,
} from "./message.ts";
import { isSynthetic } from "./repair.ts";
import { toolResult } from "./tool-result.ts";

/** What all entries of one message share. */
export interface EntryFlags {
  ref: string;
  n: number;
  /** Time of the line, where the message has none of its own. */
  time: string | null;
  inContext: boolean;
  forkable: boolean;
  branch: boolean;
  /** Is usage shown here? Not where an llm_call shows it. */
  withUsage: boolean;
}

/** A message as lines of a transcript: only the first can be a fork point, because a message is kept or left whole. */
export function messageEntries(message: Message, flags: EntryFlags): Entry[] {
  const blank = (kind: Entry["kind"], at: number): Entry => ({
    ...blankEntry({ ref: at === 0 ? flags.ref : `${flags.ref}:${at}`, n: flags.n, kind }),
    role: message.role,
    time: isoOf(message.timestamp) ?? flags.time,
    inContext: flags.inContext,
    forkable: flags.forkable && at === 0,
    branch: flags.branch,
    injected: isInjected(message) || isSynthetic(message),
    via: isSynthetic(message) ? "synthetic" : null,
  });
  if (message.role === "tool") return resultEntries(message, blank);
  const blocks = blocksOf(message);
  const entries = blocks.map((block, at) => blockEntry(message, block, blank, at));
  if (entries.length === 0) entries.push({ ...blank(textKind(message), 0), text: "" });
  const usage = flags.withUsage ? usageFacts(message.usage) : null;
  const first = entries[0];
  if (first !== undefined && usage !== null) {
    first.usage = entryUsage(usage);
    first.model = modelName(usage.provider, usage.model) || null;
  }
  return entries;
}

type Blank = (kind: Entry["kind"], at: number) => Entry;

function blockEntry(message: Message, block: ContentBlock, blank: Blank, at: number): Entry {
  switch (block.type) {
    case "text": {
      const entry = { ...blank(textKind(message), at), text: block.text ?? "" };
      // Reminders stand before what the person typed (codebot.md §5).
      if (message.role === "user" && block.text !== displayText(message)) entry.injected = true;
      return entry;
    }
    case "thinking":
      return { ...blank("thinking", at), text: block.thinking ?? "" };
    case "toolCall": {
      const call = block.tool_call;
      const args = call === undefined ? null : shownArguments(argumentsOf(call));
      return { ...blank("call", at), call: { id: call?.id ?? "", name: call?.name ?? "?", args } };
    }
    case "image":
      return { ...blank(textKind(message), at), media: mediaOf(block.image) };
    default:
      return { ...blank("marker", at), text: `${block.type}${block.tool_name ? ` ${block.tool_name}` : ""}` };
  }
}

/** What a person says is a message, what the model says is text; one that ended in an error is an error. */
function textKind(message: Message): Entry["kind"] {
  if (message.role === "assistant") return message.stop_reason === "error" ? "error" : "text";
  return message.role === "system" ? "system" : "message";
}

function resultEntries(message: Message, blank: Blank): Entry[] {
  const { text, exit, truncated, fullOutput } = toolResult(message);
  const result = {
    for: answeredCall(message),
    exit,
    isError: message.metadata?.is_error === true,
    truncated,
    fullOutput,
  };
  const media = blocksOf(message).filter((block) => block.type !== "text");
  const says = blocksOf(message).some((block) => block.type === "text") || media.length === 0;
  const entries: Entry[] = says ? [{ ...blank("result", 0), text, result }] : [];
  for (const block of media) {
    entries.push({ ...blank("result", entries.length), media: mediaOf(block.image), result });
  }
  return entries;
}

function mediaOf(image: JsonObject | undefined): Entry["media"] {
  const data = image === undefined ? "" : textOf(image, "data");
  const type = (image === undefined ? "" : textOf(image, "mime_type")) || "application/octet-stream";
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return { type, bytes: Math.max(0, Math.floor((data.length * 3) / 4) - padding) };
}

/** codebot's numbers in our meaning: its input contains the cache reads (design §4). */
export function entryUsage(tokens: TokenFacts): EntryUsage {
  const { input, output, cacheRead, cacheWrite, cost } = tokens;
  return {
    input: Math.max(0, input - cacheRead),
    output,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    reasoning: 0,
    cost,
  };
}
