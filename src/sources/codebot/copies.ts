import type { SessionKey } from "../../session/key.ts";
import type { SessionState } from "./fold.ts";
import { compareInstants, type Instant, instantOf } from "./go-time.ts";
import { entryKey } from "./requests.ts";

interface Member {
  created: Instant | null;
  /** Keys of the entries that were taken in, in file order. */
  keys: string[];
}

/**
 * Which entries stand in more than one session, because one was forked from another: same id and same time. The
 * session that was created first owns them. Entries without tokens count too, so that a fork without a call is known.
 */
export class Copies {
  readonly #members = new Map<SessionKey, Member>();
  readonly #holders = new Map<string, Set<SessionKey>>();

  /** Takes in a session as it is now; returns the other sessions that share entries with it. O(new entries). */
  take(key: SessionKey, state: SessionState): Set<SessionKey> {
    const touched = new Set<SessionKey>();
    if (state.shape !== "tree") {
      this.drop(key);
      return touched;
    }
    const created = instantOf(state.header?.created);
    let member = this.#members.get(key);
    if (member !== undefined && !continues(member, created, state)) {
      for (const one of this.drop(key)) touched.add(one);
      member = undefined;
    }
    member ??= { created, keys: [] };
    this.#members.set(key, member);
    for (let at = member.keys.length + 1; at < state.entries.length; at++) {
      const facts = state.entries[at];
      if (facts === undefined) break;
      const name = entryKey(facts);
      member.keys.push(name);
      const holders = this.#holders.get(name) ?? new Set();
      this.#holders.set(name, holders.add(key));
      if (holders.size > 1) for (const holder of holders) touched.add(holder);
    }
    touched.delete(key);
    return touched;
  }

  /** Forgets a session; returns those that shared entries with it. */
  drop(key: SessionKey): Set<SessionKey> {
    const touched = new Set<SessionKey>();
    for (const name of this.#members.get(key)?.keys ?? []) {
      const holders = this.#holders.get(name);
      holders?.delete(key);
      if (holders?.size === 0) this.#holders.delete(name);
      for (const holder of holders ?? []) touched.add(holder);
    }
    this.#members.delete(key);
    return touched;
  }

  /** Does an entry belong to a session created before this one? */
  isCopied(key: SessionKey, name: string): boolean {
    const holders = this.#holders.get(name);
    if (holders === undefined || holders.size < 2 || !holders.has(key)) return false;
    return [...holders].some((holder) => this.#isEarlier(holder, key));
  }

  /** The earlier session that shares most with this one, null when none does. The youngest of equals: the nearest. */
  origin(key: SessionKey): SessionKey | null {
    const member = this.#members.get(key);
    if (member === undefined) return null;
    const shared = new Map<SessionKey, number>();
    for (const name of member.keys) {
      const holders = this.#holders.get(name);
      // Copies come first in a fork: after the first entry of its own there is none.
      if (holders === undefined || holders.size < 2) break;
      for (const holder of holders) {
        if (this.#isEarlier(holder, key)) shared.set(holder, (shared.get(holder) ?? 0) + 1);
      }
    }
    let origin: SessionKey | null = null;
    for (const [holder, count] of shared) {
      const most = origin === null ? 0 : (shared.get(origin) ?? 0);
      if (count > most || (count === most && origin !== null && this.#isEarlier(origin, holder))) origin = holder;
    }
    return origin;
  }

  #isEarlier(a: SessionKey, b: SessionKey): boolean {
    if (a === b) return false;
    const [left, right] = [this.#members.get(a)?.created ?? null, this.#members.get(b)?.created ?? null];
    const order =
      left === null || right === null ? Number(left === null) - Number(right === null) : compareInstants(left, right);
    return order === 0 ? a < b : order < 0;
  }
}

/** Is what was taken in still the beginning of the session? It is not after a roll-back or a rewrite. */
function continues(member: Member, created: Instant | null, state: SessionState): boolean {
  const last = state.entries[member.keys.length];
  if (last === undefined) return false;
  const sameTime =
    member.created === null || created === null
      ? member.created === created
      : compareInstants(member.created, created) === 0;
  return sameTime && (member.keys.length === 0 || entryKey(last) === member.keys.at(-1));
}
