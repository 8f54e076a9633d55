const FIRST = 12;
const MOST = 256;
/** Batches that are begun together: enough to read while what shows them is loaded. */
const AT_FIRST = 3;

/**
 * Items in batches, small ones first so that a screen fills at once, then larger: what every batch costs beside its
 * reading is paid a few times only.
 */
export function growingBatches<T>(items: readonly T[]): T[][] {
  const batches: T[][] = [];
  let size = FIRST;
  for (let at = 0; at < items.length; size = Math.min(MOST, size * 2)) {
    batches.push(items.slice(at, at + size));
    at += size;
  }
  return batches;
}

/** Results in order, the first ones almost alone; the next are being read while one is used, so that no thread ever waits. */
export async function* readAhead<T, R>(
  items: readonly T[],
  read: (item: T) => Promise<R>,
  depth = 6,
): AsyncGenerator<R> {
  const reading: Promise<R>[] = [];
  let i = 0;
  const fill = (most: number): void => {
    for (; i < items.length && reading.length < most; i += 1) {
      const item = items[i];
      if (item === undefined) continue;
      const result = read(item);
      // A failure is told when its turn comes; until then somebody has it.
      result.catch(() => undefined);
      reading.push(result);
    }
  };
  fill(Math.min(AT_FIRST, depth));
  for (let next = reading.shift(); next !== undefined; next = reading.shift()) {
    const result: R = await next;
    fill(depth);
    yield result;
  }
}
