import { escapeLikeGo } from "./go-json.ts";

/**
 * JSON text kept as text. What we do not know in a tool's file must survive a rewrite: integers above 2^53,
 * the order of keys in nested objects, exact numbers (questmaster.md §5). So an object is cut into its members,
 * and each value stays the text it was until somebody asks for it.
 */
export type RawJson = string;

export class BadJson extends Error {
  override name = "BadJson";
}

/** The members of a JSON object, in order; of a key given twice the last value stays, at its first place. Throws `BadJson`. */
export function membersOf(text: string): Map<string, RawJson> {
  checkJson(text);
  let at = skipSpace(text, 0);
  if (text[at] !== "{") throw new BadJson("not a JSON object");
  const members = new Map<string, RawJson>();
  at = skipSpace(text, at + 1);
  while (text[at] !== "}") {
    const keyEnd = endOfValue(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, at);
    members.set(String(key), text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

/** The members that came through whole of a JSON object whose end was cut off. Empty when it does not begin like one. */
export function prefixMembers(text: string): Map<string, RawJson> {
  const members = new Map<string, RawJson>();
  let at = skipSpace(text, 0);
  if (text[at] !== "{") return members;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const colon = skipSpace(text, keyEnd);
    const from = skipSpace(text, colon + 1);
    const end = endOfValue(text, from);
    const next = skipSpace(text, end);
    // Only a comma or the closing brace behind it proves that a value is whole.
    if (text[colon] !== ":" || (text[next] !== "," && text[next] !== "}")) break;
    try {
      members.set(String(JSON.parse(text.slice(at, keyEnd))), checked(text.slice(from, end)));
    } catch {
      break;
    }
    at = skipSpace(text, next + 1);
  }
  return members;
}

function checked(raw: RawJson): RawJson {
  checkJson(raw);
  return raw;
}

/** The elements of a JSON array, or null when it is none. The text is a value that was cut out of valid JSON. */
export function elementsOf(raw: RawJson): RawJson[] | null {
  if (raw[0] !== "[") return null;
  const elements: RawJson[] = [];
  let at = skipSpace(raw, 1);
  while (raw[at] !== "]") {
    const end = endOfValue(raw, at);
    elements.push(raw.slice(at, end));
    at = skipSpace(raw, end);
    if (raw[at] === ",") at = skipSpace(raw, at + 1);
  }
  return elements;
}

/** A JSON object of raw members, on one line. */
export function rawObject(members: Iterable<readonly [string, RawJson]>): RawJson {
  const parts: string[] = [];
  for (const [key, raw] of members) parts.push(`${JSON.stringify(key)}:${raw}`);
  return `{${parts.join(",")}}`;
}

/** Without white space between tokens, escaped as Go does: how state.json is written. */
export function compactJson(raw: RawJson): string {
  let out = "";
  forEachToken(raw, (token) => {
    out += token;
  });
  return escapeLikeGo(out);
}

/** Indented by two spaces as Go's MarshalIndent does, `{}` and `[]` in one piece: how manifests are written. */
export function indentedJson(raw: RawJson): string {
  let out = "";
  let depth = 0;
  let opened = false;
  forEachToken(raw, (token) => {
    const closes = token === "}" || token === "]";
    if (closes) {
      depth -= 1;
      if (!opened) out += `\n${"  ".repeat(depth)}`;
    } else if (opened) out += `\n${"  ".repeat(depth)}`;
    opened = token === "{" || token === "[";
    if (opened) depth += 1;
    if (token === ",") out += `,\n${"  ".repeat(depth)}`;
    else out += token === ":" ? ": " : token;
  });
  return escapeLikeGo(out);
}

function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new BadJson(error instanceof Error ? error.message : String(error));
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\t" || text[at] === "\r") at += 1;
  return at;
}

/** Where the string that opens at `from` ends, behind its quote. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Where the value that begins at `from` ends. Walks with a counter, so that no nesting is too deep. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const mark = text[at];
    if (mark === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at;
    } else if (mark === "{" || mark === "[") {
      depth += 1;
      at += 1;
    } else if (mark === "}" || mark === "]") {
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
      if (depth === 0) return at;
    } else if (depth === 0 && (mark === "," || mark === ":" || (mark !== undefined && mark <= " "))) return at;
    else at += 1;
  }
  return at;
}

function forEachToken(raw: RawJson, take: (token: string) => void): void {
  let at = skipSpace(raw, 0);
  while (at < raw.length) {
    const mark = raw[at] ?? "";
    if ("{}[],:".includes(mark)) {
      take(mark);
      at = skipSpace(raw, at + 1);
      continue;
    }
    let end = at + 1;
    if (mark === '"') end = endOfString(raw, at);
    else while (end < raw.length && !/[\s{}[\],:]/u.test(raw[end] ?? "")) end += 1;
    take(raw.slice(at, end));
    at = skipSpace(raw, end);
  }
}
