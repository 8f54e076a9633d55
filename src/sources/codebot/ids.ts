import { randomBytes } from "node:crypto";

/** The id of every header entry: the root of the tree (codebot.md §2.2). */
export const HEADER_ID = "h0";

const EIGHT_HEX = /^[0-9a-f]{8}$/u;
const FILE_NAME = /^(\d{4}-\d{2}-\d{2})_([0-9a-f]{8})\.jsonl$/u;

/** Four random bytes as eight lowercase hex digits: session ids and entry ids alike (codebot.md §2). */
export function generateId(): string {
  return randomBytes(4).toString("hex");
}

/** May it be a session's id, and so a part of a path? */
export function isSessionId(text: string): boolean {
  return EIGHT_HEX.test(text);
}

/** The id in a session file's name, null when the name is none of codebot's. */
export function idOfFileName(name: string): string | null {
  return FILE_NAME.exec(name)?.[2] ?? null;
}

/**
 * The directory name of a working directory: every run of characters outside `[A-Za-z0-9]` becomes one `-`
 * (codebot.md §1). Lossy, so it is never decoded: the header's cwd is what counts.
 */
export function projectId(cwd: string): string {
  return cwd.replace(/[^A-Za-z0-9]+/gu, "-");
}

/** A team member's name that may become a file's name: no separator, no leading dot, not too long. */
export function isMemberName(name: string): boolean {
  return name !== "" && name.length <= 200 && !/[/\\\0]/u.test(name) && !name.startsWith(".");
}

/** A plan's slug that may become a file's name. */
export function isPlanName(name: string): boolean {
  return isMemberName(name);
}
