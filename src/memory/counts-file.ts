import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen, openRegular } from "../files/open.ts";
import { replaceFile } from "../files/publish.ts";
import { type StatusCounts, sameCounts } from "../session/counts.ts";
import { isStatusName } from "../session/status.ts";

/** At most this often is the file written, ms: the first change at once, the rest gathered. */
const GATHER_MS = 1000;
/** How often it is written without a change, ms: that it is fresh says that somebody still watches. */
const ALIVE_MS = 25_000;
/** Older than this, ms, it says nothing of now. */
const STALE_MS = 60_000;
/** Larger is none of ours. */
const MOST_BYTES = 4096;

/**
 * The counts by status, in a tiny file that a running forktail keeps fresh, so that a status bar has them at the price of
 * one small read. Written as a whole under another name and renamed: a reader sees the old or the new.
 */
export class CountsFile {
  readonly #directory: string;
  readonly #clock: () => number;
  #counts: StatusCounts | null = null;
  #at = 0;
  #written = Number.NEGATIVE_INFINITY;
  #gather: NodeJS.Timeout | null = null;
  #alive: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  /** `clock`: ms since 1970, for the times between updates. */
  constructor(directory: string, clock: () => number = Date.now) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** The counts as they are at `now`, ms since 1970. Writes only when they changed; never throws. */
  update(counts: StatusCounts, now: number): void {
    if (this.#counts !== null && sameCounts(this.#counts, counts)) return;
    this.#counts = { ...counts };
    this.#at = now;
    const wait = GATHER_MS - (performance.now() - this.#written);
    if (wait <= 0) this.#write();
    else this.#gather ??= setTimeout(() => this.#write(), wait).unref();
    this.#alive ??= setInterval(() => {
      this.#at = this.#clock();
      this.#write();
    }, ALIVE_MS).unref();
  }

  /** Writes what is still to be written, and stops. The file stays: a minute later it says that it is old. */
  async close(): Promise<void> {
    if (this.#alive) clearInterval(this.#alive);
    this.#alive = null;
    if (this.#gather) this.#write();
    await this.#writing;
  }

  #write(): void {
    if (this.#gather) clearTimeout(this.#gather);
    this.#gather = null;
    this.#written = performance.now();
    const text = `${JSON.stringify({ schema: 1, at: new Date(this.#at).toISOString(), counts: this.#counts })}\n`;
    this.#writing = this.#writing.then(async () => {
      try {
        mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
        await replaceFile(countsPath(this.#directory), text, { mode: 0o600, durable: false });
      } catch {
        // A status bar without numbers is no reason to disturb anybody: the state directory's own troubles are told elsewhere.
      }
    });
  }
}

export interface KnownCounts {
  /** ms since 1970. */
  at: number;
  counts: StatusCounts;
}

/** The counts last written, null when there are none, or the file is not one of ours. */
export function readCounts(directory: string): KnownCounts | null {
  try {
    using file = openRegular(countsPath(directory));
    if (file.size > MOST_BYTES) return null;
    return checked(JSON.parse(file.read(0, file.size).toString("utf8")));
  } catch (error) {
    if (error instanceof CannotOpen || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Nobody refreshes it any more; a time well ahead of the clock says as little as an old one. */
export function isStale(known: KnownCounts, now: number): boolean {
  return Math.abs(now - known.at) > STALE_MS;
}

function countsPath(directory: string): string {
  return join(directory, "counts.json");
}

/** By hand, because a status bar asks every second: a checking library would be most of the time it waits. */
function checked(saved: unknown): KnownCounts | null {
  if (typeof saved !== "object" || saved === null || !("at" in saved) || !("counts" in saved)) return null;
  const at = typeof saved.at === "string" ? Date.parse(saved.at) : Number.NaN;
  if (Number.isNaN(at) || typeof saved.counts !== "object" || saved.counts === null) return null;
  const counts: StatusCounts = {};
  for (const [name, count] of Object.entries(saved.counts)) {
    if (isStatusName(name) && Number.isSafeInteger(count) && count >= 0) counts[name] = count;
  }
  return { at, counts };
}
