import type { Snapshot } from "./snapshot.ts";
import { STATUSES, type StatusName } from "./status.ts";

/** How many sessions have each status; one that is missing has none. */
export type StatusCounts = Partial<Record<StatusName, number>>;

/** The statuses worth a number in a header, a window title or a status bar: what wants the person, or goes on. */
export const COUNTED: readonly StatusName[] = ["needs-input", "failed", "working", "done"];

export function countStatuses(sessions: Iterable<Pick<Snapshot, "status">>): StatusCounts {
  const counts: StatusCounts = {};
  for (const { status } of sessions) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The counted statuses that have sessions, in their order. */
export function countedStatuses(counts: StatusCounts): { status: StatusName; count: number }[] {
  return COUNTED.flatMap((status) => {
    const count = counts[status] ?? 0;
    return count > 0 ? [{ status, count }] : [];
  });
}

/** `▲2 ✗1 ●3 ✓1`; in ASCII `!2 x1 *3 +1`; empty when nothing wants the person and nothing goes on. */
export function countsLine(counts: StatusCounts, options: { ascii?: boolean } = {}): string {
  return countedStatuses(counts)
    .map(({ status, count }) => `${options.ascii ? STATUSES[status].ascii : STATUSES[status].glyph}${count}`)
    .join(" ");
}

/** For the terminal's title: the counts first, because tabs and task bars show only the beginning. */
export function countsTitle(counts: StatusCounts, options: { ascii?: boolean } = {}): string {
  const line = countsLine(counts, options);
  return line === "" ? "forktail" : `${line} forktail`;
}

export function sameCounts(a: StatusCounts, b: StatusCounts): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<StatusName>;
  return [...names].every((name) => (a[name] ?? 0) === (b[name] ?? 0));
}
