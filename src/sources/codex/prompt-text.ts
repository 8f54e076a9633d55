import { type Fields, fieldsOf, type ParsedRecord, parseRecord, textField } from "../jsonl/record.ts";

/** What the program puts into the conversation in the person's name (agents.md §2.5). */
const INJECTED = [
  "<environment_context>",
  "# AGENTS.md instructions",
  "<user_instructions>",
  "<permissions instructions>",
  "<turn_aborted>",
  "<recommended_plugins>",
];
/** Other such blocks in the rows made for the model, where nothing says who wrote them. */
const TAGGED = /^<[a-z]+(?:[_-][a-z]+)+>/u;
const IDE = /^# Context from my IDE setup/u;
const REQUEST = /^## My request for Codex:\s*/mu;
/** Bytes of an IDE's context that are looked behind for the request: open files and a selection are smaller by far. */
const MOST_CONTEXT = 1024 * 1024;

/**
 * A row as `parseRecord` reads it, strings of big lines cut to `mostString` bytes, but for the context of an IDE: what
 * was typed stands behind it (agents.md §2.5). null: the line is no record.
 */
export function parseRow(line: Buffer, mostString?: number): ParsedRecord | null {
  const record = parseRecord(line, mostString);
  if (record === null || mostString === undefined) return record;
  for (const head of record.cuts.keys()) {
    if (IDE.test(head.trimStart())) return parseRecord(line, Math.max(mostString, MOST_CONTEXT));
  }
  return record;
}

/** The text a person typed, null when the program wrote the row. */
export function typedText(text: string, fromModelRows: boolean): string | null {
  const start = text.trimStart();
  if (INJECTED.some((mark) => start.startsWith(mark))) return null;
  if (fromModelRows && TAGGED.test(start)) return null;
  if (!IDE.test(start)) return text;
  const found = REQUEST.exec(start);
  return found === null ? text : start.slice(found.index + found[0].length);
}

/** Text of a message's content blocks, whatever their family calls them. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts: string[] = [];
  let pictures = 0;
  for (const block of content.map(fieldsOf)) {
    const text = textField(block, "text");
    if (text !== null) texts.push(text);
    else if (isPicture(block)) pictures += 1;
  }
  return texts.length === 0 && pictures > 0 ? "[image]" : texts.join("\n");
}

export function isPicture(block: Fields | null): boolean {
  return /image/iu.test(textField(block, "type") ?? "");
}
