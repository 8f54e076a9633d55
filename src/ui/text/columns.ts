/** A column of a table before it is fitted, in columns of the terminal. */
export interface ColumnNeed {
  /** Its widest cell. */
  natural: number;
  /** Below this it says nothing. */
  least: number;
  /** Gives up its room first, and takes what is left. */
  flexible: boolean;
}

/** Between two columns. */
export const GAP = 2;

/**
 * Widths that fit in `room` with gaps of `gap`, or null when not even the least ones do. Flexible columns shrink
 * first, then the widest of the others; room that is left goes to the flexible ones.
 */
export function fitColumns(needs: readonly ColumnNeed[], room: number, gap: number = GAP): number[] | null {
  const available = room - gap * Math.max(0, needs.length - 1);
  const widths = needs.map((need) => need.natural);
  let excess = sum(widths) - available;
  if (excess > 0) excess = shrink(widths, needs, excess, true);
  if (excess > 0) excess = shrink(widths, needs, excess, false);
  if (excess > 0) return null;
  const flexible = needs.flatMap((need, index) => (need.flexible ? [index] : []));
  const first = flexible[0];
  const spare = available - sum(widths);
  if (first !== undefined && spare > 0) {
    const share = Math.floor(spare / flexible.length);
    for (const index of flexible) widths[index] = (widths[index] ?? 0) + share;
    widths[first] = (widths[first] ?? 0) + (spare - share * flexible.length);
  }
  return widths;
}

/** Levels the widest columns down until `excess` is gone or none may shrink; answers what is still too much. */
function shrink(widths: number[], needs: readonly ColumnNeed[], excess: number, flexible: boolean): number {
  const chosen = needs.flatMap((need, index) => (need.flexible === flexible ? [index] : []));
  const spare = sum(chosen.map((index) => above(widths, needs, index)));
  if (spare <= excess) {
    for (const index of chosen) widths[index] = Math.min(widths[index] ?? 0, needs[index]?.least ?? 0);
    return excess - spare;
  }
  // The highest ceiling under which enough is saved.
  let low = 0;
  let high = Math.max(...chosen.map((index) => widths[index] ?? 0));
  while (high - low > 1) {
    const ceiling = Math.floor((low + high) / 2);
    if (saved(widths, needs, chosen, ceiling) >= excess) low = ceiling;
    else high = ceiling;
  }
  let given = saved(widths, needs, chosen, low) - excess;
  for (const index of chosen) {
    const before = widths[index] ?? 0;
    const after = Math.max(Math.min(before, low), Math.min(before, needs[index]?.least ?? 0));
    const back = given > 0 && after < before ? 1 : 0;
    given -= back;
    widths[index] = after + back;
  }
  return 0;
}

function above(widths: readonly number[], needs: readonly ColumnNeed[], index: number): number {
  return Math.max(0, (widths[index] ?? 0) - (needs[index]?.least ?? 0));
}

function saved(
  widths: readonly number[],
  needs: readonly ColumnNeed[],
  chosen: readonly number[],
  ceiling: number,
): number {
  return sum(
    chosen.map((index) => {
      const width = widths[index] ?? 0;
      return width - Math.max(Math.min(width, ceiling), Math.min(width, needs[index]?.least ?? 0));
    }),
  );
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
