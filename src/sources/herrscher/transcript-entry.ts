import { goString, goTrim, isJsonObject, JsonNumber, type JsonTree, parseTree } from "./json-tree.ts";

/** One side of a turn, a line of `transcripts/<name>.jsonl` (herrscher.md §3). */
export interface TranscriptEntry {
  /** UTC, RFC 3339 with whole seconds, as written; "" when the line has none. */
  ts: string;
  /** `user` or `assistant`. */
  role: string;
  /** Untrusted. */
  text: string;
  /** US dollars of the turn, 0 when not reported. */
  cost: number;
  /** Reserved: never written today. */
  kind: string;
  /** Tokens of the turn, 0 when not reported; cache tokens are not part of `tokensIn`. */
  tokensIn: number;
  tokensOut: number;
  cacheRead: number;
  cacheCreate: number;
  /** Wall clock of the turn, ms. */
  durMs: number;
}

const STRINGS = { ts: "ts", role: "role", text: "text", kind: "kind" } as const;
const INTS = {
  tokens_in: "tokensIn",
  tokens_out: "tokensOut",
  cache_read: "cacheRead",
  cache_create: "cacheCreate",
  dur_ms: "durMs",
} as const;

type StringKey = keyof typeof STRINGS;
type IntKey = keyof typeof INTS;

export function blankTranscriptEntry(given: Partial<TranscriptEntry> = {}): TranscriptEntry {
  return {
    ts: "",
    role: "",
    text: "",
    cost: 0,
    kind: "",
    tokensIn: 0,
    tokensOut: 0,
    cacheRead: 0,
    cacheCreate: 0,
    durMs: 0,
    ...given,
  };
}

/** Did the vendor report anything of this turn? Codex and cursor report nothing but its duration: show –, not 0. */
export function reportsUsage(entry: TranscriptEntry): boolean {
  return (
    entry.cost !== 0 ||
    entry.tokensIn !== 0 ||
    entry.tokensOut !== 0 ||
    entry.cacheRead !== 0 ||
    entry.cacheCreate !== 0
  );
}

export type ParsedLine = { kind: "blank" } | { kind: "bad" } | { kind: "entry"; entry: TranscriptEntry };

const BLANK: ParsedLine = { kind: "blank" };
const BAD: ParsedLine = { kind: "bad" };

// An integer written as 1.0 or 1e3 is one for JSON.parse but not for the program, and one beyond 2^53 is rounded before it
// can be measured: only then the slow way is taken.
const DOUBTFUL_INT = /"(?:tokens_in|tokens_out|cache_read|cache_create|dur_ms)"\s*:\s*-?(?:[0-9]{16}|[0-9]*[.eE])/iu;
const INT64_MOST = 2n ** 63n - 1n;

/**
 * One line as the program's reader takes it (herrscher.md §3): blank lines are skipped, a wrong type in any known
 * field drops the whole line, `null` and `{}` are empty entries, unknown keys are ignored, keys match in any case.
 */
export function parseTranscriptLine(line: Buffer | string): ParsedLine {
  const text = goTrim(typeof line === "string" ? line : line.toString("utf8"));
  if (text === "") return BLANK;
  let value: unknown;
  try {
    value = DOUBTFUL_INT.test(text) ? withCheckedInts(parseTree(text)) : JSON.parse(text);
  } catch {
    return BAD;
  }
  if (value === null) return { kind: "entry", entry: blankTranscriptEntry() };
  if (typeof value !== "object" || Array.isArray(value)) return BAD;
  const entry = blankTranscriptEntry();
  for (const [key, field] of Object.entries(value)) {
    if (!take(entry, key, field)) return BAD;
  }
  return { kind: "entry", entry };
}

function take(entry: TranscriptEntry, key: string, value: unknown): boolean {
  const known = isKnown(key) ? key : key.toLowerCase();
  if (!isKnown(known) || value === null) return true;
  if (known === "cost") {
    if (typeof value !== "number" || !Number.isFinite(value)) return false;
    entry.cost = value;
    return true;
  }
  if (isIntKey(known)) {
    if (typeof value !== "number" || !Number.isInteger(value)) return false;
    entry[INTS[known]] = value;
    return true;
  }
  if (typeof value !== "string") return false;
  entry[STRINGS[known]] = value.toWellFormed();
  return true;
}

function isKnown(key: string): key is StringKey | IntKey | "cost" {
  return key === "cost" || Object.hasOwn(STRINGS, key) || isIntKey(key);
}

function isIntKey(key: string): key is IntKey {
  return Object.hasOwn(INTS, key);
}

/** The same object with plain numbers, but what is not written as an integer made a string, so that it is refused. */
function withCheckedInts(tree: JsonTree): unknown {
  if (!isJsonObject(tree)) return tree instanceof JsonNumber ? Number(tree.text) : tree;
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(tree)) {
    if (!(value instanceof JsonNumber)) plain[key] = value;
    else plain[key] = isIntKey(key.toLowerCase()) && !isInt64(value.text) ? value.text : Number(value.text);
  }
  return plain;
}

function isInt64(text: string): boolean {
  // A longer one is too large in any case, and measuring it would cost the square of its length.
  if (!/^-?[0-9]{1,19}$/u.test(text)) return false;
  const whole = BigInt(text);
  return whole <= INT64_MOST && whole >= -INT64_MOST - 1n;
}

/** The line the program writes for an entry, LF included: empty fields left out, its escaping, its order of keys. */
export function formatTranscriptLine(entry: TranscriptEntry): string {
  let line = `{"ts":${goString(entry.ts)},"role":${goString(entry.role)},"text":${goString(entry.text)}`;
  if (entry.cost !== 0) line += `,"cost":${String(entry.cost)}`;
  if (entry.kind !== "") line += `,"kind":${goString(entry.kind)}`;
  for (const [key, of] of Object.entries(INTS)) if (entry[of] !== 0) line += `,"${key}":${String(entry[of])}`;
  return `${line}}\n`;
}
