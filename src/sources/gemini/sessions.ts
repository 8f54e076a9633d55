import type { Folded } from "../../files/fold.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import { type GeminiFile, isSession, messagesOf } from "./file.ts";
import { isUnique } from "./ids.ts";
import type { Place } from "./places.ts";

export interface Candidate {
  root: Root;
  place: Exclude<Place, { kind: "project-root" }>;
  folded: Folded<GeminiFile>;
  id: string;
}

/** All chat files of all roots: which id lies where, which files are none, which chats share messages. */
export class GeminiSessions {
  readonly #byPath = new Map<string, Candidate>();
  readonly #byId = new Map<string, Set<string>>();
  readonly #others = new Map<string, { root: Root; torn: boolean }>();
  /** By message: the sessions that hold it. */
  readonly #holders = new Map<string, Set<string>>();
  /** By path: how many of the file's messages are entered, and which those are. */
  readonly #held = new Map<string, { file: GeminiFile; count: number; messages: Set<string> }>();

  paths(): string[] {
    return [...this.#byPath.keys(), ...this.#others.keys()];
  }

  candidateAt(path: string): Candidate | null {
    return this.#byPath.get(path) ?? null;
  }

  /** Takes in a file as it is now; returns the ids it concerns. */
  take(root: Root, place: Candidate["place"], folded: Folded<GeminiFile>): Set<string> {
    const { id } = folded.state;
    const before = this.#byPath.get(folded.path);
    // An object's state is filled anew at every reading; a log's is added to.
    const appends = folded.path.endsWith(".jsonl") && this.#held.get(folded.path)?.file === folded.state;
    const grew = appends && before?.id === id;
    const touched = grew ? new Set<string>() : this.drop(folded.path);
    if (id === null || !isSession(folded.state)) {
      if (grew) for (const one of this.drop(folded.path)) touched.add(one);
      this.#others.set(folded.path, { root, torn: id === null });
      return touched;
    }
    this.#byPath.set(folded.path, { root, place, folded, id });
    this.#byId.set(id, (this.#byId.get(id) ?? new Set()).add(folded.path));
    const held = this.#held.get(folded.path) ?? { file: folded.state, count: 0, messages: new Set<string>() };
    this.#held.set(folded.path, held);
    // Messages only ever come behind those that were seen: an append enters what is new.
    for (; held.count < folded.state.seen.length; held.count += 1) {
      const message = folded.state.seen[held.count] ?? "";
      if (!isUnique(message)) continue;
      const holders = this.#holders.get(message) ?? new Set();
      for (const one of holders) touched.add(one);
      this.#holders.set(message, holders.add(id));
      held.messages.add(message);
    }
    return touched.add(id);
  }

  drop(path: string): Set<string> {
    this.#others.delete(path);
    const before = this.#byPath.get(path);
    if (before === undefined) return new Set();
    this.#byPath.delete(path);
    this.#byId.get(before.id)?.delete(path);
    const touched = new Set([before.id]);
    const twins = this.candidates(before.id).map((one) => this.#held.get(one.folded.path)?.messages);
    for (const message of this.#held.get(path)?.messages ?? []) {
      const holders = this.#holders.get(message);
      for (const one of holders ?? []) touched.add(one);
      if (!twins.some((messages) => messages?.has(message))) holders?.delete(before.id);
      if (holders?.size === 0) this.#holders.delete(message);
    }
    this.#held.delete(path);
    return touched;
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

  /** The session that owns a message: of those that hold it the one that began first, for a copy begins later. */
  ownerOf(message: string): string | null {
    const began = (id: string): number => this.candidates(id)[0]?.folded.state.startedAt ?? Number.POSITIVE_INFINITY;
    const holders = [...(this.#holders.get(message) ?? [])];
    if (holders.length < 2) return holders[0] ?? null;
    holders.sort((a, b) => (began(a) === began(b) ? 0 : began(a) - began(b)) || (a < b ? -1 : 1));
    return holders[0] ?? null;
  }

  /** The session that a copy shares its messages with: the latest to begin of those that began before it. */
  originOf(candidate: Candidate): string | null {
    const mine = candidate.folded.state.startedAt ?? 0;
    let best: { id: string; shared: number; at: number } | null = null;
    const counts = new Map<string, number>();
    for (const message of messagesOf(candidate.folded.state, candidate.folded.state.active)) {
      if (!message.prompt && message.type !== "gemini") continue;
      for (const id of this.#holders.get(message.id) ?? []) {
        if (id !== candidate.id) counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    for (const [id, shared] of counts) {
      const at = this.candidates(id)[0]?.folded.state.startedAt ?? 0;
      if (at > mine || (at === mine && id > candidate.id)) continue;
      if (best === null || shared > best.shared || (shared === best.shared && at < best.at)) best = { id, shared, at };
    }
    return best?.id ?? null;
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
