import { readSync } from "node:fs";
import { CannotOpen, fileWork, openRegular } from "../files/open.ts";
import { type ByteFinder, byteFinder } from "./byte-finder.ts";
import type { RawPatterns } from "./raw-patterns.ts";

const CHUNK = 256 * 1024;

export interface Scanned {
  /** May this file hold the needles? A file that cannot be read may: its reader will say what is wrong. */
  passes: boolean;
  bytes: number;
}

/** Scans files for one set of patterns. Holds one buffer, reads each byte once, and no further than it must. */
export class FileScanner {
  readonly #finders: readonly ByteFinder[];
  readonly #overlap: number;
  readonly #buffer: Buffer;

  constructor(patterns: RawPatterns) {
    this.#finders = patterns.map(byteFinder);
    this.#overlap = Math.max(0, ...this.#finders.map((finder) => finder.longest - 1));
    this.#buffer = Buffer.allocUnsafeSlow(CHUNK + this.#overlap);
  }

  /** Yields once a chunk. */
  *scan(path: string): Generator<void, Scanned> {
    let read = 0;
    try {
      using file = openRegular(path);
      let missing = this.#finders;
      let kept = 0;
      while (read < file.size && missing.length > 0) {
        const got = readSync(file.fd, this.#buffer, kept, Math.min(CHUNK, file.size - read), read);
        if (got === 0) break;
        read += got;
        fileWork.bytesRead += got;
        const length = kept + got;
        missing = missing.filter((finder) => !finder.isIn(this.#buffer, length));
        kept = Math.min(this.#overlap, length);
        this.#buffer.copyWithin(0, length - kept, length);
        yield;
      }
      return { passes: missing.length === 0, bytes: read };
    } catch (error) {
      if (error instanceof CannotOpen) return { passes: error.kind !== "gone", bytes: read };
      return { passes: true, bytes: read };
    }
  }
}
