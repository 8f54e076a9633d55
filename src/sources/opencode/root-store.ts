import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { listDirectory } from "../../files/list-directory.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import type { Counted } from "./both-stores.ts";
import { MissingColumns } from "./both-stores.ts";
import { Connections, NoDatabase } from "./connections.ts";
import { JsonStore } from "./json-store.ts";
import { isDatabaseName, storageOf } from "./places.ts";
import { GENERATIONS, type SessionRow, type SessionStore } from "./rows.ts";
import { readBrief, readFacts, type SessionFacts } from "./session-facts.ts";
import type { DatabaseSync } from "./sqlite.ts";
import { V1Store } from "./v1-store.ts";
import { V2Store } from "./v2-store.ts";

/** How many of the newest sessions are looked at closely for rows that were written in place. */
const WATCHED_CLOSELY = 12;
const BATCH = 32;
const SLICE_MS = 8;
/**
 * Bytes of messages that are read for a list: the newest sessions that fit. Others show what their own row says; the
 * very newest is always read, and so is what was read once.
 */
export const LIST_BUDGET = 64 * 1024 * 1024;
/** Above this a database's calls are not counted for a list. */
const COUNTED_BELOW = 128 * 1024 * 1024;

const NO_PARTS = "what was said in its sessions lies in a table part that this does not know";

interface Held {
  row: string;
  mark: string;
  facts: SessionFacts;
}

/** One reading of a directory. */
interface Look {
  /** Sessions that are looked at closely. */
  close: ReadonlySet<string>;
  newest: string | null;
  /** Bytes of messages that were read so far. */
  spent: number;
  /** By the database's path. */
  counted: Map<string, Counted>;
}

