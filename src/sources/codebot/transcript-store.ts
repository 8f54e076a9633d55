import { closeSync, constants, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type ByteSource, bytesOf } from "../../files/fold.ts";
import { goJson } from "../../files/go-json.ts";
import { CannotOpen, openRegular } from "../../files/open.ts";
import { appendLines } from "./atomic.ts";
import { isMemberName } from "./ids.ts";
import { parseObject } from "./json.ts";
import { readJsonLines, type Tail } from "./jsonl.ts";
import { type Message, messageData, readMessage } from "./message.ts";
import { repairMessages } from "./repair.ts";

const LF = 0x0a;

/** What a transcript file holds, read without changing it. */
export interface MemberTranscript {
  messages: { message: Message; offset: number; line: number }[];
  tail: Tail | null;
  /** Whole lines that hold no message: codebot refuses the transcript for one. */
  badLines: number[];
}

/** One bare message per line, no envelope (codebot.md §11). */
export function readTranscript(bytes: Buffer): MemberTranscript {
  return transcriptIn(bytesOf(bytes));
}

/** A transcript file line by line, however large it is; null when there is none. Throws `CannotOpen` for others. */
export function readTranscriptFile(path: string): MemberTranscript | null {
  try {
    using file = openRegular(path);
    return transcriptIn(file);
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return null;
    throw error;
  }
}

function transcriptIn(bytes: ByteSource): MemberTranscript {
  const { lines, tail, oversize } = readJsonLines(bytes);
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

  /** Adds messages, whole and unshortened, making directory and file when missing. A torn last line is cut off first. */
  append(agent: string, messages: readonly Message[]): void {
    if (this.#directory === "" || agent === "" || messages.length === 0) return;
    const path = this.#path(agent);
    const tail = unfinishedEnd(path);
    // Ended with an LF it would be a whole line that is no message, for which codebot refuses the transcript.
    if (tail?.valid === false) mendTail(path, tail);
    appendLines(path, messages.map((message) => `${goJson(messageData(message))}\n`).join(""));
  }

  /**
   * The repaired messages; empty when there is no file. A torn last line is cut off and a missing LF written, as
   * codebot does. Throws for a whole line that is no message.
   */
  load(agent: string): Message[] {
    if (this.#directory === "" || agent === "") return [];
    const path = this.#path(agent);
    const transcript = readTranscriptFile(path);
    if (transcript === null) return [];
    const { messages, tail, badLines } = transcript;
    if (badLines[0] !== undefined) throw new Error(`${path}, line ${badLines[0]}: malformed line`);
    if (tail !== null) mendTail(path, tail);
    return repairMessages(messages.map(({ message }) => message));
  }

  #path(agent: string): string {
    if (!isMemberName(agent)) throw new Error(`${JSON.stringify(agent)} cannot be a transcript's name`);
    return join(this.#directory, `${agent}.jsonl`);
  }
}

/** What stands behind the last LF of a file, which is only looked for where its last byte is none. */
function unfinishedEnd(path: string): Tail | null {
  try {
    using file = openRegular(path);
    const isEnded = file.size === 0 || file.read(file.size - 1, 1)[0] === LF;
    return isEnded ? null : readJsonLines(file).tail;
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return null;
    throw error;
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
