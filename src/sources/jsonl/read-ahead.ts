const FIRST = 24;
const MOST = 128;

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

/** Results in order; the next ones are being read while one is used, so that no reading thread ever waits. */
export async function* readAhead<T, R>(
  items: readonly T[],
  read: (item: T) => Promise<R>,
  depth = 6,
): AsyncGenerator<R> {
  const reading: Promise<R>[] = [];
  for (let i = 0; i < items.length || reading.length > 0; ) {
    for (; i < items.length && reading.length < depth; i += 1) {
      const item = items[i];
      if (item === undefined) continue;
      const result = read(item);
      // A failure is told when its turn comes; until then somebody has it.
      result.catch(() => undefined);
      reading.push(result);
    }
    const first = reading.shift();
    if (first !== undefined) yield await first;
  }
}
