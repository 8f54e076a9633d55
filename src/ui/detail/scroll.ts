/** A line of an entry: the place one is at. */
export interface Place {
  /** Index in the loaded entries. */
  at: number;
  line: number;
}

/** What is scrolled: entries, and how many lines each has now. Lines are only counted where one looks. */
export interface Scrolled {
  entries: number;
  /** At least 1. */
  linesOf(at: number): number;
}

/** Where the view stands: its first line, and the line under the cursor. */
export interface Viewpoint {
  top: Place;
  cursor: Place;
}

function isBefore(a: Place, b: Place): boolean {
  return a.at < b.at || (a.at === b.at && a.line < b.line);
}

/** The nearest place that is there. */
function within(scrolled: Scrolled, place: Place): Place {
  const at = Math.min(Math.max(0, place.at), Math.max(0, scrolled.entries - 1));
  const count = scrolled.entries > 0 ? scrolled.linesOf(at) : 1;
  return { at, line: Math.min(Math.max(0, place.line), Math.max(0, count - 1)) };
}

function endOf(scrolled: Scrolled): Place {
  return within(scrolled, { at: scrolled.entries - 1, line: Number.MAX_SAFE_INTEGER });
}

/** `lines` further down, or up when negative; `left` is what the loaded entries did not have. */
export function walk(scrolled: Scrolled, from: Place, lines: number): { place: Place; left: number } {
  let { at, line } = within(scrolled, from);
  let left = Math.abs(lines);
  while (left > 0 && at < scrolled.entries) {
    const room = lines > 0 ? scrolled.linesOf(at) - 1 - line : line;
    const step = Math.min(left, room);
    line += lines > 0 ? step : -step;
    left -= step;
    if (left === 0) break;
    const next = lines > 0 ? at + 1 : at - 1;
    if (next < 0 || next >= scrolled.entries) break;
    at = next;
    line = lines > 0 ? 0 : scrolled.linesOf(at) - 1;
    left -= 1;
  }
  return { place: { at, line }, left };
}

/**
 * The viewpoint with its cursor on a line that is there and in sight, and without empty rows at the bottom while there is
 * something above to fill them. `follow`: at the end, whatever it was.
 */
export function settle(scrolled: Scrolled, view: Viewpoint, height: number, follow: boolean): Viewpoint {
  const end = endOf(scrolled);
  const above = (place: Place): Place => walk(scrolled, place, -(height - 1)).place;
  if (follow) return { cursor: end, top: above(end) };
  const cursor = within(scrolled, view.cursor);
  let top = within(scrolled, view.top);
  if (isBefore(cursor, top)) top = { ...cursor };
  else {
    const lowest = above(cursor);
    if (isBefore(top, lowest)) top = lowest;
  }
  const full = above(end);
  return { cursor, top: isBefore(full, top) ? full : top };
}
