import type { ListRow } from "../../store/rows.ts";

/** Lines a row takes. */
export function rowHeight(row: ListRow): number {
  return row.type === "group" ? 1 : 2;
}

/**
 * Which rows are visible: the first one such that the selected row is in sight, as near to the `top` of before as can be, and
 * so that no room is left empty at the bottom while rows are hidden above. Only these rows exist on screen.
 */
export function listWindow(
  rows: readonly ListRow[],
  selected: number,
  top: number,
  height: number,
): { top: number; end: number } {
  if (rows.length === 0) return { top: 0, end: 0 };
  let first = Math.min(Math.max(0, top), rows.length - 1);
  if (selected >= 0) {
    first = Math.min(first, startWith(rows, selected));
    first = Math.max(first, topFor(rows, selected, height));
  }
  first = Math.min(first, topFor(rows, rows.length - 1, height));
  let end = first;
  let room = height;
  while (end < rows.length) {
    const row = rows[end];
    if (!row || rowHeight(row) > room) break;
    room -= rowHeight(row);
    end += 1;
  }
  return { top: first, end };
}

/** The group's heading stays in sight with its first session. */
function startWith(rows: readonly ListRow[], at: number): number {
  return rows[at - 1]?.type === "group" ? at - 1 : at;
}

/** The smallest top at which row `at` is wholly in sight. */
function topFor(rows: readonly ListRow[], at: number, height: number): number {
  let room = height;
  let top = at;
  for (let i = at; i >= 0; i -= 1) {
    const row = rows[i];
    if (!row || rowHeight(row) > room) break;
    room -= rowHeight(row);
    top = i;
  }
  return top;
}
