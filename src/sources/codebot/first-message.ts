import { displayText, isInjected, type Message } from "./message.ts";

/** The text of a message that a person typed first; `""` for any other message (codebot.md §3). */
export function promptText(message: Message): string {
  return message.role === "user" && !isInjected(message) ? displayText(message) : "";
}

/**
 * The preview of codebot's own list: over 80 bytes become the first 77 and `...`. It may cut a character in two,
 * which reads as U+FFFD; our own titles are cut between characters instead.
 */
export function previewOf(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= 80 ? text : `${bytes.subarray(0, 77).toString("utf8")}...`;
}
