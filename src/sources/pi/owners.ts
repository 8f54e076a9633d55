import { Holders } from "../by-process/holders.ts";
import type { PiFile } from "./file.ts";
import type { Candidate } from "./sessions.ts";

/** What decides between the sessions that hold an entry. */
interface Kinship {
  /** The session that this file is shown as, null when another file of its id is. */
  shownAt(path: string): Candidate | null;
  /** The sessions a session goes back to, copy by copy, known or not. */
  originsOf(id: string): readonly string[];
}

/** Equal for the copies of an entry: a fork keeps ids and times (agents.md §3.2). */
export function entryKey({ ids, times }: PiFile, row: number): string {
  return `${ids[row] ?? ""}|${times[row] ?? 0}`;
}

/** Which session owns which request: whatever says of whom a session is a copy, what is the same is counted once. */
export class RequestOwners {
  readonly #kinship: Kinship;
  readonly #holders = new Holders();
  /** By path: how many of the file's requests are entered. */
  readonly #entered = new Map<string, { file: PiFile; count: number }>();
  /** Of shared entries, looked up by every session that holds them. */
  readonly #owners = new Map<string, string | null>();

  constructor(kinship: Kinship) {
    this.#kinship = kinship;
  }

  /** Enters the file's requests, of one that grew the new ones alone; returns the other files that hold any of them. */
  enter(path: string, file: PiFile): Set<string> {
    this.#owners.clear();
    const entered = this.#entered.get(path) ?? { file, count: 0 };
    this.#entered.set(path, entered);
    const sharers = this.#sharersOf(path, file, entered.count);
    for (; entered.count < file.requests.length; entered.count += 1) {
      this.#holders.add(entryKey(file, file.requests[entered.count]?.row ?? -1), path);
    }
    return sharers;
  }

  leave(path: string): void {
    this.#owners.clear();
    const entered = this.#entered.get(path);
    if (entered === undefined) return;
    this.#entered.delete(path);
    for (const { row } of entered.file.requests.slice(0, entered.count)) {
      this.#holders.remove(entryKey(entered.file, row), path);
    }
  }

  /** The other files that hold requests of this one. */
  sharersOf(path: string): Set<string> {
    const entered = this.#entered.get(path);
    return entered === undefined ? new Set() : this.#sharersOf(path, entered.file, 0);
  }

  #sharersOf(path: string, file: PiFile, from: number): Set<string> {
    const sharers = new Set<string>();
    for (let at = from; at < file.requests.length; at += 1) {
      for (const other of this.#holders.of(entryKey(file, file.requests[at]?.row ?? -1))) sharers.add(other);
    }
    sharers.delete(path);
    return sharers;
  }

  /**
   * The session that the others were copied from, by what they say, else the one that began first (agents.md §0). It
   * depends on the sessions alone, never on their order.
   */
  ownerOf(entry: string): string | null {
    const known = this.#owners.get(entry);
    if (known !== undefined) return known;
    const holders = [...this.#holders.of(entry)].flatMap((path) => this.#kinship.shownAt(path) ?? []);
    const ids = new Set(holders.map((one) => one.header.id));
    const originals = holders.filter((one) => !this.#kinship.originsOf(one.header.id).some((id) => ids.has(id)));
    const [owner] = (originals.length > 0 ? originals : holders).sort(byBeginning);
    const id = owner?.header.id ?? null;
    if (holders.length > 1) this.#owners.set(entry, id);
    return id;
  }
}

/** Of those that began together one that says it is a copy comes last. */
function byBeginning({ header: a }: Candidate, { header: b }: Candidate): number {
  const began = (a.startedAt ?? Number.MAX_SAFE_INTEGER) - (b.startedAt ?? Number.MAX_SAFE_INTEGER);
  const copies = Number(a.parentSession !== null) - Number(b.parentSession !== null);
  return began || copies || (a.id < b.id ? -1 : 1);
}
