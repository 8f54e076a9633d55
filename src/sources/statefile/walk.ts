import type { ByteSource } from "../../files/fold.ts";
import { type Header, MOST_BODY_BYTES, MOST_HEADER_BYTES, parseHeader } from "./record.ts";

/** What stands behind the last whole record (statefile.md §6). */
export type Tail = "clean" | "torn-header" | "torn-body" | "torn-newline" | "bad-newline" | "bad-header" | "bad-len";

/** torn: normal, a write in progress or a crash. bad: damage, nothing behind it can be read. */
export function isTorn(tail: Tail): boolean {
  return tail.startsWith("torn");
}

export interface WalkedRecord {
  header: Header;
  /** JSON names of header fields whose type does not fit; the tool refuses such a file. */
  wrong: string[];
  /** Offset of the first byte of the header, of the body, and behind the record. */
  start: number;
  bodyAt: number;
  end: number;
  /** The header line. Only valid during the call. */
  line: Buffer;
  /** At most `most` bytes of the body. */
  body(most: number): Buffer;
}

export interface WalkEnd {
  /** Behind the last whole record. */
  good: number;
  tail: Tail;
}

const WINDOW = 256 * 1024;

/**
 * Walks the whole records from offset `from`, tolerantly: a header field of a wrong type is left out, not fatal. Large
 * bodies are stepped over, not read. `visit` returns false to stop. Yields once a window, so that long files can be
 * read in slices.
 */
export function* walkRecords(
  bytes: ByteSource,
  from: number,
  visit: (record: WalkedRecord) => boolean | undefined,
): Generator<void, WalkEnd> {
  let window: Buffer = Buffer.alloc(0);
  let windowAt = from;
  let good = from;

  /** The bytes [at, at + length), as far as the file goes; the window moves there when they are not in it. */
  const slice = (at: number, length: number): Buffer => {
    const wanted = Math.min(length, bytes.size - at);
    if (at < windowAt || at + wanted > windowAt + window.length) {
      window = bytes.read(at, Math.min(Math.max(WINDOW, wanted), bytes.size - at));
      windowAt = at;
    }
    return window.subarray(at - windowAt, at - windowAt + wanted);
  };

  while (good < bytes.size) {
    const before = windowAt;
    const header = headerLine(slice, good, bytes.size);
    if (header === null) {
      const tooLong = bytes.size - good > MOST_HEADER_BYTES;
      return { good, tail: tooLong ? "bad-header" : "torn-header" };
    }
    const parsed = parseHeader(header);
    if (!parsed.ok) return { good, tail: parsed.fault === "bad-len" ? "bad-len" : "bad-header" };
    const bodyAt = good + header.length + 1;
    const bodyEnd = bodyAt + parsed.header.len;
    if (bodyEnd > bytes.size) return { good, tail: "torn-body" };
    if (bodyEnd === bytes.size) return { good, tail: "torn-newline" };
    const inWindow = bodyEnd < windowAt + window.length;
    const lf = inWindow ? window[bodyEnd - windowAt] : bytes.read(bodyEnd, 1)[0];
    if (lf !== 0x0a) return { good, tail: "bad-newline" };
    const more = visit({
      header: parsed.header,
      wrong: parsed.wrong,
      start: good,
      bodyAt,
      end: bodyEnd + 1,
      line: header,
      body: (most) => {
        const length = Math.min(most, parsed.header.len, MOST_BODY_BYTES);
        return inWindow ? slice(bodyAt, length) : bytes.read(bodyAt, length);
      },
    });
    good = bodyEnd + 1;
    if (more === false) return { good, tail: "clean" };
    if (windowAt !== before) yield;
  }
  return { good, tail: "clean" };
}

/** The header line at `at` without its LF; null when none ends within the cap or the file. */
function headerLine(slice: (at: number, length: number) => Buffer, at: number, size: number): Buffer | null {
  let look = 4096;
  for (;;) {
    const bytes = slice(at, look);
    const end = bytes.indexOf(0x0a);
    if (end >= 0) return bytes.subarray(0, end);
    if (look > MOST_HEADER_BYTES || at + look >= size) return null;
    look *= 4;
  }
}
