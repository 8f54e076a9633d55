import type { Edit } from "../../session/edited-files.ts";
import { type FoldedLines, noFoldedLines } from "../jsonl/folded-lines.ts";

/** Tokens as codex writes them: input includes what was cached and what was written to the cache (agents.md §2.4). */
export interface RawUsage {
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  total: number;
}

/** Which of the families that repeat the same text a message is from (agents.md §2.2). */
export type Family = "item" | "event" | "response";

/** What a record without a `response_id` is called: nothing else in its file has its place. */
export function placeAsId(at: number): string {
  return `@${at}`;
}

interface Placed {
  /** Offset of its line. */
  at: number;
  /** The line's `ordinal`, -1 without one. May repeat: never a key. */
  ord: number;
  /** ms. */
  time: number | null;
  /** The thread the row names, when it is another one: a copied row. */
  thread?: string;
}

/** The rows of a rollout that numbers, titles and statuses come from, in file order. */
export type CodexEvent = Placed &
  (
    | { k: "prompt"; from: Family; text: string }
    | { k: "reply"; from: Family }
    | {
        k: "call";
        id: string;
        name: string;
        summary: string;
        asks: string | null;
        escalated: boolean;
        answered: boolean;
      }
    | { k: "result"; id: string }
    | { k: "record"; id: string; usage: RawUsage }
    | { k: "total"; total: RawUsage; last: RawUsage; window: number | null }
    | { k: "context"; turn: string | null; model: string | null; cwd: string | null; approval: string | null }
    | { k: "task"; turn: string | null; window: number | null }
    | { k: "done"; turn: string | null; error: string | null }
    | { k: "abort"; turn: string | null; reason: string | null }
    | { k: "compaction" }
    | { k: "rollback"; prompts: number }
  );

/** The file's own header: its first line, or what its name says where that is damaged (agents.md §2.2). */
export interface CodexMeta {
  id: string;
  /** The first line is no header any more: all else that stood there is lost. */
  headless: boolean;
  /** Root of the tree of threads. */
  sessionId: string | null;
  forkedFrom: string | null;
  parentThread: string | null;
  base: { thread: string; endOrdinal: number } | null;
  /** Rows before this ordinal are the parent's. */
  ownFrom: number | null;
  kind: "user" | "subagent" | "internal";
  nickname: string | null;
  role: string | null;
  source: string | null;
  cwd: string | null;
  gitBranch: string | null;
  version: string | null;
  provider: string | null;
  paginated: boolean;
  /** 1: bare header of 2025-05; 2: `{timestamp, type, payload}`. */
  generation: 1 | 2;
  time: number | null;
}

/** A rollout as far as it was read. Plain data. */
export interface CodexFile extends FoldedLines {
  /** null while the first line was not read, and where it is no header. */
  meta: CodexMeta | null;
  events: CodexEvent[];
  /** The threads of later `session_meta` lines: those it was copied from, the nearest first. */
  copiedMetas: string[];
  /** From `<environment_context>`, for files whose header has none. */
  environmentCwd: string | null;
  startedAt: number | null;
  updatedAt: number | null;
  /** Files that calls changed; the place is the number of events before it. */
  edits: Edit[];
  /** Keys of the last messages and calls: a line can be there twice. */
  recent: string[];
  /** Bytes of whole lines, after decompression. */
  bytes: number;
  /** Why a compressed file could not be read. */
  compression: string | null;
  /** Where reading began, when only the end of a big file was read; else 0. */
  low: number;
}

export function newCodexFile(): CodexFile {
  return {
    meta: null,
    events: [],
    copiedMetas: [],
    environmentCwd: null,
    startedAt: null,
    updatedAt: null,
    edits: [],
    recent: [],
    ...noFoldedLines(),
    bytes: 0,
    compression: null,
    low: 0,
  };
}
