import { goJson } from "../../files/go-json.ts";

/**
 * JSON as the program writes it: Go's HTML escaping, and numbers kept as the text they were read from,
 * so that integers beyond 2^53 and keys nobody knows survive a round trip (herrscher.md §2, §10).
 */

/** A number with its source text. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonTree = null | boolean | string | JsonNumber | JsonTree[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonTree;
}

/** Parses with every number as a {@link JsonNumber}. Throws a SyntaxError, as JSON.parse does. */
export function parseTree(text: string): JsonTree {
  const keepText = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" ? new JsonNumber(context?.source ?? String(value)) : value;
  // JSON.parse makes nothing else, and the reviver has replaced every number.
  return JSON.parse(text, keepText) as JsonTree;
}

export function isJsonObject(tree: JsonTree | undefined): tree is JsonObject {
  return typeof tree === "object" && tree !== null && !Array.isArray(tree) && !(tree instanceof JsonNumber);
}

/** A string as Go's encoder writes it; half of a surrogate pair becomes the replacement character, escaped. */
export function goString(text: string): string {
  const quoted = goJson(text);
  if (text.isWellFormed()) return quoted;
  return quoted.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/gu, (found) => (found === "\\\\" ? found : "\\ufffd"));
}

/** Two spaces an indent, no final newline. */
export function formatTree(tree: JsonTree, indent = ""): string {
  if (tree === null || typeof tree === "boolean") return String(tree);
  if (typeof tree === "string") return goString(tree);
  if (tree instanceof JsonNumber) return tree.text;
  const deeper = `${indent}  `;
  if (Array.isArray(tree)) {
    if (tree.length === 0) return "[]";
    return `[\n${tree.map((item) => deeper + formatTree(item, deeper)).join(",\n")}\n${indent}]`;
  }
  const rows = Object.entries(tree).map(([key, value]) => `${deeper}${goString(key)}: ${formatTree(value, deeper)}`);
  return rows.length === 0 ? "{}" : `{\n${rows.join(",\n")}\n${indent}}`;
}

/** White space at both ends as Go trims it: unlike `trim`, a byte order mark stays. */
export function goTrim(text: string): string {
  return text.replace(GO_SPACE_BEFORE, "").replace(GO_SPACE_AFTER, "");
}

const GO_SPACE_BEFORE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
const GO_SPACE_AFTER = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/u;
