import { escapeLikeGo, isRfc3339 } from "../../files/go-json.ts";
import { membersOf, type RawJson } from "../../files/raw-json.ts";

/** The ten kinds of record (statefile.md §4). */
export const KINDS = [
  "start",
  "config",
  "system",
  "message",
  "text",
  "thinking",
  "call",
  "step",
  "result",
  "error",
] as const;
export type Kind = (typeof KINDS)[number];

export function isKind(word: string): word is Kind {
  return (KINDS as readonly string[]).includes(word);
}

/** Token counters of a step. `input` excludes cache reads and writes on every provider. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** The JSON line before every body (statefile.md §3). Fields a kind does not have are absent. */
export interface Header {
  /** 1-based index in the file, as written; 0 when it is missing. */
  n: number;
  /** One of `KINDS`, or what a newer release wrote. */
  kind: string;
  id: string;
  /** RFC 3339 as written, empty when missing. */
  time: string;
  /** Body length, bytes. */
  len: number;
  /** Media type of the body. */
  type?: string;
  /** text, thinking, call: the step that closes it. */
  step?: string;
  /** thinking: who signed it. step: who served it. */
  provider?: string;
  /** result, error: id of the record it answers. */
  for?: string;
  /** result of `run`: 0 is written, absent means it was not a run. */
  exit?: number;
  truncated?: boolean;
  /** result: path of the whole output on the worker. */
  fullOutput?: string;
  /** message: connector name. error: who stopped the session. */
  via?: string;
  source?: string;
  /** step: n of the last record of its context; absent reads as 0. */
  upto?: number;
  model?: string;
  harness?: string;
  request?: string;
  usage?: Usage;
  /** step: provider cache markers, opaque JSON. */
  cache?: unknown;
}

export interface StateRecord extends Header {
  body: Buffer;
}

/** The file ends inside a record: a write in progress or a crash. Normal while a session is written. */
export class TornRecord extends Error {
  override name = "TornRecord";
  constructor() {
    super("torn record");
  }
}

/** A complete header line that the tool itself refuses: the file does not load. */
export class BadHeader extends Error {
  override name = "BadHeader";
}

type HeaderFault = "not-an-object" | "bad-len";

/** A header as far as it can be understood: `wrong` names the JSON fields whose type does not fit; they are left out. */
export type ParsedHeader =
  | { ok: true; header: Header; wrong: string[] }
  | { ok: false; fault: HeaderFault; shown: string };

type FieldType = "int" | "string" | "bool" | "time" | "usage" | "any";

/** In the order of statefile.md §3, which is the order the writer emits. */
const FIELDS: readonly [json: string, key: keyof Header, type: FieldType][] = [
  ["n", "n", "int"],
  ["kind", "kind", "string"],
  ["id", "id", "string"],
  ["time", "time", "time"],
  ["len", "len", "int"],
  ["type", "type", "string"],
  ["step", "step", "string"],
  ["provider", "provider", "string"],
  ["for", "for", "string"],
  ["exit", "exit", "int"],
  ["truncated", "truncated", "bool"],
  ["full_output", "fullOutput", "string"],
  ["via", "via", "string"],
  ["source", "source", "string"],
  ["upto", "upto", "int"],
  ["model", "model", "string"],
  ["harness", "harness", "string"],
  ["request", "request", "string"],
  ["usage", "usage", "usage"],
  ["cache", "cache", "any"],
];

const USAGE_FIELDS = [
  ["input", "input"],
  ["output", "output"],
  ["cache_read", "cacheRead"],
  ["cache_write", "cacheWrite"],
] as const;

/** Bodies are small (statefile.md §6); a longer one is a damaged length, and nothing is ever allocated by it. */
export const MOST_BODY_BYTES = 256 * 1024 * 1024;
/** A header without its LF beyond this is damage, not a write in progress. */
export const MOST_HEADER_BYTES = 1024 * 1024;

const NAMES: ReadonlySet<string> = new Set([...FIELDS, ...USAGE_FIELDS].map(([json]) => json));
const INTS: ReadonlySet<string> = new Set(FIELDS.filter(([, , type]) => type === "int").map(([json]) => json));
const USAGE_INTS: ReadonlySet<string> = new Set(USAGE_FIELDS.map(([json]) => json));

export function parseHeader(line: Buffer): ParsedHeader {
  const text = line.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, fault: "not-an-object", shown: "header is not JSON" };
  }
  if (!isObject(value)) return { ok: false, fault: "not-an-object", shown: "header is not a JSON object" };
  if (ODD_NUMBER.test(text)) checkInts(value, text);
  const fields = inOwnCase(value);
  const len = fields.len ?? 0;
  if (typeof len !== "number" || !Number.isInteger(len) || len < 0 || len > MOST_BODY_BYTES) {
    return { ok: false, fault: "bad-len", shown: `len ${JSON.stringify(len)?.slice(0, 40)}` };
  }
  const header: Header = { n: 0, kind: "", id: "", time: "", len };
  const wrong: string[] = [];
  for (const [json, key, type] of FIELDS) {
    const found = Object.hasOwn(fields, json) ? fields[json] : undefined;
    // For Go null is no value, but an opaque field holds even that.
    if (found === undefined || (found === null && type !== "any") || key === "len") continue;
    if (!assign(header, key, type, found)) wrong.push(json);
  }
  return { ok: true, header, wrong };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member whose number has a fraction or an exponent. Most headers have none, and looking at every number would cost each. */
