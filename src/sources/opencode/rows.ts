import type { Fields } from "../jsonl/record.ts";
import type { Todo } from "./todos.ts";

/** The three generations of OpenCode's store, oldest first; of equal ids the newest generation wins (agents.md §4.1). */
export const GENERATIONS = ["json", "v1", "v2"] as const;
export type Generation = (typeof GENERATIONS)[number];

/** Tokens as OpenCode stores them: `output` without `reasoning`, `input` without caches (agents.md §0). */
export interface StoredTokens {
  input: number;
  output: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite: number;
}

/** A session's own row or file. Times in ms. */
export interface SessionRow {
  id: string;
  generation: Generation;
  /** The database, or the session's file. */
  path: string;
  parentId: string | null;
  forkId: string | null;
  /** The last message of the original that was copied. */
  forkBoundary: string | null;
  title: string | null;
  cwd: string | null;
  version: string | null;
  agent: string | null;
  cost: number | null;
  tokens: StoredTokens | null;
  revert: { message: string; part: string | null } | null;
  createdAt: number;
  updatedAt: number;
  archived: boolean;
  idleAt: number | null;
  suspendedAt: number | null;
  outcome: string | null;
  idleError: string | null;
}

/** What lists need of a message: never its text. */
export interface MessageRow {
  id: string;
  /** Order among the copies of a fork (v2), 0 elsewhere. */
  seq: number;
  /** `user`, `assistant`, or the type of any other row of v2. */
  role: string;
  createdAt: number;
  updatedAt: number;
  completedAt: number | null;
  provider: string | null;
  model: string | null;
  tokens: StoredTokens | null;
  cost: number | null;
  /** Why the model ended the reply, in its own word. */
  finish: string | null;
  error: { name: string; message: string | null } | null;
  /** The reply is the summary of a compaction. */
  summary: boolean;
}

/** A part of a message in v1's shape, whatever the generation; large strings may be cut. */
export interface Part {
  id: string;
  type: string;
  fields: Fields;
  /** Changes when the part does. */
  mark: string;
  /** Bytes of text that were left out. */
  clipped: number;
}

/** Some of a session's messages: the first or the last of them. */
export interface Some {
  edge: "first" | "last";
  most: number;
}

/** One generation of one place: sessions, and what hangs on them. Every call reads only what it returns. */
export interface SessionStore {
  generation: Generation;
  sessions(): SessionRow[];
  /** Equal as long as the session's messages are: cheap, for sessions that nobody seems to work on. */
  mark(session: SessionRow): string;
  /** As `mark`, but sees parts of the last messages that were written in place. */
  sharpMark(session: SessionRow): string;
  /** Bytes that `messages` would read, about. */
  weight(session: SessionRow): number;
  /** In order; without `some` all of them. */
  messages(session: SessionRow, some?: Some): { rows: MessageRow[]; bad: number };
  /** How many prompts and replies there are. Reads none of them. */
  count(session: SessionRow): number;
  /** Parts of a message; strings above `most` bytes are cut. */
  parts(session: SessionRow, message: string, most?: number): Part[];
  /** Calls in these messages. */
  countCalls(session: SessionRow, messages: readonly string[]): number;
  /** The agent's own list of things to do. */
  todos(session: SessionRow): Todo[];
}

/** What may be an id, and so a file's name. */
export const ID = /^[A-Za-z0-9_-]{1,128}$/u;
