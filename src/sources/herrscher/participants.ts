import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { runNow } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { refuseIfHeld, type WriteOptions } from "./held.ts";
import { goTrim } from "./json-tree.ts";
import { appendLine, openIfThere, unlinkIfThere } from "./transcript.ts";

/** The program's reader gives up at a line longer than this (herrscher.md §4). */
const MOST_LINE_BYTES = 64 * 1024;

/** Who has spoken, in the order of first appearance: trimmed, without blanks and repetitions. A missing file is nobody. */
export function readParticipants(path: string): string[] {
  using file = openIfThere(path);
  if (file === null) return [];
  const seen = new Set<string>();
  let ended = false;
  const take = (line: Buffer): void => {
    if (line.length >= MOST_LINE_BYTES) ended = true;
    const id = ended ? "" : goTrim(line.toString("utf8"));
    if (id !== "") seen.add(id);
  };
  const stop = (): void => {
    ended = true;
  };
  runNow(walkLines(file, 0, { line: take, tail: take, oversize: stop }, 16 * MOST_LINE_BYTES));
  return [...seen];
}

/**
 * Records an author, once: true when the journal did not have it. Makes the directory.
 * Throws DaemonHoldsRoot while a daemon runs on the root.
 */
export async function appendParticipant(path: string, userID: string, options: WriteOptions = {}): Promise<boolean> {
  const id = goTrim(userID);
  if (id === "" || /[\n\r]/u.test(id)) throw new RangeError("an author id is one line that is not empty");
  await refuseIfHeld(dirname(dirname(path)), options);
  if (readParticipants(path).includes(id)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  await appendLine(path, `${id}\n`);
  return true;
}

/** Deletes a journal; one that is not there is no error. Throws DaemonHoldsRoot while a daemon runs on the root. */
export async function removeParticipantJournal(path: string, options: WriteOptions = {}): Promise<void> {
  await refuseIfHeld(dirname(dirname(path)), options);
  await unlinkIfThere(path);
}
