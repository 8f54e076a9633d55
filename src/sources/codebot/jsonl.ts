import { type ByteSource, runNow } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";

/** What stands after the last LF of a JSONL file (codebot.md §14). */
export interface Tail {
  offset: number;
  bytes: number;
  /** Valid JSON counts as a record, anything else is a torn append. */
  valid: boolean;
  text: string;
}

export interface JsonLine {
  /** Trimmed. */
  text: string;
  offset: number;
  /** 1-based, blank lines counted. */
  line: number;
}

/** Every line that is not blank, the unterminated last one only when it is a record, and what the tail is. */
export function readJsonLines(bytes: ByteSource): { lines: JsonLine[]; tail: Tail | null; oversize: number[] } {
  const lines: JsonLine[] = [];
  const oversize: number[] = [];
  let tail: Tail | null = null;
  let line = 0;
  runNow(
    walkLines(bytes, 0, {
      line: (buffer, offset) => {
        line += 1;
        const text = buffer.toString("utf8").trim();
        if (text !== "") lines.push({ text, offset, line });
      },
      oversize: () => {
        line += 1;
        oversize.push(line);
      },
      tail: (buffer, offset) => {
        tail = tailOf(buffer, offset);
      },
    }),
  );
  const last: Tail | null = tail;
  if (last !== null) pushTail(lines, last, line + 1);
  return { lines, tail: last, oversize };
}

function pushTail(lines: JsonLine[], tail: Tail, line: number): void {
  if (tail.valid) lines.push({ text: tail.text, offset: tail.offset, line });
}

/** Judges the bytes after the last LF; null when they are only white space. */
export function tailOf(buffer: Buffer, offset: number): Tail | null {
  const text = buffer.toString("utf8").trim();
  if (text === "") return null;
  return { offset, bytes: buffer.length, valid: isJson(text), text };
}

/** Is it a JSON value, of whatever kind? */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
