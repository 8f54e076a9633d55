import { closeSync, constants, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { bytesOf } from "../../files/fold.ts";
import { goJson } from "../../files/go-json.ts";
import { readSmallFile } from "./atomic.ts";
import { isMemberName } from "./ids.ts";
import { parseObject } from "./json.ts";
import { readJsonLines, type Tail } from "./jsonl.ts";
import { type Message, messageData, readMessage } from "./message.ts";
import { repairMessages } from "./repair.ts";

/** What a transcript file holds, read without changing it. */
export interface MemberTranscript {
  messages: { message: Message; offset: number; line: number }[];
  tail: Tail | null;
  /** Whole lines that hold no message: codebot refuses the transcript for one. */
  badLines: number[];
}

/** One bare message per line, no envelope (codebot.md §11). */
export function readTranscript(bytes: Buffer): MemberTranscript {
  const { lines, tail, oversize } = readJsonLines(bytesOf(bytes));
  const messages: MemberTranscript["messages"] = [];
  const badLines = [...oversize];
  for (const { text, offset, line } of lines) {
    const message = readMessage(parseObject(text));
    if (message === null) badLines.push(line);
    else messages.push({ message, offset, line });
  }
  return { messages, tail, badLines };
}

/** The conversations of a session's teammates, one append-only file each. An empty directory name keeps nothing. */
export class TranscriptStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Adds messages, whole and unshortened, making directory and file when missing. */
  append(agent: string, messages: readonly Message[]): void {
    if (this.#directory === "" || agent === "" || messages.length === 0) return;
    const path = this.#path(agent);
    mkdirSync(this.#directory, { recursive: true, mode: 0o755 });
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    const fd = openSync(path, flags, 0o644);
    try {
      writeFileSync(fd, messages.map((message) => `${goJson(messageData(message))}\n`).join(""));
    } finally {
      closeSync(fd);
    }
  }

  /**
   * The repaired messages; empty when there is no file. A torn last line is cut off and a missing LF written, as
   * codebot does. Throws for a whole line that is no message.
   */
  load(agent: string): Message[] {
    if (this.#directory === "" || agent === "") return [];
    const path = this.#path(agent);
    const bytes = readSmallFile(path);
    if (bytes === null) return [];
    const { messages, tail, badLines } = readTranscript(bytes);
    if (badLines[0] !== undefined) throw new Error(`${path}, line ${badLines[0]}: malformed line`);
    if (tail !== null) mendTail(path, tail);
    return repairMessages(messages.map(({ message }) => message));
  }

  #path(agent: string): string {
    if (!isMemberName(agent)) throw new Error(`${JSON.stringify(agent)} cannot be a transcript's name`);
    return join(this.#directory, `${agent}.jsonl`);
  }
}

function mendTail(path: string, tail: Tail): void {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (tail.valid) writeSync(fd, "\n", tail.offset + tail.bytes);
    else ftruncateSync(fd, tail.offset);
  } finally {
    closeSync(fd);
  }
}