/** The generations of one data directory, merged: of equal ids the newest generation wins (agents.md §4.1). */
export class RootStore {
  readonly root: Root;
  readonly #env: NodeJS.ProcessEnv;
  readonly #budget: number;
  readonly #connections = new Connections();
  readonly #rows = new Map<string, SessionRow[]>();
  /** Paths of the databases that are there, whether they hold any session and can be read or not. */
  readonly #databases = new Set<string>();
  readonly #held = new Map<string, Held>();
  readonly #problems = new Map<string, Problem>();
  /** Of single files below `storage/`. */
  #fileProblems: Problem[] = [];
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
    return this.#databases.size > 0;
  }

  problems(): Problem[] {
    return [...this.#problems.values(), ...this.#fileProblems].sort((a, b) => (a.path < b.path ? -1 : 1));
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
    for (const place of this.#databases) if (!databases.has(place)) this.#forget(place);
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
    const newest = sorted[0]?.id ?? null;
    const due = sorted.filter((row) => places.has(placeOfRow(row)) || !this.#held.has(row.id));
    const look: Look = { close, newest, spent: 0, counted: new Map() };
    for (let at = 0; at < due.length; at += BATCH) yield await this.#readBatch(due.slice(at, at + BATCH), look);
  }

  /** Runs something over the store a session lies in; its parts are read for as long as that takes. */
  async use<T>(row: SessionRow, work: (store: SessionStore) => T): Promise<T> {
    if (row.generation === "json") return work(new JsonStore(storageOf(this.root.path)));
    return await this.#connections.use(row.path, (database) => work(storeOf(row, database)));
  }

  /** The session with its messages, whatever the list was content with; `wanted` of what is in their parts. Throws when it is gone. */
  async whole(id: string, wanted = { calls: true, edits: true }): Promise<SessionFacts> {
    const held = this.#held.get(id);
    if (held?.facts.brief === false) return held.facts;
    const row = this.#winners.get(id);
    if (row === undefined) throw new Error(`there is no session ${id}`);
    const facts = await this.use(row, (store) => readFacts(store, row, wanted));
    if (held !== undefined) held.facts = facts;
    return facts;
  }

  async #list(place: string): Promise<void> {
    if (place === STORAGE) {
      const before = new Map((this.#rows.get(place) ?? []).map((row) => [row.path, row]));
      const { rows, problems } = new JsonStore(storageOf(this.root.path)).look(before);
      this.#rows.set(place, rows);
      this.#fileProblems = problems;
      return;
    }
    this.#problems.delete(place);
    this.#databases.add(place);
    try {
      this.#rows.set(place, await this.#connections.use(place, (database) => this.#listDatabase(place, database)));
    } catch (error) {
      if (!(error instanceof NoDatabase)) this.#unreadable(place, error);
      else if (!(await this.#sayNoFile(place))) this.#forget(place);
    }
  }

  /** Sessions of both generations: what one of them lacks does not cost the other. */
  #listDatabase(place: string, database: DatabaseSync): SessionRow[] {
    const before = this.#rows.get(place) ?? [];
    const v1 = new V1Store(database, place);
    return [new V2Store(database, place), v1].flatMap((store) => {
      try {
        const rows = store.sessions();
        if (store === v1 && rows.length > 0 && !v1.hasParts) this.#unreadable(place, NO_PARTS);
        return rows;
      } catch (error) {
        if (!(error instanceof MissingColumns)) throw error;
        this.#unreadable(place, error);
        return before.filter((row) => row.generation === store.generation);
      }
    });
  }

  /** Says what stands in a database's place and is left alone; false when nothing does. */
  async #sayNoFile(place: string): Promise<boolean> {
    this.#rows.delete(place);
    const stats = await lstat(place).catch(() => null);
    if (stats === null) return false;
    if (!stats.isSymbolicLink()) {
      this.#problem(place, "not-regular", `${place}: no regular file: left alone; move it away`);
      return true;
    }
    const target = await realpath(place).catch(() => null);
    const [folder, name] = target === null ? ["", ""] : [dirname(target), basename(target)];
    // Its target is read under its own name.
    if (folder === (await realpath(this.root.path)) && isDatabaseName(name, this.root.path, this.#env)) return true;
    const way = target === null ? "its target is gone" : wayTo(target);
    this.#problem(place, "not-regular", `${place}: a link, which is not followed: ${way}`);
    return true;
  }

  #forget(place: string): void {
    this.#rows.delete(place);
    this.#databases.delete(place);
    this.#problems.delete(place);
  }

  #unreadable(place: string, error: unknown): void {
    this.#problem(place, "unreadable-database", `${place}: ${words(error)}: OpenCode itself may still read it`);
  }

  #merge(): Map<string, SessionRow> {
    const winners = new Map<string, SessionRow>();
    for (const row of [...this.#rows.values()].flat()) {
      const before = winners.get(row.id);
      if (before === undefined || isNewer(row, before)) winners.set(row.id, row);
    }
    return winners;
  }

  async #readBatch(rows: readonly SessionRow[], look: Look): Promise<Set<string>> {
    const changed = new Set<string>();
    const byPlace = Map.groupBy(rows, (row) => `${row.generation} ${row.path}`);
    for (const group of byPlace.values()) {
      const [first] = group;
      if (first === undefined) continue;
      const read = async (store: SessionStore, small: boolean): Promise<void> => {
        let until = performance.now() + SLICE_MS;
        for (const row of group) {
          if (this.#readOne(store, row, small, look)) changed.add(row.id);
          if (performance.now() < until) continue;
          await setImmediate();
          until = performance.now() + SLICE_MS;
        }
      };
      try {
        if (first.generation === "json") await read(new JsonStore(storageOf(this.root.path)), true);
        else {
          await this.#connections.use(first.path, async (database, mark) =>
            read(
              storeOf(first, database, countedIn(look, first.path)),
              mark.database.size + (mark.log?.size ?? 0) < COUNTED_BELOW,
            ),
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

  #readOne(store: SessionStore, row: SessionRow, small: boolean, look: Look): boolean {
    const before = this.#held.get(row.id);
    const text = JSON.stringify(row);
    const close = look.close.has(row.id);
    const sharp = close || before?.facts.tail.state === "open";
    const mark = sharp ? `sharp ${store.sharpMark(row)}` : store.mark(row);
    if (before !== undefined && before.row === text && sameMark(before.mark, mark)) return false;
    const weight = store.weight(row);
    const fits = look.spent + weight <= this.#budget;
    // One that is too big takes nothing from the others.
    if (fits) look.spent += weight;
    const whole = fits || row.id === look.newest || before?.facts.brief === false;
    const facts = whole ? readFacts(store, row, { calls: small, edits: small || close }) : readBrief(store, row);
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

function storeOf(row: SessionRow, database: DatabaseSync, counted?: Counted): SessionStore {
  return row.generation === "v2" ? new V2Store(database, row.path, counted) : new V1Store(database, row.path, counted);
}

function countedIn({ counted }: Look, path: string): Counted {
  const known = counted.get(path) ?? new Map();
  counted.set(path, known);
  return known;
}

function isNewer(row: SessionRow, than: SessionRow): boolean {
  const age = GENERATIONS.indexOf(row.generation) - GENERATIONS.indexOf(than.generation);
  return age > 0 || (age === 0 && row.updatedAt > than.updatedAt);
}

/** A look that sees less cannot tell that nothing changed from one that saw more. */
function sameMark(before: string, after: string): boolean {
  return before === after || (before.startsWith("sharp ") && !after.startsWith("sharp "));
}

/** How a database that a link leads to is read. */
function wayTo(target: string): string {
  const folder = dirname(target);
  return isDatabaseName(basename(target), folder, {}) ? `use --root opencode=${folder}` : `use OPENCODE_DB=${target}`;
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
