import type { ClaudeFile } from "./file.ts";

/**
 * Which sessions hold replies of the same id, whether or not their rows say that they were copied (agents.md §1.3, §1.5).
 * Ids are kept as hashes: there are hundreds of thousands, and two that meet by chance only cost a comparison.
 */
export class SharedMessages {
  /** Hash of a message's id → the first session that was seen with it. */
  readonly #first = new Map<number, string>();
  /** First session → how many are tied to it. */
  readonly #tied = new Map<string, number>();
  /** Session → what ties it to those that it shares a reply with. */
  readonly #ties = new Map<string, Set<string>>();
  /** Replies of a file that were noted: an append costs what was appended. */
  readonly #noted = new WeakMap<ClaudeFile, number>();

  ties(session: string): ReadonlySet<string> {
    return this.#ties.get(session) ?? NONE;
  }

  /** Takes in the replies of a session's file; returns the sessions that have a new tie. */
  note(session: string, file: ClaudeFile): Set<string> {
    const { requests } = file;
    const tied = new Set<string>();
    for (let at = this.#noted.get(file) ?? 0; at < requests.length; at += 1) {
      const request = requests[at];
      // A reply without an id was named after its row.
      if (request === undefined || request.id.startsWith("row:")) continue;
      const hash = hashOf(request.id);
      const first = this.#first.get(hash);
      if (first === undefined) this.#first.set(hash, session);
      else if (first !== session) this.#tie(first, session, tied);
    }
    this.#noted.set(file, requests.length);
    return tied;
  }

  #tie(first: string, other: string, tied: Set<string>): void {
    const tie = `message:${first}`;
    const count = this.#tied.get(first) ?? 0;
    // So many are no copies: a gateway numbers its replies anew in each session, and all would be judged for every append.
    if (this.ties(other).has(tie) || count >= MOST_TIED) return;
    this.#tied.set(first, count + 1);
    for (const session of [first, other]) {
      this.#ties.set(session, (this.#ties.get(session) ?? new Set()).add(tie));
      tied.add(session);
    }
  }
}

const MOST_TIED = 64;
const NONE: ReadonlySet<string> = new Set();

/** 52 bits: two rounds of FNV-1a. */
function hashOf(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  return (high & 0xfffff) * 0x100000000 + (low >>> 0);
}
