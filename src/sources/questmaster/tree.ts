import type { SessionType } from "./manifest.ts";

/** What the order of the tracker needs to know of a session. */
export interface TreeRow {
  id: string;
  /** As in the manifest; empty when it has none. */
  createdAt: string;
  type: SessionType;
  /** Its master's id, null when it has none. */
  parent: string | null;
}

export interface Placed {
  id: string;
  /** 0: a row of its own; 1: a worker under the row above. */
  depth: 0 | 1;
  /** A worker whose master has no manifest. */
  orphan: boolean;
}

/** Sessions are ordered by this text, descending; without a `created_at` a session comes first (questmaster.md §8.7). */
export function sortKey(row: Pick<TreeRow, "id" | "createdAt">): string {
  return row.createdAt === "" ? row.id : `${row.createdAt}|${row.id}`;
}

/**
 * The tracker's order: masters and standalones newest first, each followed by its workers, then the orphans.
 * A promoted worker is a master and stands alone; the worker of a session that is no master stands under it all the same,
 * where the original loses it (questmaster.md §8.7). The tree comes from the parents, never from `workers`.
 */
export function trackerOrder(rows: readonly TreeRow[]): Placed[] {
  const newestFirst = rows
    .map((row) => ({ row, key: sortKey(row) }))
    .sort((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0))
    .map(({ row }) => row);
  const byID = new Map(rows.map((row) => [row.id, row]));
  const children = new Map<string, TreeRow[]>();
  const tops: TreeRow[] = [];
  const orphans: TreeRow[] = [];
  for (const row of newestFirst) {
    if (row.type !== "worker") tops.push(row);
    else {
      const top = topOf(row, byID);
      if (top === null) orphans.push(row);
      else children.set(top, [...(children.get(top) ?? []), row]);
    }
  }
  const placed: Placed[] = [];
  for (const top of tops) {
    placed.push({ id: top.id, depth: 0, orphan: false });
    for (const child of children.get(top.id) ?? []) placed.push({ id: child.id, depth: 1, orphan: false });
  }
  for (const row of orphans) placed.push({ id: row.id, depth: 0, orphan: true });
  return placed;
}

/** The row a worker stands under: its parent, or the first non-worker above; null when the chain ends nowhere or in a ring. */
function topOf(row: TreeRow, byID: ReadonlyMap<string, TreeRow>): string | null {
  const visited = new Set([row.id]);
  let at = row.parent === null ? undefined : byID.get(row.parent);
  while (at?.type === "worker" && !visited.has(at.id)) {
    visited.add(at.id);
    at = at.parent === null ? undefined : byID.get(at.parent);
  }
  return at === undefined || at.type === "worker" ? null : at.id;
}
