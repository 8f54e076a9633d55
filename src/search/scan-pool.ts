import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { RawPatterns } from "./raw-patterns.ts";
import type { ScanAnswer, ScanRequest } from "./scan-worker.ts";

const MOST_WORKERS = 4;

interface Waiting {
  resolve(answer: ScanAnswer): void;
  reject(error: Error): void;
}

/** Scans files in other threads, for one search: the threads end with it. */
export class ScanPool {
  readonly #patterns: RawPatterns;
  readonly #workers: { worker: Worker; asked: Set<number> }[] = [];
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  constructor(patterns: RawPatterns, size = Math.min(MOST_WORKERS, availableParallelism())) {
    this.#patterns = patterns;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    for (let i = 0; i < size; i += 1) {
      const worker = new Worker(new URL(`./scan-worker.${extension}`, import.meta.url));
      const held = { worker, asked: new Set<number>() };
      worker.on("message", (answer: ScanAnswer) => {
        held.asked.delete(answer.id);
        this.#take(answer.id)?.resolve(answer);
      });
      worker.on("error", (error) => this.#died(held, error));
      this.#workers.push(held);
    }
  }

  /** Rejects when the thread that was asked dies: whoever asked scans those files itself. */
  scan(files: string[]): Promise<ScanAnswer> {
    const id = this.#next;
    this.#next += 1;
    const idlest = this.#workers.toSorted((a, b) => a.asked.size - b.asked.size)[0];
    if (!idlest) return Promise.reject(new Error("no scanning thread is left"));
    const { promise, resolve, reject } = Promise.withResolvers<ScanAnswer>();
    this.#waiting.set(id, { resolve, reject });
    idlest.asked.add(id);
    const request: ScanRequest = { id, patterns: this.#patterns, files };
    idlest.worker.postMessage(request);
    return promise;
  }

  close(): void {
    for (const { worker } of this.#workers.splice(0)) void worker.terminate();
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(new Error("the search is over"));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #died(held: { worker: Worker; asked: Set<number> }, error: unknown): void {
    const at = this.#workers.indexOf(held);
    if (at >= 0) this.#workers.splice(at, 1);
    const reason = new Error(`a scanning thread died: ${error instanceof Error ? error.message : String(error)}`);
    for (const id of held.asked) this.#take(id)?.reject(reason);
  }
}
