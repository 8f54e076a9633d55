import { type FoldedLines, noFoldedLines } from "../jsonl/folded-lines.ts";

/** A tool call of a reply: it is written only after it ran (agents.md §5.2). */
export interface GeminiCall {
  id: string;
  name: string;
  status: string;
  summary: string;
  /** Files it changed, as it names them. */
  edits: string[];
}

export interface GeminiTokens {
  /** As we count: without what came from the cache, with what tools put in (agents.md §0). */
  input: number;
  cacheRead: number;
  /** With thoughts. */
  output: number;
  reasoning: number;
  /** As the tool summed it. */
  total: number;
}

/** Where a record lies: its line, and its place in the list of a checkpoint; -1 on a line of its own. */
export type Spot = [number, number];

export interface GeminiMessage {
  id: string;
  type: string;
  /** ms, 0 when unknown. */
  time: number;
  /** Typed by a person: no command, no context, no tool's answer. */
  prompt: boolean;
  /** Nothing but answers of tools. */
  answer: boolean;
  /** Of prompts and errors, cut. */
  text: string;
  model: string | null;
  tokens: GeminiTokens | null;
  calls: GeminiCall[];
  /** The last record of it, and the last ones that had content, numbers and calls: a later one may leave them out. */
  at: Spot;
  contentAt: Spot | null;
  tokensAt: Spot | null;
  callsAt: Spot | null;
  /** Is it in the conversation as it is now? */
  active: boolean;
  /** Taken back by `$rewindTo`. */
  rewound: boolean;
}

/** One chat file as far as it was read. Plain data. */
export interface GeminiFile extends FoldedLines {
  id: string | null;
  kind: string | null;
  projectHash: string | null;
  /** Earliest and latest, ms. */
  startedAt: number | null;
  updatedAt: number | null;
  summary: string | null;
  /** What the person added to the project's directory. */
  directories: string[];
  /** The conversation as it is now. */
  active: string[];
  /** Every message that ever was, in order of appearance. */
  seen: string[];
  messages: Record<string, GeminiMessage>;
  /** What each rewind took away. */
  rewinds: string[][];
}

export function newGeminiFile(): GeminiFile {
  return {
    id: null,
    kind: null,
    projectHash: null,
    startedAt: null,
    updatedAt: null,
    summary: null,
    directories: [],
    active: [],
    seen: [],
    messages: {},
    rewinds: [],
    ...noFoldedLines(),
  };
}

export function messageOf(file: GeminiFile, id: string): GeminiMessage | null {
  return Object.hasOwn(file.messages, id) ? (file.messages[id] ?? null) : null;
}

export function messagesOf(file: GeminiFile, ids: readonly string[]): GeminiMessage[] {
  return ids.map((id) => messageOf(file, id)).filter((one) => one !== null);
}

/** Is there a conversation in it? Metadata and the context that every start writes are none (agents.md §5.2). */
export function isSession(file: GeminiFile): boolean {
  if (file.id === null) return false;
  return messagesOf(file, file.seen).some((one) => one.prompt || one.type === "gemini" || one.type === "error");
}
