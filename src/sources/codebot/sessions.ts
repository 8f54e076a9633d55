import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen, openRegular } from "../../files/open.ts";
import { parseEntry } from "./entry.ts";
import { previewOf, promptText } from "./first-message.ts";
import { compareInstants, type GoTime, instantOf } from "./go-time.ts";
import { isSessionId } from "./ids.ts";
import { readJsonLines } from "./jsonl.ts";
import { readMessage } from "./message.ts";
import { readHeader, readSessionName, SESSION_VERSION } from "./payloads.ts";
import { Store } from "./store.ts";

/** One session in a list (codebot.md §3). */
export interface SessionInfo {
  id: string;
  name: string;
  path: string;
  cwd: string;
  created: GoTime | null;
  /** The latest time of any entry in the file. */
  updated: GoTime | null;
  messageCount: number;
  /** codebot's own preview, at most 80 bytes. */
  firstMessage: string;
}

/** A file the list leaves out, and why. */
export interface SkippedFile {
  path: string;
  reason: string;
}

/** The sessions of one project directory. */
export class Manager {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  create(cwd: string): Store {
    return Store.create(this.dir, cwd);
  }

  /** Newest `updated` first. `skipped` is told of every file that is left out. */
  list(skipped?: (file: SkippedFile) => void): SessionInfo[] {
    const sessions: SessionInfo[] = [];
    for (const name of this.#names()) {
      const path = join(this.dir, name);
      const info = readSessionInfo(path);
      if (typeof info === "string") skipped?.({ path, reason: info });
      else sessions.push(info);
    }
    return sessions.sort((a, b) => newestFirst(a.updated, b.updated));
  }

  mostRecent(): SessionInfo | null {
    return this.list()[0] ?? null;
  }

  /** Throws when there is no session of this id. */
  open(id: string): Store {
    const name = isSessionId(id) ? this.#names().find((one) => one.endsWith(`_${id}.jsonl`)) : undefined;
    if (name === undefined) throw new Error(`no session ${JSON.stringify(id)} in ${this.dir}`);
    return Store.open(join(this.dir, name));
  }

  openPath(path: string): Store {
    return Store.open(path);
  }

  #names(): string[] {
    try {
      const entries = readdirSync(this.dir, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
        .map((entry) => entry.name)
        .sort();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  }
}

function newestFirst(a: GoTime | null, b: GoTime | null): number {
  const [left, right] = [instantOf(a), instantOf(b)];
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  return compareInstants(right, left);
}

/** The row of one file, or why it has none. Bad lines after the header are passed over; no line is too long. */
export function readSessionInfo(path: string): SessionInfo | string {
  try {
    using file = openRegular(path);
    const [first, ...rest] = readJsonLines(file).lines;
    if (first === undefined) return "empty file";
    const header = readFirstLine(first.text);
    if (typeof header === "string") return header;
    if (header.version !== SESSION_VERSION) return `unsupported version: ${header.version}`;
    const info: SessionInfo = {
      id: header.sessionId,
      name: header.name,
      path,
      cwd: header.cwd,
      created: header.created,
      updated: header.updated,
      messageCount: 0,
      firstMessage: "",
    };
    for (const { text } of rest) addLine(info, text);
    return info;
  } catch (error) {
    if (error instanceof CannotOpen) return error.message;
    throw error;
  }
}

function readFirstLine(text: string) {
  try {
    JSON.parse(text);
  } catch {
    return "first line is not valid JSON";
  }
  const entry = parseEntry(text);
  const header = entry?.kind === "header" ? readHeader(entry.data) : null;
  if (entry === null || header === null) return "first line is not a header";
  return { ...header, updated: instantOf(entry.timestamp) === null ? header.created : entry.timestamp };
}

function addLine(info: SessionInfo, text: string): void {
  const entry = parseEntry(text);
  if (entry === null) return;
  if (newestFirst(entry.timestamp, info.updated) < 0) info.updated = entry.timestamp;
  if (entry.kind === "session_info") info.name = readSessionName(entry.data) ?? info.name;
  if (entry.kind !== "message") return;
  info.messageCount += 1;
  const message = info.firstMessage === "" ? readMessage(entry.data) : null;
  if (message !== null) info.firstMessage = previewOf(promptText(message));
}
