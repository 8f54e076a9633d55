import type { Candidate } from "./sessions.ts";

export interface Member {
  candidate: Candidate;
  /** 0 for an original, 1 for its copies, … */
  depth: number;
}

/** Equal for the copies of an entry: a fork keeps ids and times (agents.md §3.2). */
export function entryKey(candidate: Candidate, row: number): string {
  const { ids, times } = candidate.folded.state;
  return `${ids[row] ?? ""}|${times[row] ?? 0}`;
}

/**
 * Which session of a family owns which entry: originals before their copies, among equals who began first
 * (agents.md §0). Depends on the members alone, never on their order.
 */
export function ownersOf(members: readonly Member[]): Map<string, string> {
  const began = ({ candidate }: Member): number => candidate.header.startedAt ?? Number.POSITIVE_INFINITY;
  const ranked = [...members].sort(
    (a, b) =>
      a.depth - b.depth ||
      (began(a) === began(b) ? 0 : began(a) - began(b)) ||
      (a.candidate.header.id < b.candidate.header.id ? -1 : 1),
  );
  const owners = new Map<string, string>();
  for (const { candidate } of ranked) {
    for (let row = 0; row < candidate.folded.state.ids.length; row += 1) {
      const key = entryKey(candidate, row);
      if (!owners.has(key)) owners.set(key, candidate.header.id);
    }
  }
  return owners;
}
