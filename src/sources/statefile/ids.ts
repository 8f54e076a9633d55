import { randomBytes } from "node:crypto";

/** A new session or record id: 4 random bytes, lower-case hex (statefile.md §5). */
export function newId(): string {
  return randomBytes(4).toString("hex");
}

/** True for what `newId` makes, upper case too. Ids from outside become paths: anything else is refused before that. */
export function validId(id: string): boolean {
  return /^[0-9a-fA-F]{8}$/u.test(id);
}
