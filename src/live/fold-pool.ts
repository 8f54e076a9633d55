import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Advanced, FileFold, Folded } from "../files/fold.ts";
import type { FoldAnswer, FoldRequest } from "./fold-worker.ts";

/** Idle workers are let go after this, ms: a screen that only watches keeps none. */
const LINGER_MS = 5000;

interface Waiting {
  resolve(result: Advanced<unknown>): void;
  reject(error: Error): void;
}

/** Folds in other threads, so that the screen answers while gigabytes are read. Workers exist only while there is work. */
export class FoldPool {
  readonly #size: number;
  readonly #workers: { worker: Worker; busy: number }[] = [];
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #linger: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(size = Math.max(1, Math.min(2, availableParallelism()))) {
    this.#size = size;
  }

  advance<S>(fold: FileFold<S>, path: string, before: Folded<S> | null): Promise<Advanced<S>> {
    const request: FoldRequest = { id: this.#next, fold: `${fold.name}/${fold.version}`, path, before };
    this.#next += 1;
    const { promise, resolve, reject } = Promise.withResolvers<Advanced<unknown>>();
    this.#waiting.set(request.id, { resolve, reject });
    const chosen = this.#choose();
    chosen.busy += 1;
    chosen.worker.postMessage(request);
    const settled = (): void => {
      chosen.busy -= 1;
      this.#rest();
    };
    promise.then(settled, settled);
    // The worker ran the fold of this name and version, which is what makes its state an S.
    return promise as Promise<Advanced<S>>;
  }

  close(): void {
    this.#closed = true;
    if (this.#linger) clearTimeout(this.#linger);
    this.#letGo();
  }

  #choose(): { worker: Worker; busy: number } {
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    const idlest = this.#workers.toSorted((a, b) => a.busy - b.busy)[0];
    if (idlest && (idlest.busy === 0 || this.#workers.length >= this.#size)) return idlest;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./fold-worker.${extension}`, import.meta.url));
    worker.unref();
    const held = { worker, busy: 0 };
    worker.on("message", (answer: FoldAnswer) => this.#answered(answer));
    worker.on("error", (error) => this.#failed(held, error));
    this.#workers.push(held);
    return held;
  }

  #answered(answer: FoldAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("error" in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.result);
  }

  /** A dead worker's work is given back: the callers read those files themselves. */
  #failed(held: { worker: Worker; busy: number }, error: unknown): void {
    this.#workers.splice(this.#workers.indexOf(held), 1);
    const reason = new Error(`a reading thread died: ${error instanceof Error ? error.message : String(error)}`);
    for (const waiting of this.#waiting.values()) waiting.reject(reason);
    this.#waiting.clear();
  }

  #rest(): void {
    if (this.#closed || this.#linger || this.#workers.some((one) => one.busy > 0)) return;
    this.#linger = setTimeout(() => this.#letGo(), LINGER_MS);
    this.#linger.unref();
  }

  #letGo(): void {
    this.#linger = null;
    for (const { worker } of this.#workers.splice(0)) void worker.terminate();
  }
}
