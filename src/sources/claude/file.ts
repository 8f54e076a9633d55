import type { Edit } from "../../session/edited-files.ts";
import { NEW_TAIL, type Tail } from "../by-process/tail.ts";
import { type FoldedLines, noFoldedLines } from "../jsonl/folded-lines.ts";

/** What a row is, as bits of `ClaudeFile.kinds`; the calls it makes, or answers, are counted above `CALLS`. */
export const ROW = {
  user: 1,
  assistant: 2,
  system: 4,
  attachment: 8,
  sidechain: 16,
  /** Typed by a person, or a slash command that became a prompt. */
  prompt: 32,
  result: 64,
  command: 128,
  calls: 256,
  boundary: 512,
  summary: 1024,
  /** Written by the program in the assistant's place: error texts. Not billed. */
  synthetic: 2048,
  interrupt: 4096,
  error: 8192,
} as const;

export const CALLS = 65536;

/** One API message, however many rows it was written as (agents.md §1.5). */
export interface ClaudeRequest {
  id: string;
  /** The row whose numbers count: the one with the most output. */
  row: number;
  /** ms, of its first row. */
  time: number | null;
  model: string | null;
  input: number;
  cacheRead: number;
  write5m: number;
  write1h: number;
  output: number;
  /** The sidechain inside this file that made it, null for the main chain. */
  side: string | null;
  /** Were its numbers in the file? A reply without them is a reply, but no request that can be counted. */
  counted: boolean;
}

/** A transcript file as far as it was read. Plain data; rows are numbered in file order, first copies only. */
export interface ClaudeFile extends FoldedLines {
  rows: Record<string, number>;
  /** Row of the parent, -1 without one. A compaction's boundary has its logical parent. */
  parents: number[];
  /** uuids of the first rows that have no parent: what copies of a conversation share. */
  roots: string[];
  offsets: number[];
  kinds: number[];
  /** Index into `requests`, -1. */
  messages: number[];
  /** ms, 0 when unknown. */
  times: number[];
  /** Rows whose parent had not been seen when they were read, and its uuid. */
  loose: [number, string][];
  /** Which sidechain inside this file a row belongs to. */
  sides: Record<string, string>;
  requests: ClaudeRequest[];
  byMessage: Record<string, number>;
  /** Results that the provider itself wrote into a reply (web search …): row → how many. */
  answered: Record<number, number>;
  /** The most tokens that a request of the main chain put in front of a model, by model. */
  mostContext: Record<string, number>;
  /** Last row of the main chain, -1. */
  leaf: number;
  sideLeaf: number;
  prompts: { row: number; text: string; command: boolean }[];
  boundaries: { row: number; post: number | null; head: string | null; tail: string | null }[];
  /** Answers of agents: tool call id → agent id. */
  agents: Record<string, string>;
  /** Files that calls of its own changed, on any branch. */
  edits: Edit[];
  models: string[];
  sideModels: string[];
  startedAt: number | null;
  updatedAt: number | null;
  cwd: string | null;
  lastCwd: string | null;
  gitBranch: string | null;
  version: string | null;
  entrypoint: string | null;
  sessionId: string | null;
  agentId: string | null;
  /** The last row that says it was copied, and from where. */
  forkedFrom: { session: string; row: number } | null;
  /** The last row of each session id that rows name: copies need not be rewritten. */
  sessionRows: Record<string, number>;
  customTitle: string | null;
  aiTitle: string | null;
  tag: string | null;
  summaries: Record<string, string>;
  queue: { offset: number; text: string }[];
  reportedCost: number | null;
  /** How the file ends, from its last conversational row (agents.md §1.6). */
  tail: Tail;
  /** A command whose next row decides whether it became a prompt: index into `prompts`, -1. */
  pendingCommand: number;
  /** How the file ended before that command, when the command alone opened a turn. */
  tailBefore: Tail | null;
  /** Where reading began, when only the end of a big file was read; else 0. */
  low: number;
}

export function newClaudeFile(): ClaudeFile {
  return {
    rows: {},
    parents: [],
    roots: [],
    offsets: [],
    kinds: [],
    messages: [],
    times: [],
    loose: [],
    sides: {},
    requests: [],
    byMessage: {},
    answered: {},
    mostContext: {},
    leaf: -1,
    sideLeaf: -1,
    prompts: [],
    boundaries: [],
    agents: {},
    edits: [],
    models: [],
    sideModels: [],
    startedAt: null,
    updatedAt: null,
    cwd: null,
    lastCwd: null,
    gitBranch: null,
    version: null,
    entrypoint: null,
    sessionId: null,
    agentId: null,
    forkedFrom: null,
    sessionRows: {},
    customTitle: null,
    aiTitle: null,
    tag: null,
    summaries: {},
    queue: [],
    reportedCost: null,
    tail: { ...NEW_TAIL },
    pendingCommand: -1,
    tailBefore: null,
    ...noFoldedLines(),
    low: 0,
  };
}

export function kindOf(file: ClaudeFile, row: number): number {
  return file.kinds[row] ?? 0;
}

export function callsOf(kind: number): number {
  return Math.floor(kind / CALLS);
}

/** Is `a` the later state of the same reply? Placeholders have no prompt yet, early rows little output. */
export function isFuller(a: ClaudeRequest, b: ClaudeRequest): boolean {
  return a.output !== b.output ? a.output > b.output : promptOf(a) > promptOf(b);
}

/** Tokens that it put in front of the model. */
export function promptOf({ input, cacheRead, write5m, write1h }: ClaudeRequest): number {
  return input + cacheRead + write5m + write1h;
}
