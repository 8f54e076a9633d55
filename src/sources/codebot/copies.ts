import type { SessionKey } from "../../session/key.ts";
import type { SessionState } from "./fold.ts";
import { compareInstants, type Instant, instantOf } from "./go-time.ts";
import { entryKey } from "./requests.ts";

interface Member {
  created: Instant | null;
  /** Names of the entries that were taken in, in file order. */
  names: string[];
}

/** Who holds an entry. Nearly always one session; the set is made for the second one. */
interface Holders {
  /** The one created first: the others copied the entry. */
  owner: SessionKey;
  all: Set<SessionKey> | null;
}

/**
 * Which entries stand in more than one session, because one was forked from another: same id and same time. The
 * session that was created first owns them. Entries without tokens count too, so that a fork without a call is known.
 */
export class Copies {
  readonly #members = new Map<SessionKey, Member>();
  readonly #holders = new Map<string, Holders>();

  /**
   * Takes in a session as it is now; returns the other sessions for which that changes what they own or come from.
   * O(new entries), and once the number of its copies when it is new.
   */
  take(key: SessionKey, state: SessionState): Set<SessionKey> {
    if (state.shape !== "tree") return this.drop(key);
    const touched = new Set<SessionKey>();
    const created = instantOf(state.header?.created);
    let member = this.#members.get(key);
    if (member !== undefined && !continues(member, created, state)) {
      for (const one of this.drop(key)) touched.add(one);
      member = undefined;
    }
    member ??= { created, names: [] };
    this.#members.set(key, member);
    const isNew = member.names.length === 0;
    for (let at = member.names.length + 1; at < state.entries.length; at++) {
      const facts = state.entries[at];
      if (facts === undefined) break;
      const name = entryKey(facts);
      member.names.push(name);
      const displaced = this.#add(name, key);
      if (displaced !== null) touched.add(displaced);
    }
    if (isNew) for (const one of this.#laterOnes(key, member)) touched.add(one);
    touched.delete(key);
    return touched;
  }

  /** Forgets a session; returns those for which that changes something. */
  drop(key: SessionKey): Set<SessionKey> {
    const member = this.#members.get(key);
    if (member === undefined) return new Set();
    const touched = this.#laterOnes(key, member);
    for (const name of member.names) {
      const heir = this.#remove(name, key);
      if (heir !== null) touched.add(heir);
    }
    this.#members.delete(key);
    return touched;
  }

  /** Was an entry of this session first written by another one? */
  isCopied(key: SessionKey, name: string): boolean {
    const holders = this.#holders.get(name);
    return holders?.all?.has(key) === true && holders.owner !== key;
  }

  /** The session this one was most likely forked from: of the earlier ones that share its last copied entry, the youngest. */
  origin(key: SessionKey): SessionKey | null {
    const member = this.#members.get(key);
    if (member === undefined) return null;
    // Copies come first in a fork: after the first entry of its own there is none.
    const own = member.names.findIndex((name) => !this.isCopied(key, name));
    const last = member.names[(own < 0 ? member.names.length : own) - 1];
    let origin: SessionKey | null = null;
    for (const holder of (last === undefined ? null : this.#holders.get(last)?.all) ?? []) {
      if (this.#isEarlier(holder, key) && (origin === null || this.#isEarlier(origin, holder))) origin = holder;
    }
    return origin;
  }

  /** Sessions created after this one that hold its first entry too. */
  #laterOnes(key: SessionKey, member: Member): Set<SessionKey> {
    const [first] = member.names;
    const all = (first === undefined ? null : this.#holders.get(first)?.all) ?? [];
    return new Set([...all].filter((holder) => this.#isEarlier(key, holder)));
  }

  /** Returns the owner that was displaced, null when nobody was. */
  #add(name: string, key: SessionKey): SessionKey | null {
    const holders = this.#holders.get(name);
    if (holders === undefined) {
      this.#holders.set(name, { owner: key, all: null });
      return null;
    }
    // The same entry twice in one file is no copy.
    if (holders.owner === key) return null;
    holders.all ??= new Set([holders.owner]);
    holders.all.add(key);
    if (!this.#isEarlier(key, holders.owner)) return null;
    const displaced = holders.owner;
    holders.owner = key;
    return displaced;
  }

  /** Returns the session that owns the entry now, null when that did not change. */
  #remove(name: string, key: SessionKey): SessionKey | null {
    const holders = this.#holders.get(name);
    if (holders === undefined) return null;
    if (holders.all === null) {
      if (holders.owner === key) this.#holders.delete(name);
      return null;
    }
    holders.all.delete(key);
    const [first, ...rest] = holders.all;
    if (first === undefined) this.#holders.delete(name);
    if (holders.owner !== key || first === undefined) return null;
    holders.owner = rest.reduce((owner, one) => (this.#isEarlier(one, owner) ? one : owner), first);
    return holders.owner;
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
  const last = state.entries[member.names.length];
  if (last === undefined) return false;
  const sameTime =
    member.created === null || created === null
      ? member.created === created
      : compareInstants(member.created, created) === 0;
  return sameTime && (member.names.length === 0 || entryKey(last) === member.names.at(-1));
}
