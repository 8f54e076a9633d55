import { join } from "node:path";

/** What the program accepts as a session's name (herrscher.md §2). Anything else never becomes a path. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u;
/** A daemon's namespace; it becomes part of socket names (herrscher.md §2, §6). */
const INSTANCE_ID = /^[a-z0-9][a-z0-9-]{0,15}$/u;

export class InvalidSessionName extends Error {
  override name = "InvalidSessionName";
  readonly sessionName: string;
  constructor(sessionName: string) {
    super("not a session name: letters, digits, - and _ only, at most 64, beginning with a letter or a digit");
    this.sessionName = sessionName;
  }
}

export function isValidName(name: string): boolean {
  return NAME.test(name);
}

export function isValidInstanceID(id: string): boolean {
  return INSTANCE_ID.test(id);
}

/** The name the program makes of what a person typed: lower case, `[a-z0-9_-]`, at most 64, trimmed of `-` and `_`. */
export function slugName(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/gu, "-")
    .replace(/^[-_]+/u, "")
    .slice(0, 64);
  return slug.replace(/[-_]+$/u, "");
}

/** `<dir>/transcripts/<name>.jsonl` (herrscher.md §1). Throws {@link InvalidSessionName}. */
export function transcriptPath(dir: string, name: string): string {
  return join(dir, "transcripts", `${checkedName(name)}.jsonl`);
}

/** `<dir>/participants/<name>.log` (herrscher.md §1). Throws {@link InvalidSessionName}. */
export function participantsPath(dir: string, name: string): string {
  return join(dir, "participants", `${checkedName(name)}.log`);
}

function checkedName(name: string): string {
  if (!isValidName(name)) throw new InvalidSessionName(name);
  return name;
}
