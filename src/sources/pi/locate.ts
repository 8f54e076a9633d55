import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import type { Problem } from "../../session/problem.ts";
import { byModified, type Found, locateFiles } from "../agents/locate-files.ts";
import { textField } from "../jsonl/record.ts";
import { readSmallJson } from "../jsonl/small-json.ts";
import type { Root } from "../source.ts";

/** Children lie below their parent's folder, and may have children of their own. */
export const MOST_DEPTH = 16;

/** Where pi keeps sessions (agents.md §3.1): a flat folder that was asked for, else one folder a project. */
export function piRoots(env: NodeJS.ProcessEnv): string[] {
  const home = env.HOME ?? homedir();
  const asked = env.PI_CODING_AGENT_SESSION_DIR;
  if (asked) return [resolve(untilde(asked, home))];
  const agent = resolve(untilde(env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"), home));
  const set = textField(readSmallJson(join(agent, "settings.json")), "sessionDir");
  const flat = set === null ? null : untilde(set, home);
  const usual = join(agent, "sessions");
  return flat !== null && isAbsolute(flat) ? [...new Set([resolve(flat), usual])] : [usual];
}

function untilde(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

/** May this file be a session of the root? Its first line decides. */
export function isCandidate(root: string, path: string): boolean {
  if (!path.startsWith(root + sep) || !path.endsWith(".jsonl")) return false;
  const parts = path.slice(root.length + 1).split(sep);
  return parts.length <= MOST_DEPTH && !parts.some((part) => part.startsWith("."));
}

/** A session below another one's folder was started by it (agents.md §3.1). */
export function isBelowSession(root: string, path: string): boolean {
  return path.slice(root.length + 1).split(sep).length > 2;
}

/** Every `.jsonl` below a root, newest first. Looks at directories and times, reads no file. */
export async function locate(root: Root): Promise<{ found: Found<"candidate">[]; problems: Problem[] }> {
  const placeOf = (path: string) => (isCandidate(root.path, path) ? "candidate" : null);
  const descends = (name: string, depth: number) => depth + 1 < MOST_DEPTH && !name.startsWith(".");
  const { found, problems } = await locateFiles(root, placeOf, descends);
  return { found: found.sort(byModified), problems };
}
