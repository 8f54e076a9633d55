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

/** Sets a key whatever its name is: assigning `__proto__` would lose it. */
export function setKey(object: JsonObject, key: string, value: JsonTree): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
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
  let from = 0;
  let to = text.length;
  while (from < to && GO_SPACE.has(text.charCodeAt(from))) from += 1;
  // Backwards from the end: a pattern that ends in `$` tries every run of spaces within the text, each of them again and again.
  while (to > from && GO_SPACE.has(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const GO_SPACE: ReadonlySet<number> = new Set(
  [
    ..."\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
  ].map((space) => space.charCodeAt(0)),
);
