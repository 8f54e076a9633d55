import { createHash } from "node:crypto";
import { basename } from "node:path";

/** UUIDv7, or what `--session-id` gave (agents.md §3.1). */
export const SESSION_ID = /^[A-Za-z0-9._-]{1,200}$/u;

/** What may name an entry: anything else could not be an own key of a plain object without surprises. */
const ENTRY_ID = /^(?!__proto__$)[A-Za-z0-9_.:-]{1,128}$/u;

export function isEntryId(text: string): boolean {
  return ENTRY_ID.test(text);
}

/** `<time>_<id>.jsonl` → id; null for other names. */
export function idOfName(path: string): string | null {
  const id = /^\d{4}-\d{2}-\d{2}T[0-9-]+Z_(.+)\.jsonl$/u.exec(basename(path))?.[1];
  return id !== undefined && SESSION_ID.test(id) ? id : null;
}

/** Version 1 has no entry ids: one is made up from its place, the same at every reading. */
export function madeUpId(session: string, offset: number): string {
  return createHash("sha1").update(`${session}:${offset}`).digest("hex").slice(0, 8);
}
