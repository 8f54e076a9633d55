import { type Fields, field, fieldsOf, listField, objectField, textField } from "../jsonl/record.ts";
import type { Part } from "./rows.ts";

/** A JSON object of a row or file, null when it is none. */
export function parsed(text: string | null): Fields | null {
  if (text === null) return null;
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

export function partOf(id: string, fields: Fields, mark: string, most?: number): Part {
  const cut = { clipped: 0 };
  const kept = most === undefined ? fields : cutStrings(fields, most, cut, 0);
  return { id, type: textField(fields, "type") ?? "?", fields: fieldsOf(kept) ?? {}, mark, clipped: cut.clipped };
}

/** Long strings shortened, at any depth a tool's input may reach. */
function cutStrings(value: unknown, most: number, cut: { clipped: number }, depth: number): unknown {
  if (typeof value === "string") {
    if (value.length <= most) return value;
    cut.clipped += Buffer.byteLength(value) - Buffer.byteLength(value.slice(0, most));
    return value.slice(0, most).toWellFormed();
  }
  if (typeof value !== "object" || value === null || depth > 16) return value;
  if (Array.isArray(value)) return value.slice(0, 500).map((one) => cutStrings(one, most, cut, depth + 1));
  const made: Fields = {};
  for (const [key, one] of Object.entries(value)) {
    if (key !== "__proto__") made[key] = cutStrings(one, most, cut, depth + 1);
  }
  return made;
}

/** The content of a v2 row as v1's parts: `name` is `tool`, a result's pieces are one output (agents.md §4.1). */
export function v2Parts(type: string, data: Fields, mark: string, most?: number): Part[] {
  if (type !== "assistant") {
    const text = textField(data, "text") ?? textField(data, "summary");
    const made: Part[] = [];
    if (text !== null) {
      const synthetic = type !== "user";
      made.push(partOf("0", { type: type === "compaction" ? "compaction" : "text", text, synthetic }, mark, most));
    }
    for (const [i, file] of [...listField(data, "files"), ...listField(data, "attachments")].entries()) {
      const fields = fieldsOf(file);
      if (fields !== null) made.push(partOf(`file${i}`, { ...fields, type: "file" }, mark, most));
    }
    return made;
  }
  return listField(data, "content").flatMap((block, i) => {
    const fields = fieldsOf(block);
    if (fields === null) return [];
    return [partOf(String(i), textField(fields, "type") === "tool" ? v1Tool(fields) : fields, mark, most)];
  });
}

function v1Tool(fields: Fields): Fields {
  const state = objectField(fields, "state") ?? {};
  const pieces = listField(state, "content").map((piece) => textField(fieldsOf(piece), "text"));
  const output = pieces.filter((text) => text !== null).join("\n");
  const error = textField(state, "error") ?? textField(objectField(state, "error"), "message");
  const { content: _content, structured, ...rest } = state;
  return {
    type: "tool",
    tool: textField(fields, "name") ?? "?",
    callID: textField(fields, "id") ?? "",
    state: { ...rest, output, metadata: field(rest, "metadata") ?? structured, ...(error === null ? {} : { error }) },
  };
}

/** Did the person write it? Not what OpenCode adds to a prompt, and not the request for a compaction. */
export function isTyped(part: Part): boolean {
  if (field(part.fields, "synthetic") === true || field(part.fields, "ignored") === true) return false;
  return ["text", "file", "agent", "subtask"].includes(part.type);
}

function typedText(part: Part): string {
  if (part.type === "text") return textField(part.fields, "text") ?? "";
  if (part.type === "subtask") return textField(part.fields, "prompt") ?? "";
  return "";
}

/** What a prompt says in a list: its text, else what it consists of. */
export function promptText(typed: readonly Part[]): { text: string; said: boolean } {
  const texts = typed.map(typedText).filter((text) => text.trim() !== "");
  if (texts.length > 0) return { text: texts.join("\n"), said: true };
  const files = typed.filter((part) => part.type === "file");
  if (files.length === 0) return { text: "", said: false };
  const pictures = files.every((part) => textField(part.fields, "mime")?.startsWith("image/"));
  const what = pictures ? "image" : "file";
  return { text: files.length === 1 ? `[${what}]` : `[${files.length} ${what}s]`, said: false };
}

/** Does the reply hold any text or call? */
export function says(part: Part): boolean {
  if (part.type === "tool") return true;
  return part.type === "text" && (textField(part.fields, "text") ?? "").trim() !== "";
}
