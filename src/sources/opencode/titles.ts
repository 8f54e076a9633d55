import { titleLine } from "../../session/untrusted.ts";

/** OpenCode names a new session by its time until a model has found a title, a copy of it likewise (agents.md §4.4). */
const UNTITLED = /^(?:New|Child) session - \d{4}-\d{2}-\d{2}T[0-9:.]+Z(?: \(fork(?: #\d+)?\))?$/u;

const NUMBERED = /^(.*) \(fork #(\d{1,6})\)$/su;

/** A title that somebody gave, null for none. */
export function givenTitle(title: string | null): string | null {
  const line = title === null || UNTITLED.test(title) ? "" : titleLine(title);
  return line === "" ? null : line;
}

/** "X" → "X (fork #1)" → "X (fork #2)", as OpenCode counts them; what has no title at all is named by its time first. */
export function forkTitle(title: string | null, createdAt: number): string {
  const [, base, number] = NUMBERED.exec(title ?? "") ?? [];
  if (base !== undefined) return `${base} (fork #${Number(number) + 1})`;
  const named = title === null || title.trim() === "" ? `New session - ${new Date(createdAt).toISOString()}` : title;
  return `${named} (fork #1)`;
}

/** "X (fork #1)" was made from "X", "X (fork #2)" from "X (fork #1)"; null: it is not named as a fork. */
export function originTitle(title: string | null): string | null {
  const [, base, number] = NUMBERED.exec(title ?? "") ?? [];
  if (base === undefined) return null;
  return number === "1" ? base : `${base} (fork #${Number(number) - 1})`;
}

export function isForkTitle(title: string | null): boolean {
  return / \(fork(?: #\d+)?\)$/u.test(title ?? "");
}
