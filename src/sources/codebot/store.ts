import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openRegular } from "../../files/open.ts";
import { buildSnapshot, type ContextSnapshot, entryChain } from "./context.ts";
import { type Entry, formatEntry, parseEntry } from "./entry.ts";
import { formatGoTime, goNow, localDate } from "./go-time.ts";
import { generateId, HEADER_ID } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import { readJsonLines, type Tail } from "./jsonl.ts";
import { type Message, messageData, shortenThinking } from "./message.ts";
import {
  type GoalStateEntry,
  goalStateData,
  type Header,
  headerData,
  type LLMCallEntry,
  llmCallData,
  planStateData,
  readHeader,
  SESSION_VERSION,
} from "./payloads.ts";

/** A session file that codebot would not open, and why. */
export class SessionUnreadable extends Error {
  override name = "SessionUnreadable";
  readonly path: string;
  /** 1-based line, null when it is not about one. */
  readonly line: number | null;
  constructor(path: string, message: string, line: number | null = null) {
    super(`${path}${line === null ? "" : `, line ${line}`}: ${message}`);
    this.path = path;
    this.line = line;
  }
}

/** What a whole session file says, read as strictly as codebot reads it (codebot.md §14). */
export interface SessionFile {
  header: Header;
  /** By id; the last of a duplicate id wins. */
  entries: Map<string, Entry>;
  /** The last entry in the file. */
  leaf: string;
  tail: Tail | null;
}

/** Reads a session file strictly and changes nothing. Throws `SessionUnreadable` where codebot refuses it. */
export function readSessionFile(path: string): SessionFile {
  using file = openRegular(path);
  const { lines, tail, oversize } = readJsonLines(file);
  if (oversize[0] !== undefined) throw new SessionUnreadable(path, "line too long to be read", oversize[0]);
  const entries = new Map<string, Entry>();
  let leaf = HEADER_ID;
  for (const { text, line } of lines) {
    const entry = parseEntry(text);
    if (entry === null) throw new SessionUnreadable(path, "malformed line", line);
    if (entry.id === "") throw new SessionUnreadable(path, "entry without an id", line);
    entries.set(entry.id, entry);
    leaf = entry.id;
  }
  const first = entries.get(HEADER_ID);
  if (first === undefined) throw new SessionUnreadable(path, "no header");
  const header = first.kind === "header" ? readHeader(first.data) : null;
  if (header === null) throw new SessionUnreadable(path, "the header is not a header");
  if (header.version !== SESSION_VERSION) {
    throw new SessionUnreadable(path, `session version ${header.version}, not ${SESSION_VERSION}`);
  }
  return { header, entries, leaf, tail };
}

/**
 * One session file, open for appending (codebot.md §2, §14). One process per session is assumed, as codebot assumes it:
 * there is no lock. Every append is one line, chained to the current leaf; a failed one is taken back by truncation.
 */
export class Store {
  readonly #path: string;
  #header: Header;
  #leaf: string;
  #fd: number | null;
  #end: number;

  private constructor(path: string, header: Header, leaf: string, fd: number, end: number) {
    this.#path = path;
    this.#header = header;
    this.#leaf = leaf;
    this.#fd = fd;
    this.#end = end;
  }

  /** Makes a new session in a directory, which is made when missing. An existing file is never taken. */
  static create(directory: string, cwd: string): Store {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    for (let attempt = 0; ; attempt++) {
      const id = generateId();
      const created = goNow();
      const path = join(directory, `${localDate(Date.now())}_${id}.jsonl`);
      try {
        const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
        const fd = openSync(path, flags, 0o644);
        const header: Header = { version: SESSION_VERSION, sessionId: id, name: "", cwd, created };
        const store = new Store(path, header, HEADER_ID, fd, 0);
        store.#write(formatEntry(headerEntry(header)));
        return store;
      } catch (error) {
        if (attempt < 8 && error instanceof Error && "code" in error && error.code === "EEXIST") continue;
        throw error;
      }
    }
  }

  /** Opens a session as codebot does: a torn last line is cut off, a missing last LF is written. Throws `SessionUnreadable`. */
  static open(path: string): Store {
    const { header, leaf, tail } = readSessionFile(path);
    const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
    const store = new Store(path, header, leaf, fd, fstatSync(fd).size);
    if (tail?.valid === false) {
      ftruncateSync(fd, tail.offset);
      store.#end = tail.offset;
    } else if (tail !== null) store.#write("\n");
    return store;
  }

  /** The header with the name that was set last through this store. */
  header(): Header {
    return { ...this.#header };
  }

  path(): string {
    return this.#path;
  }

  /** May be called twice. */
  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  setName(name: string): void {
    this.#append("session_info", { name });
    this.#header.name = name;
  }

  /** Thinking is shortened in the file only; the given message is untouched. */
  appendMessage(message: Message): void {
    this.#append("message", messageData(shortenThinking(message)));
  }

  appendModelChange(provider: string, model: string): void {
    this.#append("model_change", { provider, model });
  }

  appendReasoningEffortChange(level: string): void {
    this.#append("reasoning_effort_change", { level });
  }

  /** Kept messages are written whole, thinking included. */
  appendCompaction(summary: string, keptMessages: readonly Message[] = []): void {
    const messages = keptMessages.map(messageData);
    this.#append("compaction", messages.length === 0 ? { summary } : { summary, messages });
  }

  appendPlanState(phase: string, slug = "", preMode = ""): void {
    this.#append("plan_state", planStateData({ phase, slug, preMode }));
  }

  appendGoalState(goal: GoalStateEntry): void {
    this.#append("goal_state", goalStateData(goal));
  }

  appendLLMCall(call: LLMCallEntry): void {
    this.#append("llm_call", llmCallData(call));
  }

  /** What codebot would restore from this file now. Throws `BrokenChain` or `SessionUnreadable`. */
  buildSnapshot(): ContextSnapshot {
    const { entries } = readSessionFile(this.#path);
    const snapshot = buildSnapshot(entryChain(entries, this.#leaf));
    if (snapshot.name !== null) this.#header.name = snapshot.name;
    return snapshot;
  }

  #append(kind: string, data: JsonObject): void {
    const id = generateId();
    this.#write(formatEntry({ kind, id, parentId: this.#leaf, timestamp: goNow(), data }));
    this.#leaf = id;
  }

  #write(text: string): void {
    if (this.#fd === null) throw new Error(`${this.#path} is closed`);
    const bytes = Buffer.from(text);
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#end + done);
    } catch (error) {
      // A half line would become a malformed one with the next append: take it back.
      ftruncateSync(this.#fd, this.#end);
      throw error;
    }
    this.#end += bytes.length;
  }
}

function headerEntry(header: Header): Entry {
  return {
    kind: "header",
    id: HEADER_ID,
    parentId: "",
    timestamp: header.created ?? goNow(),
    data: headerData(header),
  };
}

/** The first line of a new session file, with its LF. `createdMs` in ms since 1970. */
export function headerLine(header: Omit<Header, "created">, createdMs: number): string {
  return formatEntry(headerEntry({ ...header, created: formatGoTime(createdMs) }));
}
