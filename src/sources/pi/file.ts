import type { Edit } from "../../session/edited-files.ts";
import type { Tokens } from "../../session/snapshot.ts";
import { type FoldedLines, noFoldedLines } from "../jsonl/folded-lines.ts";

/** What an entry is, as bits of `PiFile.kinds`; the calls it makes are counted above `CALLS`. */
export const ROW = {
  user: 1,
  assistant: 2,
  result: 4,
  /** A command the person ran (`!ls`): no model is asked. */
  bash: 8,
  compaction: 16,
  summary: 32,
  edit: 64,
  /** A reply with any text or call. */
  says: 128,
  error: 256,
  aborted: 512,
  /** `stopReason` stop or length: the turn is over. */
  stop: 1024,
  /** Written by pi or an extension, seen by the model. */
  injected: 2048,
} as const;

export const CALLS = 65536;

/** One request, whichever kind of entry recorded it (agents.md §3.3). */
interface PiRequest extends Tokens {
  row: number;
  /** Indexes into `names`, -1. */
  provider: number;
  model: number;
  /** US dollars as recorded, null when not. */
  cost: number | null;
}

export interface PiHeader {
  id: string;
  /** 1 where none is written. */
  version: number;
  /** ms. */
  startedAt: number | null;
  cwd: string | null;
  /** Path of the file it was copied from; it may be gone. */
  parentSession: string | null;
}

/** Results a call still waits for, and what a reply ended with. */
interface PiCall {
  row: number;
  id: string;
  name: string;
  summary: string;
  question: string | null;
}

/** A session file as far as it was read. Plain data; rows are numbered in file order. */
export interface PiFile extends FoldedLines {
  /** null until the first line was read, and for good when that is no header: then it is no session. */
  header: PiHeader | null;
  rows: Record<string, number>;
  ids: string[];
  parents: number[];
  /** Rows whose parent had not been read before them, and its id. */
  loose: [number, string][];
  offsets: number[];
  kinds: number[];
  times: number[];
  /** Index into `names` of the provider and the model in force, -1. */
  providers: number[];
  models: number[];
  names: string[];
  requests: PiRequest[];
  prompts: { row: number; text: string }[];
  /** Calls of replies, and the ids of calls that have results, by row. */
  calls: PiCall[];
  results: { row: number; id: string }[];
  errors: { row: number; text: string }[];
  /** `kept`: id of the first entry that stays in context, null for none; v1 has a line number instead. */
  compactions: { row: number; kept: string | null }[];
  edits: { row: number; target: string; omits: boolean }[];
  /** Files that calls changed, abandoned branches' too. */
  edited: Edit[];
  labels: Record<string, string>;
  /** The last `session_info` name; empty clears. */
  name: string | null;
  /** Models of replies and usage entries in order of first use. */
  used: string[];
  updatedAt: number | null;
}

export function newPiFile(): PiFile {
  return {
    header: null,
    rows: {},
    ids: [],
    parents: [],
    loose: [],
    offsets: [],
    kinds: [],
    times: [],
    providers: [],
    models: [],
    names: [],
    requests: [],
    prompts: [],
    calls: [],
    results: [],
    errors: [],
    compactions: [],
    edits: [],
    edited: [],
    labels: {},
    name: null,
    used: [],
    updatedAt: null,
    ...noFoldedLines(),
  };
}

export function kindOf(file: PiFile, row: number): number {
  return file.kinds[row] ?? 0;
}

export function callsOf(kind: number): number {
  return Math.floor(kind / CALLS);
}
