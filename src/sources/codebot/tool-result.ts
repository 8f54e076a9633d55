import { indentedJson } from "../../session/json-text.ts";
import { isObject } from "./json.ts";
import { blocksOf, type Message } from "./message.ts";

export interface ToolResult {
  text: string;
  exit: number | null;
  /** The output was too long and was put aside. */
  truncated: boolean;
  /** The file it was put into, which may be gone by now. */
  fullOutput: string | null;
}

/**
 * What a tool said. Its raw JSON stands in one text block, so it is decoded a second time: a string is shown as such,
 * `{output, exit_code}` as its output, other objects indented with their numbers as they were written, anything else as
 * it is (codebot.md §5).
 */
export function toolResult(message: Message): ToolResult {
  const texts = blocksOf(message).flatMap((block) => (block.type === "text" && block.text ? [block.text] : []));
  const { text, exit } = texts.length === 1 ? decoded(texts[0] ?? "") : { text: texts.join("\n"), exit: null };
  const truncated = text.includes("<persisted-output>");
  const fullOutput = truncated ? (/[^\s"'<>]*tool-outputs\/[^\s"'<>]+/u.exec(text)?.[0] ?? null) : null;
  return { text, exit, truncated, fullOutput };
}

function decoded(raw: string): { text: string; exit: number | null } {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return { text: raw, exit: null };
  }
  if (typeof value === "string") return { text: value, exit: null };
  if (!isObject(value)) return { text: raw, exit: null };
  const exit = typeof value.exit_code === "number" ? value.exit_code : null;
  if (typeof value.output === "string" && Object.keys(value).every((key) => key === "output" || key === "exit_code")) {
    return { text: value.output, exit };
  }
  return { text: indentedJson(raw) ?? raw, exit };
}
