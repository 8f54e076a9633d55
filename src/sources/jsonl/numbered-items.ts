import type { LineSequence, Placed } from "./pages.ts";

const NO_BYTES = Buffer.alloc(0);

/** A view whose items are not lines but can be had by number: messages of a database, or of one JSON object. */
export function numberedItems(count: number): LineSequence {
  const placed = (i: number): Placed => ({
    line: { offset: i, end: i + 1, bytes: NO_BYTES },
    segment: 0,
    at: [i, 0],
    next: [i + 1, 0],
  });
  return {
    start: [0, 0],
    end: [count, 0],
    *forward([from]) {
      for (let i = from; i < count; i += 1) yield placed(i);
    },
    *backward([to]) {
      for (let i = Math.min(to, count) - 1; i >= 0; i -= 1) yield placed(i);
    },
  };
}
