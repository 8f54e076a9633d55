import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { listDirectory } from "../../files/list-directory.ts";
import type { Problem } from "../../session/problem.ts";
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

export interface Found {
  path: string;
  root: Root;
  mtimeMs: number;
}

/** Every `.jsonl` below a root, newest first. Looks at directories and times, reads no file. */
export async function locate(root: Root): Promise<{ found: Found[]; problems: Problem[] }> {
  const found: Found[] = [];
  const problems: Problem[] = [];
  const walk = async (path: string, depth: number): Promise<void> => {
    const listing = await listDirectory(path);
    if (!listing.ok) {
      if (listing.kind !== "gone" || (path === root.path && root.explicit)) {
        problems.push({ source: root.source, path, kind: listing.kind, message: `${path}: ${listing.message}` });
      }
      return;
    }
    for (const entry of listing.entries) {
      const at = join(path, entry.name);
      if (entry.isDirectory()) {
        if (depth + 1 < MOST_DEPTH && !entry.name.startsWith(".")) await walk(at, depth + 1);
      } else if (isCandidate(root.path, at)) {
        const mtimeMs = await stat(at).then(
          (stats) => stats.mtimeMs,
          () => 0,
        );
        found.push({ path: at, root, mtimeMs });
      }
    }
  };
  await walk(root.path, 0);
  found.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
  return { found, problems };
}
