import type { Evidence } from "../../probe/evidence.ts";
import type { SessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { Board, type BoardRules, type Described } from "./board.ts";
import type { Live } from "./seats.ts";

/** A session as its files say, with the requests behind its numbers. */
export interface DescribedRequests extends Described {
  requests: ModelRequest[];
}

/** A source's sessions by id: as their files say, and as they are shown now that processes were looked at. */
export class DescribedSessions<D extends DescribedRequests> {
  readonly #board: Board;
  readonly #described = new Map<string, D>();

  constructor(rules: BoardRules) {
    this.#board = new Board(rules);
  }

  get(id: string): D | null {
    return this.#described.get(id) ?? null;
  }

  all(): IterableIterator<D> {
    return this.#described.values();
  }

  /** Throws when there is none. */
  must(key: SessionKey): { snapshot: Snapshot; live: Live | null } {
    const held = this.#board.get(key);
    if (held === null) throw new Error(`there is no session ${key}`);
    return { snapshot: held.shown, live: held.live };
  }

  shownAs(key: SessionKey): Snapshot | null {
    return this.#board.get(key)?.shown ?? null;
  }

  shown(id: string): Snapshot | null {
    const described = this.#described.get(id);
    return described === undefined ? null : this.shownAs(described.snapshot.key);
  }

  /** Its own requests, and those of the sub-agents with these ids, each under its title. */
  requests(id: string, children: readonly string[] = []): ModelRequest[] {
    const own = this.#described.get(id)?.requests ?? [];
    const theirs = children.flatMap((child) => {
      const described = this.#described.get(child);
      return (described?.requests ?? []).map((one) => ({ ...one, by: described?.snapshot.title ?? child }));
    });
    return [...own, ...theirs];
  }

  /** Describes these sessions anew, null: there is no such session any more. Looks again at who runs what. */
  update(
    ids: Iterable<string>,
    describe: (id: string) => D | null,
    evidence: Evidence,
  ): { changed: Snapshot[]; removed: SessionKey[] } {
    const gone: SessionKey[] = [];
    const renewed: D[] = [];
    for (const id of ids) {
      const before = this.#described.get(id)?.snapshot.key;
      const described = describe(id);
      if (before !== undefined && before !== described?.snapshot.key) gone.push(before);
      if (described === null) this.#described.delete(id);
      else {
        this.#described.set(id, described);
        renewed.push(described);
      }
    }
    return this.#board.update(renewed, gone, evidence);
  }

  /** What a clock, a process or a pane changed. */
  look(evidence: Evidence): { changed: Snapshot[]; removed: SessionKey[] } {
    return this.#board.update([], [], evidence);
  }

  clear(): void {
    this.#board.clear();
    this.#described.clear();
  }
}
