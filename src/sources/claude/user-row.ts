import { type Fields, field, fieldsOf, objectField, textField } from "../jsonl/record.ts";

/** What a row of type `user` is: only `prompt` and an expanded `command` were typed by a person (agents.md §1.2). */
type UserKind =
  | "prompt"
  | "command"
  | "command-output"
  | "result"
  | "interrupt"
  | "compact-summary"
  | "notification"
  /** Text for the model that nobody typed, as what a slash command became. */
  | "meta"
  | "injected";

export interface UserRow {
  kind: UserKind;
  /** What to show: the prompt, `/command args`, the output; raw. */
  text: string;
}

const INJECTED = [
  "<local-command-caveat>",
  "<system-reminder>",
  "<bash-input>",
  "<bash-stdout>",
  "<bash-stderr>",
  "<user-memory-input>",
];
const OUTPUT = ["<local-command-stdout>", "<local-command-stderr>"];
const COMMAND = ["<command-name>", "<command-message>"];
const INTERRUPT = "[Request interrupted by user";
/** Blocks that an editor or the program puts beside what was typed. */
const BESIDE = /^\s*<(?:system-reminder|ide_[a-z_]+)>/u;

export function readUserRow(fields: Fields): UserRow {
  const content = field(objectField(fields, "message"), "content");
  const text = userText(content);
  if (hasBlock(content, "tool_result")) return { kind: "result", text };
  if (field(fields, "isCompactSummary") === true) return { kind: "compact-summary", text };
  const start = text.trimStart();
  if (start.startsWith(INTERRUPT)) return { kind: "interrupt", text };
  if (OUTPUT.some((mark) => start.startsWith(mark))) return { kind: "command-output", text: inside(start) };
  if (COMMAND.some((mark) => start.startsWith(mark))) return { kind: "command", text: commandText(text) };
  if (start.startsWith("<task-notification>")) return { kind: "notification", text };
  if (INJECTED.some((mark) => start.startsWith(mark))) return { kind: "injected", text };
  if (field(fields, "isMeta") === true) return { kind: "meta", text };
  const origin = textField(objectField(fields, "origin"), "kind");
  if (origin !== null && origin !== "human") return { kind: "notification", text };
  return { kind: "prompt", text };
}

/** A command that became a prompt names its message first; one that ran locally names itself first. */
export function looksExpanded(fields: Fields): boolean {
  const content = field(objectField(fields, "message"), "content");
  return userText(content).trimStart().startsWith("<command-message>");
}

function userText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const parts: string[] = [];
  let beside = "";
  let pictures = 0;
  for (const block of content) {
    const of = fieldsOf(block);
    const type = textField(of, "type");
    const text = type === "text" ? textField(of, "text") : null;
    if (text !== null && BESIDE.test(text)) beside = text;
    else if (text !== null) parts.push(text);
    else if (type === "image" || type === "document") pictures += 1;
  }
  if (parts.length === 0 && pictures > 0) return `[${pictures === 1 ? "image" : `${pictures} images`}]`;
  return parts.length === 0 ? beside : parts.join("\n");
}

function hasBlock(content: unknown, type: string): boolean {
  return Array.isArray(content) && content.some((block) => textField(fieldsOf(block), "type") === type);
}

function commandText(text: string): string {
  const name = /<command-name>([\s\S]*?)<\/command-name>/u.exec(text)?.[1]?.trim();
  const message = /<command-message>([\s\S]*?)<\/command-message>/u.exec(text)?.[1]?.trim();
  const args = /<command-args>([\s\S]*?)<\/command-args>/u.exec(text)?.[1]?.trim() ?? "";
  const shown = name ?? (message === undefined ? "" : `/${message}`);
  const slashed = shown.startsWith("/") || shown === "" ? shown : `/${shown}`;
  return args === "" ? slashed : `${slashed} ${args}`;
}

function inside(text: string): string {
  return /^<([a-z-]+)>([\s\S]*?)(?:<\/\1>|$)/u.exec(text)?.[2] ?? text;
}
