import { stat } from "node:fs/promises";
import { join } from "node:path";
import { listDirectory } from "../../files/list-directory.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import { LOCK_DIRECTORY } from "./locks.ts";
import { type Place, placeOf } from "./threads.ts";

export interface Found {
  path: string;
  place: Place;
  root: Root;
  mtimeMs: number;
  size: number;
}

/** `sessions/YYYY/MM/DD/` is the deepest that rollouts lie. */
const DEEPEST = 4;

/** Every file below a root that matters. Looks at directories and times, reads no file. */
export async function locate(root: Root): Promise<{ found: Found[]; problems: Problem[] }> {
  const found: Found[] = [];
  const problems: Problem[] = [];
  const walk = async (path: string, depth: number): Promise<void> => {
    const listing = await listDirectory(path);
    if (!listing.ok) {
      if (listing.kind !== "gone" || (root.explicit && path === root.path)) {
        problems.push({ source: root.source, path, kind: listing.kind, message: `${path}: ${listing.message}` });
      }
      return;
    }
    await Promise.all(
      listing.entries.map(async (entry) => {
        const at = join(path, entry.name);
        if (entry.isDirectory()) {
          if (descends(entry.name, depth)) await walk(at, depth + 1);
          return;
        }
        const place = placeOf(root.path, at);
        if (place === null) return;
        const { mtimeMs, size } = await stat(at).catch(() => ({ mtimeMs: 0, size: 0 }));
        found.push({ path: at, place, root, mtimeMs, size });
      }),
    );
  };
  await walk(root.path, 0);
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { found, problems };
}

function descends(name: string, depth: number): boolean {
  if (depth === 0) return name === "sessions" || name === "archived_sessions" || name === LOCK_DIRECTORY;
  return depth < DEEPEST && /^\d{2,4}$/u.test(name);
}
