import { parseTrimmed } from "./trimmed-json.ts";

/** A JSON object whose fields are not yet checked. */
export type Fields = Record<string, unknown>;

export interface ParsedRecord {
  fields: Fields;
  /** Bytes that strings had before they were cut, by what is left of them. Empty when nothing was cut. */
  cuts: ReadonlyMap<string, number>;
}

/** Above this a line is read by the parser that cuts long strings. */
const BIG_LINE = 32 * 1024;
const NOTHING_CUT: ReadonlyMap<string, number> = new Map();

/**
 * One line of a JSONL file as an object, null when it is not one. NULs around it are dropped: after a power
 * cut a file system may leave a block of them before the next record (agents.md §0, bug reports).
 * `mostString` cuts longer strings of big lines; without it everything is whole.
 */
export function parseRecord(line: Buffer, mostString?: number): ParsedRecord | null {
  const bytes = withoutNuls(line);
  if (bytes.length === 0) return null;
  try {
    if (mostString !== undefined && bytes.length > BIG_LINE) {
      const cuts = new Map<string, number>();
      const found = fieldsOf(parseTrimmed(bytes, mostString, cuts));
      return found === null ? null : { fields: found, cuts };
    }
    const found = fieldsOf(JSON.parse(bytes.toString("utf8")));
    return found === null ? null : { fields: found, cuts: NOTHING_CUT };
  } catch {
    return null;
  }
}

/** The text of a line that is a JSON object, without the NULs around it; null when it is not one. */
export function recordText(line: Buffer): string | null {
  const text = withoutNuls(line).toString("utf8");
  try {
    return fieldsOf(JSON.parse(text)) === null ? null : text;
  } catch {
    return null;
  }
}

/** Nothing but white space and NULs: not a record, and no damage either. */
export function isBlankLine(line: Buffer): boolean {
  if (line.length > 4096) return false;
  return line.every((byte) => byte === 0 || byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function withoutNuls(line: Buffer): Buffer {
  if (line[0] !== 0 && line[line.length - 1] !== 0) return line;
  let from = 0;
  let to = line.length;
  while (from < to && line[from] === 0) from += 1;
  while (to > from && line[to - 1] === 0) to -= 1;
  return line.subarray(from, to);
}

export function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function field(of: Fields | null, key: string): unknown {
  return of !== null && Object.hasOwn(of, key) ? of[key] : undefined;
}

export function textField(of: Fields | null, key: string): string | null {
  const value = field(of, key);
  return typeof value === "string" ? value : null;
}

export function numberField(of: Fields | null, key: string): number | null {
  const value = field(of, key);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A count: a whole number from 0 on; anything else is 0. */
export function countField(of: Fields | null, key: string): number {
  const value = numberField(of, key);
  return value !== null && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.trunc(value) : 0;
}

export function objectField(of: Fields | null, key: string): Fields | null {
  return fieldsOf(field(of, key));
}

export function listField(of: Fields | null, key: string): unknown[] {
  const value = field(of, key);
  return Array.isArray(value) ? value : [];
}

/** ms since 1970 of an ISO time, null when it is none. */
export function timeField(of: Fields | null, key: string): number | null {
  const text = textField(of, key);
  if (text === null) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** The ISO form every value of ours has, null for no time. Out of a date's range is no time. */
export function isoTime(at: number | null): string | null {
  return at === null || !Number.isFinite(at) || Math.abs(at) > 8.64e15 ? null : new Date(at).toISOString();
}
