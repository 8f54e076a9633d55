import type { ByteSource, FileFold } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { parseTranscriptLine, reportsUsage, type TranscriptEntry } from "./transcript-entry.ts";

/** What a transcript adds up to (herrscher.md §3, §7). Plain data. */
export interface TranscriptSums {
  entries: number;
  /** Whole lines that are neither blank nor an entry. */
  droppedLines: number;
  userEntries: number;
  /** Assistant entries. */
  turns: number;
  /** US dollars, the plain sum in file order. */
  cost: number;
  tokensIn: number;
  tokensOut: number;
  cacheRead: number;
  cacheCreate: number;
  /** Turns the vendor reported anything of. */
  reportedTurns: number;
  /** Turns with a cost. */
  pricedTurns: number;
  durMs: number;
  /** `ts` of the first and the last entry, "" without one. */
  startedAt: string;
  lastAt: string;
  lastRole: string;
  /** Beginning of the last entry's text. Untrusted. */
  lastText: string;
  /** Beginning of the last user entry's text, null before the first. Untrusted. */
  task: string | null;
  /** Bytes of the last line that is not blank, without its end. */
  lastLineBytes: number;
}

export interface TranscriptState {
  /** Over all whole lines. */
  whole: TranscriptSums;
  /** 1-based lines read so far. */
  lines: number;
  /** The first dropped lines. */
  dropped: { line: number; bytes: number }[];
  /** The piece behind the last LF; `sums` is null when it does not parse (yet). Reckoned anew each time. */
  tail: { bytes: number; sums: TranscriptSums | null; blank: boolean } | null;
}

/** More dropped lines than this are only counted. */
const MOST_DROPPED = 50;
/** What is kept of a text: rows and titles show its beginning. */
const MOST_TEXT = 2000;

export const transcriptFold: FileFold<TranscriptState> = {
  name: "herrscher/transcript",
  version: 2,
  initial: () => ({ whole: noSums(), lines: 0, dropped: [], tail: null }),
  *advance(state: TranscriptState, bytes: ByteSource, from: number) {
    state.tail = null;
    const drop = (length: number): void => {
      state.whole.droppedLines += 1;
      if (state.dropped.length < MOST_DROPPED) state.dropped.push({ line: state.lines, bytes: length });
    };
    return yield* walkLines(bytes, from, {
      line(line) {
        state.lines += 1;
        const parsed = parseTranscriptLine(line);
        if (parsed.kind === "blank") return;
        state.whole.lastLineBytes = line.length;
        if (parsed.kind === "entry") add(state.whole, parsed.entry);
        else drop(line.length);
      },
      oversize(_offset, length) {
        state.lines += 1;
        state.whole.lastLineBytes = length;
        drop(length);
      },
      tail(line) {
        const parsed = parseTranscriptLine(line);
        const sums = parsed.kind === "entry" ? { ...state.whole, lastLineBytes: line.length } : null;
        if (sums !== null && parsed.kind === "entry") add(sums, parsed.entry);
        state.tail = { bytes: line.length, sums, blank: parsed.kind === "blank" };
      },
    });
  },
};

/** The sums with the unfinished last line where that already parses: the program counts it too. */
export function transcriptSums(state: TranscriptState): TranscriptSums {
  const { tail, whole } = state;
  if (tail === null || tail.blank) return whole;
  return tail.sums ?? { ...whole, lastLineBytes: tail.bytes };
}

/** The last line has no end and does not parse: a write in progress, or one that was killed. */
export function tornTail(state: TranscriptState): { bytes: number; line: number } | null {
  const { tail } = state;
  return tail === null || tail.blank || tail.sums !== null ? null : { bytes: tail.bytes, line: state.lines + 1 };
}

export function noSums(): TranscriptSums {
  return {
    entries: 0,
    droppedLines: 0,
    userEntries: 0,
    turns: 0,
    cost: 0,
    tokensIn: 0,
    tokensOut: 0,
    cacheRead: 0,
    cacheCreate: 0,
    reportedTurns: 0,
    pricedTurns: 0,
    durMs: 0,
    startedAt: "",
    lastAt: "",
    lastRole: "",
    lastText: "",
    task: null,
    lastLineBytes: 0,
  };
}

function add(sums: TranscriptSums, entry: TranscriptEntry): void {
  sums.entries += 1;
  if (sums.entries === 1) sums.startedAt = entry.ts;
  sums.lastAt = entry.ts;
  sums.lastRole = entry.role;
  sums.lastText = entry.text.slice(0, MOST_TEXT);
  if (entry.role === "user") {
    sums.userEntries += 1;
    sums.task = sums.lastText;
  }
  // Usage sits on replies only; whatever else carries numbers is not counted by the program either.
  if (entry.role !== "assistant") return;
  sums.turns += 1;
  sums.cost += entry.cost;
  sums.tokensIn += entry.tokensIn;
  sums.tokensOut += entry.tokensOut;
  sums.cacheRead += entry.cacheRead;
  sums.cacheCreate += entry.cacheCreate;
  sums.durMs += entry.durMs;
  if (reportsUsage(entry)) sums.reportedTurns += 1;
  if (entry.cost !== 0) sums.pricedTurns += 1;
}
