import { dirname } from "node:path";
import { compareInstants, instantOf } from "./go-time.ts";
import type { Held } from "./held.ts";

/** Was `a` written to after `b`? By the times of their entries, as codebot orders them; ties by path. */
function isNewer(a: Held, b: Held): boolean {
  if (a.updated === null || b.updated === null) return a.updated !== null;
  const order = compareInstants(a.updated, b.updated);
  return order === 0 ? a.path < b.path : order > 0;
}

/** The newest session of every project directory (by version, because a build lists its own only) and of every cwd. */
export class Newest {
  readonly #members = new Map<string, Set<Held>>();
  readonly #newest = new Map<string, Held>();

  /** Takes in a session as it is now. Constant cost, unless the newest one went back in time. */
  take(held: Held): void {
    const before = held.updated;
    const { header, updated } = held.folded.state;
    const places = header === null ? [] : [placeIn(dirname(held.path), header.version), placeOfCwd(header.cwd)];
    held.updated = instantOf(updated);
    if (held.places.join() !== places.join()) {
      this.#leave(held);
      held.places = places;
    }
    const wentBack = before !== null && (held.updated === null || compareInstants(held.updated, before) < 0);
    for (const place of places) {
      const members = this.#members.get(place) ?? new Set();
      this.#members.set(place, members.add(held));
      const newest = this.#newest.get(place);
      if (newest === held && wentBack) this.#elect(place);
      else if (newest === undefined || (newest !== held && isNewer(held, newest))) this.#newest.set(place, held);
    }
  }

  drop(held: Held): void {
    this.#leave(held);
    held.places = [];
  }

  /** The session `codebot -c` would take in a project directory. */
  inDirectory(directory: string, version: number): Held | null {
    return this.#newest.get(placeIn(directory, version)) ?? null;
  }

  /** The session that a codebot in a working directory most likely has open. */
  ofCwd(cwd: string): Held | null {
    return this.#newest.get(placeOfCwd(cwd)) ?? null;
  }

  #leave(held: Held): void {
    for (const place of held.places) {
      this.#members.get(place)?.delete(held);
      if (this.#newest.get(place) === held) this.#elect(place);
    }
  }

  #elect(place: string): void {
    this.#newest.delete(place);
    for (const held of this.#members.get(place) ?? []) {
      const newest = this.#newest.get(place);
      if (newest === undefined || isNewer(held, newest)) this.#newest.set(place, held);
    }
  }
}

function placeIn(directory: string, version: number): string {
  return `in\0${directory}\0${version}`;
}

function placeOfCwd(cwd: string): string {
  return `cwd\0${cwd}`;
}
