import type { Folded } from "../../files/fold.ts";
import type { Problem } from "../../session/problem.ts";
import { Holders } from "../by-process/holders.ts";
import type { Root } from "../source.ts";
import { type GeminiFile, type GeminiMessage, isSession, messageOf, messagesOf } from "./file.ts";
import { messageKey } from "./ids.ts";
import type { Place } from "./places.ts";

export interface Candidate {
  root: Root;
  place: Exclude<Place, { kind: "project-root" }>;
  folded: Folded<GeminiFile>;
  id: string;
}

/** What of a file's messages is entered. */
interface Held {
  file: GeminiFile;
  count: number;
  keys: Set<string>;
  /** Messages that another record may give another key, or numbers, and the key they have. */
  unsettled: Map<string, string | null>;
}

/** All chat files of all roots: which id lies where, which files are none, which chats share messages. */
export class GeminiSessions {
  readonly #byPath = new Map<string, Candidate>();
  readonly #byId = new Map<string, Set<string>>();
  readonly #others = new Map<string, { root: Root; torn: boolean }>();
  readonly #holders = new Holders();
  /** Those that have a message with its numbers. */
  readonly #billed = new Holders();
  readonly #held = new Map<string, Held>();
  /** By id: what chats that share messages with it say of it, or are judged by. */
  readonly #facts = new Map<string, string>();

  paths(): string[] {
    return [...this.#byPath.keys(), ...this.#others.keys()];
  }

  /** Takes in a file as it is now; returns the ids it concerns. */
  take(root: Root, place: Candidate["place"], folded: Folded<GeminiFile>): Set<string> {
    const { path, state } = folded;
    const { id } = state;
    const before = this.#byPath.get(path);
    if (before !== undefined && isHalfWritten(folded)) return new Set();
    // An object's state is filled anew at every reading; a log's is added to.
    const grew = path.endsWith(".jsonl") && this.#held.get(path)?.file === state && before?.id === id;
    const touched = grew ? new Set<string>() : this.drop(path);
    if (id === null || !isSession(state)) {
      if (grew) for (const one of this.drop(path)) touched.add(one);
      this.#others.set(path, { root, torn: id === null });
      return touched;
    }
    this.#byPath.set(path, { root, place, folded, id });
    this.#byId.set(id, (this.#byId.get(id) ?? new Set()).add(path));
    this.#enter(path, state, touched);
    this.#noteFacts(id, touched);
    return touched.add(id);
  }

  drop(path: string): Set<string> {
    this.#others.delete(path);
    const before = this.#byPath.get(path);
    if (before === undefined) return new Set();
    const { id } = before;
    const touched = new Set([id]);
    for (const key of this.#held.get(path)?.keys ?? []) {
      this.#touch(touched, key);
      this.#remove(key, path);
    }
    this.#held.delete(path);
    this.#byPath.delete(path);
    this.#byId.get(id)?.delete(path);
    this.#noteFacts(id, touched);
    return touched;
  }

  /** Messages only ever come behind those that were seen: of a log that grew what is new is entered. */
  #enter(path: string, file: GeminiFile, touched: Set<string>): void {
    const held: Held = this.#held.get(path) ?? { file, count: 0, keys: new Set(), unsettled: new Map() };
    this.#held.set(path, held);
    const fresh = file.seen.slice(held.count);
    held.count = file.seen.length;
    for (const id of [...held.unsettled.keys(), ...fresh]) this.#hold(path, held, id, touched);
  }

