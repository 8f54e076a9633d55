import { statSync } from "node:fs";
import { join, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { listDirectory } from "../../files/list-directory.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";

/** Looked at in one go, a millisecond's work; asking for each through a promise costs ten times as much. */
const AT_A_TIME = 256;

/** A file of a source, before anybody read it. */
export interface Found<P> {
  path: string;
  place: P;
  root: Root;
  mtimeMs: number;
  size: number;
}

/**
 * Every file below a root that has a place in the format, by path. Looks at directories and times, reads no file.
 * A root that is not there is a problem only when it was asked for.
 */
export async function locateFiles<P>(
  root: Root,
  placeOf: (path: string) => P | null,
  /** Is a directory looked into? `depth` 0: those in the root itself. */
  descends: (name: string, depth: number) => boolean,
): Promise<{ found: Found<P>[]; problems: Problem[] }> {
  const found: Found<P>[] = [];
  const problems: Problem[] = [];
  const walk = async (path: string, depth: number): Promise<void> => {
    const listing = await listDirectory(path);
    if (!listing.ok) {
      if (listing.kind !== "gone" || (root.explicit && path === root.path)) {
        problems.push({ source: root.source, path, kind: listing.kind, message: `${path}: ${listing.message}` });
      }
      return;
    }
    const below: Promise<void>[] = [];
    const prefix = path.endsWith(sep) ? path : path + sep;
    let looked = 0;
    for (const entry of listing.entries) {
      if (entry.isDirectory()) {
        if (descends(entry.name, depth)) below.push(walk(join(path, entry.name), depth + 1));
        continue;
      }
      const at = prefix + entry.name;
      const place = placeOf(at);
      if (place === null) continue;
      found.push({ path: at, place, root, ...timeAndSize(at) });
      looked += 1;
      if (looked % AT_A_TIME === 0) await setImmediate();
    }
    await Promise.all(below);
  };
  await walk(root.path, 0);
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  problems.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { found, problems };
}

function timeAndSize(path: string): { mtimeMs: number; size: number } {
  try {
    const { mtimeMs, size } = statSync(path);
    return { mtimeMs, size };
  } catch {
    return { mtimeMs: 0, size: 0 };
  }
}

/** Newest first, ties by path. */
export function byModified<P>(a: Found<P>, b: Found<P>): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}
