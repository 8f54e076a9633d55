import { isAbsolute, join, resolve } from "node:path";

/**
 * An edit of a file: its absolute path, when, ms since 1970 (0 where that is not known), and its place among the
 * session's records where that matters.
 */
export type Edit = [path: string, time: number, place?: number];

/** How many files of a session are kept. */
const MOST = 20;
const MOST_PATH = 4096;
const HOUR = 3_600_000;

/** The tools that change a file they are given by name. */
const EDITS =
  /^(?:edit|multi_?edit|notebook_?edit|edit_file|write|write_file|create_file|replace|str_replace(?:_editor|_based_edit_tool)?)$/iu;
const PATCHES = /^(?:apply_)?patch$/iu;
const SHELLS = /^(?:shell|local_shell|exec|exec_command|container\.exec|bash|shell_command)$/iu;
const PATH_FIELDS = ["file_path", "filePath", "notebook_path", "path", "absolute_path"];
const PATCH_FIELDS = ["patchText", "patch", "input", "command", "cmd"];
const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\r?$/gmu;
const READS = new Set(["view", "read"]);

/** The files one call of a tool changes, absolute. Paths that are relative to no known directory are left out. */
export function filesEditedBy(name: string, args: unknown, cwd: string | null): string[] {
  return absolutes(pathsEditedBy(name, args), cwd);
}

/** The files one call of a tool changes, as the call names them. */
export function pathsEditedBy(name: string, args: unknown): string[] {
  const fields = typeof args === "object" && args !== null ? new Map<string, unknown>(Object.entries(args)) : null;
  if (EDITS.test(name)) {
    if (READS.has(String(fields?.get("command")))) return [];
    const path = PATH_FIELDS.map((field) => fields?.get(field)).find((value) => typeof value === "string");
    return typeof path === "string" ? [path] : [];
  }
  const isPatch = PATCHES.test(name);
  if (!isPatch && !SHELLS.test(name)) return [];
  const text = patchText(args, fields);
  if (!isPatch && !text.includes("apply_patch")) return [];
  const from = fields?.get("workdir");
  const paths = [...text.matchAll(PATCHED)].map((found) => found[1] ?? "");
  return typeof from === "string" ? paths.map((path) => resolveIn(from, path)) : paths;
}

function resolveIn(directory: string, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}

function patchText(args: unknown, fields: ReadonlyMap<string, unknown> | null): string {
  if (typeof args === "string") return args;
  const texts = PATCH_FIELDS.flatMap((field) => fields?.get(field) ?? []);
  return texts.filter((text) => typeof text === "string").join("\n");
}

/** These paths as absolute ones; what can be no path is left out. */
export function absolutes(paths: readonly string[], cwd: string | null): string[] {
  return paths.flatMap((path) => absolute(path, cwd) ?? []);
}

function absolute(path: string, cwd: string | null): string | null {
  if (path === "" || path.length > MOST_PATH || /\p{Cc}/u.test(path) || path.startsWith("~")) return null;
  if (isAbsolute(path)) return resolve(path);
  return cwd !== null && isAbsolute(cwd) ? resolve(cwd, path) : null;
}

/** Takes in edits made at one moment. Only the last files are kept, each once, the latest last. */
export function noteEdits(edits: Edit[], paths: readonly string[], time: number | null, place?: number): void {
  for (const path of paths) {
    const before = edits.findIndex(([known]) => known === path);
    if (before >= 0) edits.splice(before, 1);
    edits.push(place === undefined ? [path, time ?? 0] : [path, time ?? 0, place]);
    if (edits.length > MOST) edits.shift();
  }
}

/** The files of several lists of edits that were edited within the last hour, ordered by time, each once. */
export function lastEditedOf(lists: readonly (readonly Edit[])[], updatedAt: number | null): string[] {
  const edits: Edit[] = [];
  for (const [path, time] of lists.flat().sort((a, b) => a[1] - b[1])) noteEdits(edits, [path], time);
  return lastEdited(edits, updatedAt);
}

/** The files of `edits` that were edited within the last hour before the session's last record. */
export function lastEdited(edits: readonly Edit[], updatedAt: number | null): string[] {
  const since = (updatedAt ?? 0) - HOUR;
  return edits.filter(([, time]) => time >= since).map(([path]) => path);
}
