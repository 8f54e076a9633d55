import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { listDirectory } from "../../files/list-directory.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import { Connections, NoDatabase } from "./connections.ts";
import { JsonStore } from "./json-store.ts";
import { isDatabaseName, storageOf } from "./places.ts";
import { GENERATIONS, type SessionRow, type SessionStore } from "./rows.ts";
import { briefFacts, readFacts, type SessionFacts } from "./session-facts.ts";
import type { DatabaseSync } from "./sqlite.ts";
import { V1Store } from "./v1-store.ts";
import { V2Store } from "./v2-store.ts";

/** How many of the newest sessions are looked at closely for rows that were written in place. */
const WATCHED_CLOSELY = 12;
const BATCH = 32;
const SLICE_MS = 8;
/** Bytes of messages that are read for a list; sessions beyond them, the oldest, show what their own row says. */
export const LIST_BUDGET = 64 * 1024 * 1024;
/** Above this a database's calls are not counted for a list. */
const COUNTED_BELOW = 128 * 1024 * 1024;

interface Held {
  row: string;
  mark: string;
  facts: SessionFacts;
}

/** The generations of one data directory, merged: of equal ids the newest generation wins (agents.md §4.1). */
export class RootStore {
  readonly root: Root;
  readonly #env: NodeJS.ProcessEnv;
  readonly #budget: number;
  readonly #connections = new Connections();
  readonly #rows = new Map<string, SessionRow[]>();
  readonly #held = new Map<string, Held>();
  readonly #problems = new Map<string, Problem>();
  #winners = new Map<string, SessionRow>();

  constructor(root: Root, env: NodeJS.ProcessEnv, budget = LIST_BUDGET) {
    this.root = root;
    this.#env = env;
    this.#budget = budget;
  }

  facts(id: string): SessionFacts | null {
    return this.#held.get(id)?.facts ?? null;
  }

  ids(): IterableIterator<string> {
    return this.#held.keys();
  }

