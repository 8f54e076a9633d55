import { randomInt } from "node:crypto";

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 14;
const MASK = (1n << 48n) - 1n;

/** Ids as OpenCode makes them: time and a counter in 12 hex digits, then letters. Sessions count down, the rest up. */
export class FreshIds {
  readonly #ms: number;
  #count = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  session(): string {
    return `ses_${this.#next(true)}`;
  }

  /** Later calls sort behind earlier ones. */
  message(): string {
    return `msg_${this.#next(false)}`;
  }

  part(): string {
    return `prt_${this.#next(false)}`;
  }

  #next(descending: boolean): string {
    this.#count += 1;
    const value = (BigInt(this.#ms) * 0x1000n + BigInt(this.#count)) & MASK;
    const hex = (descending ? ~value & MASK : value).toString(16).padStart(12, "0");
    const letters = Array.from({ length: RANDOM_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    return hex + letters;
  }
}
