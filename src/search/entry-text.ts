import type { Entry } from "../session/entry.ts";

/** Deeper arguments are not looked into. */
const MOST_DEPTH = 64;

/**
 * What of an entry is searched: its text, and of a call the tool's name and every name and value of its arguments,
 * each on a line of its own, so that nothing is found that stands nowhere.
 */
export function entryText(entry: Entry): string {
  const parts: string[] = [];
  if (entry.call !== null) {
    parts.push(entry.call.name);
    addValue(entry.call.args, parts, 0);
  }
  if (entry.text !== null && entry.text !== "") parts.push(entry.text);
  if (entry.result?.fullOutput) parts.push(entry.result.fullOutput);
  return parts.join("\n");
}

function addValue(value: unknown, parts: string[], depth: number): void {
  if (typeof value === "string") parts.push(value);
  else if (typeof value === "number" || typeof value === "boolean") parts.push(String(value));
  else if (Array.isArray(value) && depth < MOST_DEPTH) for (const item of value) addValue(item, parts, depth + 1);
  else if (typeof value === "object" && value !== null && depth < MOST_DEPTH) {
    for (const [name, item] of Object.entries(value)) {
      parts.push(name);
      addValue(item, parts, depth + 1);
    }
  }
}
