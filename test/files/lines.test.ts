import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ByteSource, bytesOf, runNow } from "../../src/files/fold.ts";
import { walkLines } from "../../src/files/lines.ts";

interface Walked {
  lines: [offset: number, text: string][];
  oversize: [offset: number, length: number][];
  tail: [offset: number, text: string] | null;
  end: number;
}

function walk(bytes: ByteSource, from = 0, mostLine?: number): Walked {
  const seen: Walked = { lines: [], oversize: [], tail: null, end: 0 };
  seen.end = runNow(
    walkLines(
      bytes,
      from,
      {
        line: (line, offset) => seen.lines.push([offset, line.toString("latin1")]),
        oversize: (offset, length) => seen.oversize.push([offset, length]),
        tail: (tail, offset) => {
          seen.tail = [offset, tail.toString("latin1")];
        },
      },
      mostLine,
    ),
  );
  return seen;
}

/** What the walk must say, from a plain split of the whole text. */
function naive(text: string, mostLine: number): Walked {
  const seen: Walked = { lines: [], oversize: [], tail: null, end: 0 };
  const parts = text.split("\n");
  const rest = parts.pop() ?? "";
  for (const part of parts) {
    if (part.length > mostLine) seen.oversize.push([seen.end, part.length]);
    else seen.lines.push([seen.end, part]);
    seen.end += part.length + 1;
  }
  if (rest !== "" && rest.length <= mostLine) seen.tail = [seen.end, rest];
  return seen;
}

/** The same bytes, read in pieces of these lengths: what a chunk's border does to a line, without large files. */
function inPieces(text: string, pieces: readonly number[]): ByteSource {
  const whole = bytesOf(Buffer.from(text, "latin1"));
  let reads = 0;
  return {
    size: whole.size,
    read: (offset, length) => {
      const most = pieces[reads % pieces.length] ?? length;
      reads += 1;
      return whole.read(offset, Math.min(length, most));
    },
  };
}

describe("walking lines", () => {
  const text = fc
    .array(fc.oneof(fc.string({ unit: "binary-ascii", maxLength: 12 }), fc.constantFrom("\n", "\n\n", "\r\n", "")))
    .map((parts) => parts.join(""));
  const pieces = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });

  test("is a plain split on LF, wherever the chunks end", () => {
    fc.assert(
      fc.property(text, pieces, (whole, borders) => {
        expect(walk(inPieces(whole, borders))).toEqual(naive(whole, Number.POSITIVE_INFINITY));
      }),
      { numRuns: 500 },
    );
  });

  test("passes over lines above the cap, wherever the chunks end", () => {
    fc.assert(
      fc.property(text, pieces, fc.integer({ min: 1, max: 10 }), (whole, borders, most) => {
        expect(walk(inPieces(whole, borders), 0, most)).toEqual(naive(whole, most));
      }),
      { numRuns: 500 },
    );
  });

  test("goes on where it ended, and says the same as from the start", () => {
    fc.assert(
      fc.property(text, text, (before, more) => {
        const first = walk(bytesOf(Buffer.from(before, "latin1")));
        const grown = bytesOf(Buffer.from(before + more, "latin1"));
        const second = walk(grown, first.end);
        expect([...first.lines, ...second.lines]).toEqual(walk(grown).lines);
        expect(second.tail).toEqual(walk(grown).tail);
      }),
      { numRuns: 300 },
    );
  });

  test("only byte 0x0A ends a line: U+2028, CR and NEL are inside", () => {
    const bytes = Buffer.from('{"a":"x\u2028y\u0085z"}\r\n');
    const lines: string[] = [];
    runNow(walkLines(bytesOf(bytes), 0, { line: (line) => lines.push(line.toString("utf8")) }));
    expect(lines).toEqual(['{"a":"x\u2028y\u0085z"}\r']);
  });

  test("a line longer than many chunks comes whole, and is read about twice, not once a chunk", () => {
    const long = Buffer.alloc(5 * 1024 * 1024, "x");
    const bytes = bytesOf(Buffer.concat([Buffer.from("a\n"), long, Buffer.from("\nb\n")]));
    let read = 0;
    const counted: ByteSource = {
      size: bytes.size,
      read: (offset, length) => {
        const piece = bytes.read(offset, length);
        read += piece.length;
        return piece;
      },
    };
    const seen = walk(counted);
    expect(seen.lines.map(([offset, line]) => [offset, line.length])).toEqual([
      [0, 1],
      [2, long.length],
      [long.length + 3, 1],
    ]);
    expect(read).toBe(bytes.size);
  });

  test("a source that became shorter than it said ends the walk", () => {
    const short: ByteSource = { size: 100, read: (offset) => Buffer.from("a\nb").subarray(offset) };
    expect(walk(short)).toMatchObject({ lines: [[0, "a"]], tail: [2, "b"], end: 2 });
  });
});
