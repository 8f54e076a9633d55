import { parentPort } from "node:worker_threads";
import { type Advanced, advanceFile, type FileFold, runNow } from "../files/fold.ts";
import { type FoldedStamp, KeptFolded, packState } from "../files/kept-folded.ts";
import { SOURCES } from "../sources/index.ts";

/** What a worker is asked: bring this file up to date with this fold. */
export interface FoldRequest {
  /** `name/version` of the fold. */
  fold: string;
  path: string;
  before: { stamp: FoldedStamp; packed: Uint8Array<ArrayBuffer> } | null;
}

/** States travel packed: that is as they are kept, and cheaper than a clone of every object. */
export type FoldAnswer =
  | { stamp: FoldedStamp; packed: Uint8Array<ArrayBuffer>; changed: boolean }
  | { failed: Advanced<unknown> & { ok: false } }
  | { error: string };

const folds = new Map<string, FileFold<unknown>>(
  SOURCES.flatMap((source) => source.folds.map((fold) => [`${fold.name}/${fold.version}`, fold] as const)),
);

parentPort?.on("message", (requests: FoldRequest[]) => {
  const answers = requests.map(answer);
  // Handed over, not copied.
  const buffers = answers.flatMap((one) => ("packed" in one ? [one.packed.buffer] : []));
  parentPort?.postMessage(answers, buffers);
});

function answer({ fold, path, before }: FoldRequest): FoldAnswer {
  const known = folds.get(fold);
  if (!known) return { error: `no fold ${fold}` };
  try {
    const held = before === null ? null : KeptFolded.packed<unknown>(before.stamp, before.packed);
    const result = runNow(advanceFile(known, path, held));
    if (!result.ok) return { failed: result };
    const { state, ...stamp } =
      result.folded instanceof KeptFolded ? { ...result.folded.stamp, state: result.folded.state } : result.folded;
    return {
      stamp,
      packed: result.changed || before === null ? packState(state) : before.packed,
      changed: result.changed,
    };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