const ODD_NUMBER = /"\s*:\s*-?[0-9]+[.eE]/u;

/**
 * Puts a text in the place of every integer that is not written as one: of the wrong type, as for the tool. 2.0 and 2e0 are
 * integers for JSON.parse. Only the header itself and its usage hold any; what is opaque stays as it is.
 */
function checkInts(fields: Record<string, unknown>, text: RawJson, names = INTS): void {
  for (const [key, raw] of membersOf(text)) {
    const name = key.toLowerCase();
    const value = fields[key];
    if (names.has(name) && Number.isInteger(value) && !/^-?[0-9]+$/u.test(raw)) fields[key] = raw;
    if (names === INTS && name === "usage" && isObject(value)) checkInts(value, raw, USAGE_INTS);
  }
}

/** With its names in the tool's own case: it takes them in any. Of two that differ by it the later one counts. */
function inOwnCase(fields: Record<string, unknown>): Record<string, unknown> {
  for (const key in fields) {
    if (NAMES.has(key) || !NAMES.has(key.toLowerCase())) continue;
    const named = Object.entries(fields).map(([name, value]): [string, unknown] => [name.toLowerCase(), value]);
    return Object.fromEntries(named);
  }
  return fields;
}

function assign(header: Header, key: keyof Header, type: FieldType, found: unknown): boolean {
  const value = type === "usage" ? usageOf(found) : found;
  const fits =
    type === "any" ||
    (type === "int" && Number.isSafeInteger(value)) ||
    (type === "string" && typeof value === "string") ||
    (type === "bool" && typeof value === "boolean") ||
    (type === "time" && typeof value === "string" && isRfc3339(value)) ||
    (type === "usage" && value !== null);
  // What was just checked is what the field's type says.
  if (fits) (header as unknown as Record<string, unknown>)[key] = value;
  return fits;
}

function usageOf(found: unknown): Usage | null {
  if (!isObject(found)) return null;
  const fields = inOwnCase(found);
  const usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const [json, key] of USAGE_FIELDS) {
    const count = fields[json] ?? 0;
    if (typeof count !== "number" || !Number.isSafeInteger(count)) return null;
    usage[key] = count;
  }
  return usage;
}

/** The bytes of one record: compact header as the tool writes it, LF, body, LF. `len` is taken from the body. */
export function encode(record: StateRecord): Buffer {
  const out: Record<string, unknown> = {};
  for (const [json, key, type] of FIELDS) {
    const value = key === "len" ? record.body.length : record[key];
    if (value === undefined) continue;
    const always = json === "n" || json === "kind" || json === "id" || json === "time" || json === "len";
    const zero = value === "" || value === false || (value === 0 && json !== "exit");
    if (!always && zero && type !== "any") continue;
    out[json] = type === "usage" ? usageJson(record.usage) : value;
  }
  return Buffer.concat([Buffer.from(`${escapeLikeGo(JSON.stringify(out))}\n`), record.body, LF]);
}

const LF = Buffer.from("\n");

function usageJson(usage: Usage | undefined): Record<string, number> | undefined {
  if (usage === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite } = usage;
  return {
    input,
    output,
    ...(cacheRead === 0 ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cache_write: cacheWrite }),
  };
}

/**
 * One record from `bytes` at `offset`, as strictly as the tool reads it, with the offset behind it; null at the end.
 * Throws `TornRecord` when the bytes end inside it (also when no LF follows the body) and `BadHeader` otherwise.
 */
export function decode(bytes: Buffer, offset = 0): { record: StateRecord; end: number } | null {
  if (offset >= bytes.length) return null;
  const headerEnd = bytes.indexOf(0x0a, offset);
  if (headerEnd < 0) throw new TornRecord();
  const parsed = parseHeader(bytes.subarray(offset, headerEnd));
  if (!parsed.ok) throw new BadHeader(parsed.shown);
  if (parsed.wrong[0] !== undefined) throw new BadHeader(`bad type for ${parsed.wrong[0]}`);
  const bodyEnd = headerEnd + 1 + parsed.header.len;
  if (bytes.length <= bodyEnd || bytes[bodyEnd] !== 0x0a) throw new TornRecord();
  // A copy: the caller's buffer may be large, and a body may be kept for long.
  return {
    record: { ...parsed.header, body: Buffer.from(bytes.subarray(headerEnd + 1, bodyEnd)) },
    end: bodyEnd + 1,
  };
}
