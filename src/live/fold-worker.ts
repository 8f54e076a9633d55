import { parentPort } from "node:worker_threads";
import { type Advanced, advanceFile, type FileFold, runNow } from "../files/fold.ts";
import { type FoldedStamp, KeptFolded, stateBytes, storedInMemory } from "../files/kept-folded.ts";
import { FOLDS } from "../sources/folds.ts";

/** What a worker is asked: bring this file up to date with this fold. */
export interface FoldRequest {
  /** `name/version` of the fold. */
  fold: string;
  path: string;
  before: { stamp: FoldedStamp; json: Uint8Array<ArrayBuffer> } | null;
}

/** States travel as JSON: that is as they are kept, and cheaper than a clone of every object. */
export type FoldAnswer =
  | { stamp: FoldedStamp; json: Uint8Array<ArrayBuffer>; changed: boolean }
  | { failed: Advanced<unknown> & { ok: false } }
  | { error: string };

const folds = new Map<string, FileFold<unknown>>(FOLDS.map((fold) => [`${fold.name}/${fold.version}`, fold]));

parentPort?.on("message", (requests: FoldRequest[]) => {
  const answers = requests.map(answer);
  // Handed over, not copied.
  const buffers = answers.flatMap((one) => ("json" in one ? [one.json.buffer] : []));
  parentPort?.postMessage(answers, buffers);
});

function answer({ fold, path, before }: FoldRequest): FoldAnswer {
  const known = folds.get(fold);
  if (!known) return { error: `no fold ${fold}` };
  try {
    const held = before === null ? null : KeptFolded.stored<unknown>(before.stamp, storedInMemory(before.json));
    const result = runNow(advanceFile(known, path, held));
    if (!result.ok) return { failed: result };
    if (!result.changed && before !== null) return { stamp: before.stamp, json: before.json, changed: false };
    const { state, ...stamp } = result.folded;
    return { stamp, json: stateBytes(JSON.stringify(state)), changed: true };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
