import type { ByteSource, Folded } from "../../files/fold.ts";
import { CannotOpen } from "../../files/open.ts";
import { FIRST_TAIL, foldEnds, type PartialState } from "./fold-ends.ts";
import { growingBatches, readAhead } from "./read-ahead.ts";

/** How files are read at a scan; both steps return the sessions they may change. */
export interface EndsFirst<F> {
  /** Takes in the ends of a big file, null: it is to be read whole at once. */
  ends(file: F): Promise<Set<string> | null>;
  whole(file: F): Promise<Set<string>>;
}

/**
 * Reads groups of files in batches that grow, the next one ahead. Of big files only the ends are read at first, so that
 * they too are shown at once, and the rest when everything else was read. Yields what each batch may change.
 */
export async function* readEndsFirst<F>(groups: readonly F[][], steps: EndsFirst<F>): AsyncGenerator<Set<string>> {
  const big: F[] = [];
  const read = async (file: F): Promise<Set<string>> => {
    const ids = await steps.ends(file);
    if (ids === null) return steps.whole(file);
    big.push(file);
    return ids;
  };
  yield* readBatches(groups, async (group) => new Set((await Promise.all(group.map(read))).flatMap((ids) => [...ids])));
  yield* readAhead(big, (file) => steps.whole(file));
}

/** Reads in batches that grow, the next one ahead. Yields what each batch may change. */
export async function* readBatches<F>(
  files: readonly F[],
  read: (file: F) => Promise<Iterable<string>>,
): AsyncGenerator<Set<string>> {
  for await (const changes of readAhead(growingBatches(files), (batch) => Promise.all(batch.map(read)))) {
    yield new Set(changes.flatMap((ids) => [...ids]));
  }
}

/** The ends of a file as a state, null when it cannot be opened: reading it whole then says why. */
export async function foldEndsIfThere<S extends PartialState>(
  path: string,
  state: S,
  advance: (state: S, bytes: ByteSource, from: number) => Generator<void, number>,
): Promise<Folded<S> | null> {
  try {
    return await foldEnds(path, FIRST_TAIL, state, advance);
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}
