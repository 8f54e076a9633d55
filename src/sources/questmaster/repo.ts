import { lstatSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { CannotOpen } from "../../files/open.ts";
import { readSmallFile, TooLarge } from "./read-small.ts";
import type { RepoColor } from "./root-files.ts";
import { unixNanos } from "./time.ts";

export interface Repo {
  /** The common git directory: the same for a repository and all its worktrees. */
  identity: string;
  name: string;
}

const MOST_LEVELS = 64;

/** The repository of a working directory: the nearest `.git` above it, worktrees folded on what they share (questmaster.md §8.8). */
export function repoOf(cwd: string): Repo | null {
  if (!isAbsolute(cwd)) return null;
  let at = resolve(cwd);
  for (let level = 0; level < MOST_LEVELS; level++) {
    const git = join(at, ".git");
    const stat = lstatSync(git, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return named(git);
    if (stat?.isFile()) return named(commonDirectory(git, at));
    const above = dirname(at);
    if (above === at) return null;
    at = above;
  }
  return null;
}

/** Follows `.git` (a file) → `gitdir:` → `commondir`. */
function commonDirectory(gitFile: string, worktree: string): string {
  const line = /^gitdir: (.+)$/mu.exec(textOf(gitFile))?.[1]?.trim();
  if (line === undefined) return gitFile;
  const directory = resolve(worktree, line);
  const common = textOf(join(directory, "commondir")).trim();
  return common === "" ? directory : resolve(directory, common);
}

function textOf(path: string): string {
  try {
    return readSmallFile(path).text;
  } catch (error) {
    if (error instanceof CannotOpen || error instanceof TooLarge) return "";
    throw error;
  }
}

function named(identity: string): Repo {
  const last = basename(identity);
  return { identity, name: last === ".git" ? basename(dirname(identity)) : last.replace(/\.git$/u, "") };
}

/** The colours a session or a repository can have (questmaster.md §8.8). */
export const COLORS = [
  ..."blue green yellow magenta cyan red orange gold lime teal sky indigo violet pink".split(" "),
] as const;

/** A session's own colour or its repository's: the newer one wins, a tie goes to the session. null: none. */
export function colorOf(display: unknown, repo: RepoColor | undefined): string | null {
  const own = ownColor(display);
  const ofRepo = repo !== undefined && COLORS.includes(repo.color) ? repo.color : null;
  if (own === null || ofRepo === null) return own?.color ?? ofRepo;
  const changed = unixNanos(own.changedAt) ?? 0n;
  return (unixNanos(repo?.updated_at ?? "") ?? 0n) > changed ? ofRepo : own.color;
}

function ownColor(display: unknown): { color: string; changedAt: string } | null {
  if (typeof display !== "object" || display === null || !("color" in display)) return null;
  const { color } = display;
  if (typeof color !== "string" || !COLORS.includes(color)) return null;
  const changedAt = "color_changed_at" in display ? display.color_changed_at : "";
  return { color, changedAt: typeof changedAt === "string" ? changedAt : "" };
}
