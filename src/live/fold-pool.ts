import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Advanced, FileFold, Folded } from "../files/fold.ts";
import { KeptFolded, stateBytes, storedInMemory } from "../files/kept-folded.ts";
import type { FoldAnswer, FoldRequest } from "./fold-worker.ts";

/** Idle workers are let go after this, ms: a screen that only watches keeps none. */
const LINGER_MS = 5000;
/** How much is handed over at once: many small files in one message, large ones alone. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_FILES = 64;
/** Batches that a worker has at a time: enough to go on with while this thread is busy with what was read. */
const AHEAD = 12;

interface Waiting {
  request: FoldRequest;
  bytes: number;
  resolve(result: Advanced<unknown>): void;
  reject(error: Error): void;
}

interface Held {
  worker: Worker;
  batches: Waiting[][];
}

/** Folds in other threads, so that the screen answers while gigabytes are read. Workers exist only while there is work. */
export class FoldPool {
  readonly #size: number;
  readonly #workers: Held[] = [];
  #queue: Waiting[] = [];
  /** Answers whose turn has not come. */
  readonly #arrived: { batch: Waiting[]; answers: FoldAnswer[] }[] = [];
  #dispatching = false;
  #linger: NodeJS.Timeout | null = null;
  #closed = false;
  readonly #given = Promise.withResolvers<void>();

  constructor(size = Math.max(1, Math.min(2, availableParallelism()))) {
    this.#size = size;
  }

  /** `bytes`: about how much there is to read, for fair shares. The result's state is at rest. */
  advance<S>(fold: FileFold<S>, path: string, before: Folded<S> | null, bytes: number): Promise<Advanced<S>> {
    if (this.#closed) return Promise.reject(new Error("the reading threads were ended"));
    const known = before === null ? null : before instanceof KeptFolded ? before : KeptFolded.awake(before);
    const request: FoldRequest = {
      fold: `${fold.name}/${fold.version}`,
      path,
      before: known === null ? null : { stamp: known.stamp, json: stateBytes(known.text()) },
    };
    const { promise, resolve, reject } = Promise.withResolvers<Advanced<unknown>>();
    this.#queue.push({ request, bytes, resolve, reject });
    // What is asked for in one go travels together.
    if (!this.#dispatching) setImmediate(() => this.#dispatch());
    this.#dispatching = true;
    // The worker ran the fold of this name and version, which is what makes its state an S.
    return promise as Promise<Advanced<S>>;
  }

  /** Resolves when a worker has got its first files. */
  get handedOver(): Promise<void> {
    return this.#given.promise;
  }

  /** Starts all workers ahead of their work. */
  warm(): void {
    while (this.#workers.length < this.#size) this.#hire();
    this.#rest();
  }

  /** Lets go of workers that have nothing to do, without waiting whether more comes. */
  settle(): void {
    if (this.#workers.some((one) => one.batches.length > 0)) return;
    if (this.#linger) clearTimeout(this.#linger);
    this.#letGo();
  }

  /** Ends all workers; what they were asked for is refused. */
  close(): void {
    this.#closed = true;
    if (this.#linger) clearTimeout(this.#linger);
    const given = [...this.#workers.flatMap((one) => one.batches), ...this.#arrived.splice(0).map((one) => one.batch)];
    const waiting = [...given.flat(), ...this.#queue.splice(0)];
    this.#letGo();
    for (const one of waiting) one.reject(new Error("the reading threads were ended"));
  }

  #dispatch(): void {
    this.#dispatching = false;
    while (this.#queue.length > 0) {
      const held = this.#choose();
      if (held === null) return;
      const batch = this.#nextBatch();
      held.batches.push(batch);
      held.worker.postMessage(batch.map((one) => one.request));
      this.#given.resolve();
    }
  }

  #nextBatch(): Waiting[] {
    // Shared out among the workers, when little is left.
    const most = Math.min(BATCH_FILES, Math.ceil(this.#queue.length / this.#size));
    let bytes = 0;
    let count = 0;
    for (const one of this.#queue) {
      if (count > 0 && (count >= most || bytes + one.bytes > BATCH_BYTES)) break;
      bytes += one.bytes;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** The worker with the least to do; null when all have enough. */
  #choose(): Held | null {
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    const idlest = this.#workers.toSorted((a, b) => a.batches.length - b.batches.length)[0];
    if (idlest && (idlest.batches.length === 0 || this.#workers.length >= this.#size)) {
      return idlest.batches.length < AHEAD ? idlest : null;
    }
    return this.#hire();
  }

  #hire(): Held {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./fold-worker.${extension}`, import.meta.url));
    worker.unref();
    const held: Held = { worker, batches: [] };
    worker.on("message", (answers: FoldAnswer[]) => this.#answered(held, answers));
    worker.on("error", (error) => this.#failed(held, error));
    this.#workers.push(held);
    return held;
  }

  /**
   * A port hands over all messages that are there, and those that come meanwhile, before anything else is looked at: keys would
   * wait for the end of a first reading. So what one brings is used in a turn of its own.
   */
  #answered(held: Held, answers: FoldAnswer[]): void {
    const batch = held.batches.shift() ?? [];
    this.#dispatch();
    this.#arrived.push({ batch, answers });
    if (this.#arrived.length === 1) setImmediate(() => this.#useNext());
  }

  #useNext(): void {
    const next = this.#arrived.shift();
    if (this.#arrived.length > 0) setImmediate(() => this.#useNext());
    if (next) this.#use(next.batch, next.answers);
  }

  #use(batch: readonly Waiting[], answers: readonly FoldAnswer[]): void {
    for (const [i, waiting] of batch.entries()) {
      const answer = answers[i];
      if (answer === undefined) waiting.reject(new Error("a reading thread did not answer"));
      else if ("error" in answer) waiting.reject(new Error(answer.error));
      else if ("failed" in answer) waiting.resolve(answer.failed);
      else {
        const { stamp, json, changed } = answer;
        waiting.resolve({ ok: true, changed, folded: KeptFolded.stored(stamp, storedInMemory(json)) });
      }
    }
    this.#rest();
  }

  /** A dead worker's work is given back: the callers read those files themselves. */
  #failed(held: Held, error: unknown): void {
    this.#workers.splice(this.#workers.indexOf(held), 1);
    const reason = new Error(`a reading thread died: ${error instanceof Error ? error.message : String(error)}`);
    for (const waiting of held.batches.flat()) waiting.reject(reason);
    // With nobody left to read, what waits is given back too: a thread that cannot start would never read it.
    if (this.#workers.length > 0) this.#dispatch();
    else for (const waiting of this.#queue.splice(0)) waiting.reject(reason);
  }

  #rest(): void {
    if (this.#closed || this.#linger || this.#workers.some((one) => one.batches.length > 0)) return;
    this.#linger = setTimeout(() => this.#letGo(), LINGER_MS);
    this.#linger.unref();
  }

  #letGo(): void {
    this.#linger = null;
    for (const { worker } of this.#workers.splice(0)) void worker.terminate();
  }
}
