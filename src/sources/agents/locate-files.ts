import { stat } from "node:fs/promises";
import { join } from "node:path";
import { listDirectory } from "../../files/list-directory.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";

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
    await Promise.all(
      listing.entries.map(async (entry) => {
        const at = join(path, entry.name);
        if (entry.isDirectory()) {
          if (descends(entry.name, depth)) await walk(at, depth + 1);
          return;
        }
        const place = placeOf(at);
        if (place === null) return;
        const { mtimeMs, size } = await stat(at).catch(() => ({ mtimeMs: 0, size: 0 }));
        found.push({ path: at, place, root, mtimeMs, size });
      }),
    );
  };
  await walk(root.path, 0);
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  problems.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { found, problems };
}

/** Newest first, ties by path. */
export function byModified<P>(a: Found<P>, b: Found<P>): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}
