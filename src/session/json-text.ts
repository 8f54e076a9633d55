/** JSON nested deeper than this is shown as it stands: nobody reads it, and it would exhaust the stack. */
export const MOST_NESTING = 64;
/** Longest text that indenting makes, UTF-16 units: wide and deep JSON grows by its indentation alone. */
const MOST_INDENTED = 16 * 1024 * 1024;

/**
 * A valid JSON text, indented like `JSON.stringify(…, null, 2)`, but with every number, key and order as it was written:
 * an integer above 2^53 stays what it is. null where it is nested too deep or would become too long.
 */
export function indentedJson(json: string): string | null {
  let out = "";
  let depth = 0;
  let opened = false;
  for (const token of tokensOf(json)) {
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    if (opened !== closes) out += newLine(depth);
    opened = token === "{" || token === "[";
    if (opened) depth += 1;
    out += token === "," ? `,${newLine(depth)}` : token === ":" ? ": " : token;
    if (depth > MOST_NESTING || out.length > MOST_INDENTED) return null;
  }
  return out;
}

function newLine(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}

/** The tokens without the white space between them, what is escaped in a string as the character it is. */
function* tokensOf(json: string): Generator<string> {
  let at = 0;
  while (at < json.length) {
    const mark = json[at] ?? "";
    let end = at + 1;
    if (mark === '"') end = endOfString(json, at);
    else if (!"{}[],: \t\r\n".includes(mark)) while (end < json.length && !isBetween(json[end] ?? "")) end += 1;
    const token = json.slice(at, end);
    if (mark === '"' && token.includes("\\")) yield JSON.stringify(JSON.parse(token));
    else if (mark > " ") yield token;
    at = end;
  }
}

/** Does it end a number or a word? */
function isBetween(mark: string): boolean {
  return mark <= " " || ",:]}".includes(mark);
}

/** Behind the closing quote of the string that opens at `from`. */
function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Is a parsed JSON value nested deeper than anything that is shown as more than text? Never looks further down than that. */
export function isDeeplyNested(value: unknown, levels = MOST_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeplyNested(one, levels - 1));
}

/** A call's arguments for an entry: as text where they are nested so deep that whoever prints them would run out of stack. */
export function shownArguments(args: unknown): unknown {
  return isDeeplyNested(args) ? compactJson(args) : (args ?? null);
}

/** A parsed JSON value on one line, equal to `JSON.stringify(value)`, but without recursion: no nesting is too deep. */
export function compactJson(value: unknown): string {
  let out = "";
  const rest: Piece[] = [{ value }];
  for (let piece = rest.pop(); piece !== undefined; piece = rest.pop()) {
    if ("text" in piece) out += piece.text;
    else if (typeof piece.value !== "object" || piece.value === null) out += JSON.stringify(piece.value);
    else for (const inner of piecesOf(piece.value).reverse()) rest.push(inner);
  }
  return out;
}

type Piece = { text: string } | { value: unknown };

function piecesOf(value: object): Piece[] {
  const isArray = Array.isArray(value);
  const pieces: Piece[] = [{ text: isArray ? "[" : "{" }];
  for (const [key, member] of Object.entries(value)) {
    const comma = pieces.length > 1 ? "," : "";
    pieces.push({ text: isArray ? comma : `${comma}${JSON.stringify(key)}:` }, { value: member });
  }
  pieces.push({ text: isArray ? "]" : "}" });
  return pieces;
}