  /** Is there a database, so that an OpenCode that knows one is in use? */
  hasDatabase(): boolean {
    return [...this.#rows].some(([place, rows]) => place !== STORAGE && rows.length > 0);
  }

  problems(): Problem[] {
    return [...this.#problems.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Looks at the whole directory. Yields the ids that changed or are gone, newest first, in batches. */
  async *scan(): AsyncGenerator<Set<string>> {
    this.#problems.clear();
    const databases = new Set<string>();
    const listing = await listDirectory(this.root.path);
    if (!listing.ok && (listing.kind !== "gone" || this.root.explicit)) {
      this.#problem(this.root.path, listing.kind, `${this.root.path}: ${listing.message}`);
    }
    for (const entry of listing.ok ? listing.entries : []) {
      if (isDatabaseName(entry.name, this.root.path, this.#env)) databases.add(join(this.root.path, entry.name));
    }
    for (const place of this.#rows.keys()) if (place !== STORAGE && !databases.has(place)) this.#rows.delete(place);
    yield* this.refresh(new Set([...databases, STORAGE]));
  }

  /** Reads these places again: databases by path, `storage` for the files. */
  async *refresh(places: ReadonlySet<string>): AsyncGenerator<Set<string>> {
    for (const place of places) await this.#list(place);
    const winners = this.#merge();
    const gone = new Set([...this.#held.keys()].filter((id) => !winners.has(id)));
    for (const id of gone) this.#held.delete(id);
    if (gone.size > 0) yield gone;
    this.#winners = winners;
    const sorted = [...winners.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
    const close = new Set(sorted.slice(0, WATCHED_CLOSELY).map((row) => row.id));
    const due = sorted.filter((row) => places.has(placeOfRow(row)) || !this.#held.has(row.id));
    const spent = { bytes: 0 };
    for (let at = 0; at < due.length; at += BATCH) yield await this.#readBatch(due.slice(at, at + BATCH), close, spent);
  }

  /** Runs something over the store a session lies in; its parts are read for as long as that takes. */
  async use<T>(row: SessionRow, work: (store: SessionStore) => T): Promise<T> {
    if (row.generation === "json") return work(new JsonStore(storageOf(this.root.path)));
    return await this.#connections.use(row.path, (database) => work(storeOf(row, database)));
  }

  /** The session with its messages, whatever the list was content with. Throws when it is gone. */
  async whole(id: string): Promise<SessionFacts> {
    const held = this.#held.get(id);
    if (held?.facts.brief === false) return held.facts;
    const row = this.#winners.get(id);
    if (row === undefined) throw new Error(`there is no session ${id}`);
    const facts = await this.use(row, (store) => readFacts(store, row, { calls: true, edits: true }));
    if (held !== undefined) held.facts = facts;
    return facts;
  }

  async #list(place: string): Promise<void> {
    this.#problems.delete(place);
    if (place === STORAGE) {
      this.#rows.set(place, new JsonStore(storageOf(this.root.path)).sessions());
      return;
    }
    try {
      const rows = await this.#connections.use(place, (database) => [
        ...new V2Store(database, place).sessions(),
        ...new V1Store(database, place).sessions(),
      ]);
      this.#rows.set(place, rows);
    } catch (error) {
      if (error instanceof NoDatabase) this.#rows.delete(place);
      else this.#problem(place, "unreadable-database", `${place}: ${words(error)}: OpenCode itself may still read it`);
    }
  }

  #merge(): Map<string, SessionRow> {
    const winners = new Map<string, SessionRow>();
    for (const row of [...this.#rows.values()].flat()) {
      const before = winners.get(row.id);
      if (before === undefined || isNewer(row, before)) winners.set(row.id, row);
    }
    return winners;
  }

  async #readBatch(
    rows: readonly SessionRow[],
    close: ReadonlySet<string>,
    spent: { bytes: number },
  ): Promise<Set<string>> {
    const changed = new Set<string>();
    const byPlace = Map.groupBy(rows, (row) => `${row.generation} ${row.path}`);
    for (const group of byPlace.values()) {
      const [first] = group;
      if (first === undefined) continue;
      const read = async (store: SessionStore, small: boolean): Promise<void> => {
        let until = performance.now() + SLICE_MS;
        for (const row of group) {
          if (this.#readOne(store, row, close.has(row.id), small, spent)) changed.add(row.id);
          if (performance.now() < until) continue;
          await setImmediate();
          until = performance.now() + SLICE_MS;
        }
      };
      try {
        if (first.generation === "json") await read(new JsonStore(storageOf(this.root.path)), true);
        else {
          await this.#connections.use(first.path, async (database, mark) =>
            read(storeOf(first, database), mark.database.size + (mark.log?.size ?? 0) < COUNTED_BELOW),
          );
        }
      } catch (error) {
        if (!(error instanceof NoDatabase)) {
          this.#problem(first.path, "unreadable-database", `${first.path}: ${words(error)}`);
        }
      }
    }
    return changed;
  }

  #readOne(store: SessionStore, row: SessionRow, close: boolean, small: boolean, spent: { bytes: number }): boolean {
    const before = this.#held.get(row.id);
    const text = JSON.stringify(row);
    const sharp = close || before?.facts.tail.state === "open";
    const mark = sharp ? `sharp ${store.sharpMark(row)}` : store.mark(row);
    if (before !== undefined && before.row === text && sameMark(before.mark, mark)) return false;
    if (spent.bytes <= this.#budget) spent.bytes += store.weight(row);
    const wanted = { calls: small, edits: small || close };
    const facts = spent.bytes > this.#budget ? briefFacts(row) : readFacts(store, row, wanted);
    this.#held.set(row.id, { row: text, mark, facts });
    return true;
  }

  #problem(path: string, kind: string, message: string): void {
    this.#problems.set(path, { source: "opencode", path, kind, message });
  }
}

/** The place of everything below `storage/`. */
export const STORAGE = "storage";

function placeOfRow(row: SessionRow): string {
  return row.generation === "json" ? STORAGE : row.path;
}

function storeOf(row: SessionRow, database: DatabaseSync): SessionStore {
  return row.generation === "v2" ? new V2Store(database, row.path) : new V1Store(database, row.path);
}

function isNewer(row: SessionRow, than: SessionRow): boolean {
  const age = GENERATIONS.indexOf(row.generation) - GENERATIONS.indexOf(than.generation);
  return age > 0 || (age === 0 && row.updatedAt > than.updatedAt);
}

/** A look that sees less cannot tell that nothing changed from one that saw more. */
function sameMark(before: string, after: string): boolean {
  return before === after || (before.startsWith("sharp ") && !after.startsWith("sharp "));
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
