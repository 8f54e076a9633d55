import type { FileFold } from "../../src/files/fold.ts";
import { bytesOf, runNow } from "../../src/files/fold.ts";

/** Folds bytes as a file that grows to each of these sizes in turn; unfinished tails are read again each time. */
export function foldInPieces<S>(fold: FileFold<S>, bytes: Buffer, sizes: readonly number[]): S {
  const state = fold.initial();
  let from = 0;
  for (const size of [...sizes, bytes.length]) {
    from = runNow(fold.advance(state, bytesOf(bytes.subarray(0, Math.max(from, size))), from));
    // A cached state comes back as JSON.
    Object.assign(state as object, JSON.parse(JSON.stringify(state)));
  }
  return state;
}