  #hold(path: string, held: Held, id: string, touched: Set<string>): void {
    const message = messageOf(held.file, id);
    const key = message === null ? null : messageKey(message);
    const before = held.unsettled.get(id) ?? null;
    if (before !== null && before !== key) {
      this.#touch(touched, before);
      this.#remove(before, path);
      held.keys.delete(before);
    }
    if (key === id && message?.tokens != null) held.unsettled.delete(id);
    else held.unsettled.set(id, key);
    if (key === null) return;
    const holds = this.#holders.add(key, path);
    const bills = message?.tokens != null && this.#billed.add(key, path);
    if (holds || bills) this.#touch(touched, key);
    held.keys.add(key);
  }

  #remove(key: string, path: string): void {
    this.#holders.remove(key, path);
    this.#billed.remove(key, path);
  }

  #touch(touched: Set<string>, key: string): void {
    for (const id of this.#idsOf(this.#holders, key)) touched.add(id);
  }

  #idsOf(holders: Holders, key: string | null): Set<string> {
    const ids = new Set<string>();
    for (const path of key === null ? [] : holders.of(key)) {
      const id = this.#byPath.get(path)?.id;
      if (id !== undefined) ids.add(id);
    }
    return ids;
  }

  /** When it began decides who owns what it shares, and another of its files may be shown now. */
  #noteFacts(id: string, touched: Set<string>): void {
    const shown = this.candidates(id)[0];
    const facts = shown === undefined ? "" : `${shown.folded.state.startedAt} ${shown.root.index}`;
    if (this.#facts.get(id) === facts) return;
    if (shown === undefined) this.#facts.delete(id);
    else this.#facts.set(id, facts);
    for (const path of this.#byId.get(id) ?? []) {
      for (const key of this.#held.get(path)?.keys ?? []) this.#touch(touched, key);
    }
  }

  /** The files of one id; the first one is shown: the one that was updated last (agents.md §5.1). */
  candidates(id: string): Candidate[] {
    const all = [...(this.#byId.get(id) ?? [])].map((path) => this.#byPath.get(path));
    return all
      .filter((one) => one !== undefined)
      .sort(
        (a, b) =>
          (b.folded.state.updatedAt ?? 0) - (a.folded.state.updatedAt ?? 0) ||
          Number(b.folded.path.endsWith(".jsonl")) - Number(a.folded.path.endsWith(".jsonl")) ||
          (a.folded.path < b.folded.path ? -1 : 1),
      );
  }

  all(): Candidate[] {
    return [...this.#byPath.values()];
  }

  ids(): string[] {
    return [...this.#byId].filter(([, paths]) => paths.size > 0).map(([id]) => id);
  }

  childrenOf(id: string): Candidate[] {
    const shown = [...this.#byPath.values()].filter((one) => one.place.kind === "child" && one.place.parent === id);
    return shown
      .filter((one) => this.candidates(one.id)[0] === one)
      .sort((a, b) => (a.folded.state.startedAt ?? 0) - (b.folded.state.startedAt ?? 0));
  }

  /** The session that owns a request: of those that have its numbers the one that began first, for a copy begins later. */
  ownerOf(message: GeminiMessage): string | null {
    const began = (id: string): number => this.candidates(id)[0]?.folded.state.startedAt ?? Number.POSITIVE_INFINITY;
    const holders = [...this.#idsOf(this.#billed, messageKey(message))];
    if (holders.length < 2) return holders[0] ?? null;
    holders.sort((a, b) => (began(a) === began(b) ? 0 : began(a) - began(b)) || (a < b ? -1 : 1));
    return holders[0] ?? null;
  }

  /** The session that a copy shares most of its messages with; of those that began before it the first, by id at last. */
  originOf(candidate: Candidate): string | null {
    const began = (id: string): number => this.candidates(id)[0]?.folded.state.startedAt ?? 0;
    const mine = candidate.folded.state.startedAt ?? 0;
    const counts = new Map<string, number>();
    for (const message of messagesOf(candidate.folded.state, candidate.folded.state.active)) {
      if (!message.prompt && message.type !== "gemini") continue;
      for (const id of this.#idsOf(this.#holders, messageKey(message))) {
        if (id !== candidate.id) counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    const origins = [...counts].map(([id, shared]) => ({ id, shared, at: began(id) }));
    const earlier = origins.filter(({ id, at }) => at < mine || (at === mine && id < candidate.id));
    earlier.sort((a, b) => b.shared - a.shared || a.at - b.at || (a.id < b.id ? -1 : 1));
    return earlier[0]?.id ?? null;
  }

  problems(): Problem[] {
    const problems: Problem[] = [];
    const byRoot = new Map<string, { empty: number; torn: number }>();
    for (const { root, torn } of this.#others.values()) {
      const counts = byRoot.get(root.path) ?? { empty: 0, torn: 0 };
      if (torn) counts.torn += 1;
      else counts.empty += 1;
      byRoot.set(root.path, counts);
    }
    for (const [path, { empty, torn }] of byRoot) {
      const message = `${path}: ${empty + torn} chat files are no sessions (${empty} of a start only, ${torn} unreadable): left out`;
      problems.push({ source: "gemini", path, kind: "not-sessions", message });
    }
    for (const id of this.ids()) {
      const [shown, ...others] = this.candidates(id);
      for (const other of others) {
        const message = `${other.folded.path}: the same session as ${shown?.folded.path ?? "another file"}, which was updated later: left out`;
        problems.push({ source: "gemini", path: other.folded.path, kind: "duplicate", message });
      }
    }
    return problems;
  }
}

/** An object that was put in another's place and has no end yet: what lay there before still holds. */
function isHalfWritten({ path, size, state }: Folded<GeminiFile>): boolean {
  return !path.endsWith(".jsonl") && state.id === null && (state.torn > 0 || size === 0);
}
