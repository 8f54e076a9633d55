import { setImmediate } from "node:timers/promises";

/**
 * Shares this thread with whoever waits for it: after so much work, by however many, the event loop goes on once. Promises
 * alone never let it, and a key would wait until all of them are done.
 */
export class Turns {
  readonly #sliceMs: number;
  #until = 0;
  readonly #waiting: (() => void)[] = [];
  #serving = false;

  constructor(sliceMs = 8) {
    this.#sliceMs = sliceMs;
  }

  /** Resolves at once while there is time left in this turn, else in a later one, in the order of asking. */
  next(): Promise<void> {
    if (this.#waiting.length === 0 && performance.now() < this.#until) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (!this.#serving) void this.#serve();
    return promise;
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    while (this.#waiting.length > 0) {
      await setImmediate();
      this.#until = performance.now() + this.#sliceMs;
      // One by one: what one does counts before the next is let in.
      while (this.#waiting.length > 0 && performance.now() < this.#until) {
        this.#waiting.shift()?.();
        await null;
      }
    }
    this.#serving = false;
  }
}
