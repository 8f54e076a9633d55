import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cutCodePoints } from "../../session/untrusted.ts";
import { readSmallText, removeIfThere, writeAtomically } from "./atomic.ts";
import { isPlanName } from "./ids.ts";

/** One plan in a list. */
export interface PlanFile {
  /** File name without `.md`. */
  name: string;
  /** Unix time of its last change, seconds. */
  modTime: number;
}

/** The plan files, one directory for all projects (codebot.md §9). */
export class PlanStore {
  readonly #directory: string;

  /** Makes sure the directory is there. */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o755 });
  }

  dir(): string {
    return this.#directory;
  }

  /** Throws for a name that cannot be a file's. */
  path(name: string): string {
    return planPath(this.#directory, name);
  }

  /** Newest first. */
  list(): PlanFile[] {
    return listPlans(this.#directory);
  }

  /** `""` when there is no such plan. */
  load(name: string): string {
    return readSmallText(this.path(name)) ?? "";
  }

  save(name: string, content: string): void {
    const path = this.path(name);
    writeAtomically(path, content, { mode: 0o600, temporary: `${path}.tmp` });
  }

  delete(name: string): void {
    removeIfThere(this.path(name));
  }
}

export function planPath(directory: string, name: string): string {
  if (!isPlanName(name)) throw new Error(`${JSON.stringify(name)} cannot be a plan's name`);
  return join(directory, `${name}.md`);
}

/** The plans of a directory that can be loaded, newest first, ties by name; none when it is missing. Changes nothing. */
export function listPlans(directory: string): PlanFile[] {
  let files: string[];
  try {
    files = readdirSync(directory).filter((file) => file.endsWith(".md"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return files
    .map((file) => file.slice(0, -".md".length))
    .filter(isPlanName)
    .flatMap((name) => {
      const stat = lstatSync(planPath(directory, name), { throwIfNoEntry: false });
      return stat?.isFile() ? [{ name, changedMs: stat.mtimeMs }] : [];
    })
    .sort((a, b) => b.changedMs - a.changedMs || (a.name < b.name ? -1 : 1))
    .map(({ name, changedMs }) => ({ name, modTime: Math.floor(changedMs / 1000) }));
}

/** First heading or line that says something, at most 60 characters; `(untitled)` when there is none (codebot.md §9). */
export function planTitle(text: string): string {
  for (const line of text.split("\n")) {
    const title = line
      .trim()
      .replace(/^#+\s*/u, "")
      .trim();
    if (title !== "") return cutCodePoints(title, 60);
  }
  return "(untitled)";
}
