import { parentPort } from "node:worker_threads";
import { type Advanced, advanceFile, type FileFold, type Folded, runNow } from "../files/fold.ts";
import { SOURCES } from "../sources/index.ts";

/** What a worker is asked: bring this file up to date with this fold. */
export interface FoldRequest {
  id: number;
  /** `name/version` of the fold. */
  fold: string;
  path: string;
  before: Folded<unknown> | null;
}

export type FoldAnswer = { id: number; result: Advanced<unknown> } | { id: number; error: string };

const folds = new Map<string, FileFold<unknown>>(
  SOURCES.flatMap((source) => source.folds.map((fold) => [`${fold.name}/${fold.version}`, fold] as const)),
);

parentPort?.on("message", ({ id, fold, path, before }: FoldRequest) => {
  const answer = (): FoldAnswer => {
    const known = folds.get(fold);
    if (!known) return { id, error: `no fold ${fold}` };
    try {
      return { id, result: runNow(advanceFile(known, path, before)) };
    } catch (error) {
      return { id, error: error instanceof Error ? error.message : String(error) };
    }
  };
  parentPort?.postMessage(answer());
});
