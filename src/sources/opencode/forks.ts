import type { MessageRow } from "./rows.ts";
import type { SessionFacts } from "./session-facts.ts";
import { originTitle } from "./titles.ts";

/**
 * Equal for the copies of a reply in other sessions: times and tokens are copied, ids are not (agents.md §4.3). A reply
 * that never finished is copied like any other.
 */
function fingerprint(message: MessageRow): string | null {
  const { createdAt, completedAt, provider, model, tokens } = message;
  if (message.role === "user" || tokens === null) return null;
  const numbers = [tokens.input, tokens.output, tokens.reasoning, tokens.cacheRead, tokens.cacheWrite];
  return [createdAt, completedAt ?? "", provider, model, ...numbers].join("|");
}

/** What a reply is called wherever it was copied to, by the session that owns it. */
export function nameOf(message: MessageRow): string {
  return fingerprint(message) ?? message.id;
}

/** Whose a copied reply is, and what it is called there. */
interface Owned {
  owner: string;
  name: string;
}

export interface Lineage {
  /** The session it was copied from, known or not. */
  forkOf: string | null;
  /** Of each reply that another session owns, by message id. */
  copied: ReadonlyMap<string, Owned>;
}

interface Prints {
  ofMessage: Map<string, string>;
  message: Map<string, MessageRow>;
  /** By their order, which copies keep (v2). */
  bySeq: Map<number, MessageRow>;
}

const NO_PRINTS: Prints = { ofMessage: new Map(), message: new Map(), bySeq: new Map() };

/** Every session by the fingerprints of its replies, so that copies are found without comparing all with all. */
export class ForkIndex {
  readonly #sessions = new Map<string, SessionFacts>();
  readonly #byPrint = new Map<string, Set<string>>();
  /** By session: what each message's fingerprint is, and which message has it. */
  readonly #prints = new Map<string, Prints>();
  /** By session: those that point at it. */
  readonly #copies = new Map<string, Set<string>>();

  /** Takes in a session as it is now, or drops it; returns the sessions whose lineage may change by it. */
  set(id: string, facts: SessionFacts | null): Set<string> {
    const kin = new Set<string>([id]);
    for (const print of this.#prints.get(id)?.message.keys() ?? []) {
      const sharing = this.#byPrint.get(print);
      sharing?.delete(id);
      for (const one of sharing ?? []) kin.add(one);
      if (sharing?.size === 0) this.#byPrint.delete(print);
    }
    this.#prints.delete(id);
    this.#copies.get(this.#sessions.get(id)?.session.forkId ?? "")?.delete(id);
    this.#sessions.delete(id);
    if (facts !== null) {
      this.#sessions.set(id, facts);
      const { forkId } = facts.session;
      if (forkId !== null) this.#copies.set(forkId, (this.#copies.get(forkId) ?? new Set()).add(id));
      const prints: Prints = { ofMessage: new Map(), message: new Map(), bySeq: new Map() };
      for (const message of facts.messages) {
        if (facts.session.generation === "v2") prints.bySeq.set(message.seq, message);
        const print = fingerprint(message);
        if (print === null) continue;
        prints.ofMessage.set(message.id, print);
        prints.message.set(print, message);
        const sharing = this.#byPrint.get(print) ?? new Set();
        for (const one of sharing) kin.add(one);
        this.#byPrint.set(print, sharing.add(id));
      }
      this.#prints.set(id, prints);
    }
    // Copies of copies point at a copy.
    for (const one of kin) for (const copy of this.#copies.get(one) ?? []) kin.add(copy);
    return kin;
  }

  /** Sessions that others were copied from: by their ids, or by their titles where there is no pointer. */
  origins(): { ids: Set<string>; titles: Set<string> } {
    const ids = new Set<string>();
    const titles = new Set<string>();
    for (const { session, messages } of this.#sessions.values()) {
      if (session.forkId !== null) ids.add(session.forkId);
      const title = originTitle(session.title);
      if (title !== null && messages.some((one) => one.createdAt < session.createdAt)) titles.add(title);
    }
    return { ids, titles };
  }

  lineage(id: string): Lineage {
    const facts = this.#sessions.get(id);
    if (facts === undefined) return { forkOf: null, copied: new Map() };
    const pointed = facts.session.forkId;
    const copied = new Map<string, Owned>();
    const shared = new Map<string, number>();
    const prints = this.#prints.get(id) ?? NO_PRINTS;
    const boundaries = new Map<string, number | null>();
    for (const message of facts.messages) {
      if (message.role === "user" || !this.#isCopy(facts, message, boundaries)) continue;
      const first = this.#original(facts, message, boundaries);
      const print = first === null ? prints.ofMessage.get(message.id) : fingerprint(first.message);
      const others = print === undefined || print === null ? [] : [...(this.#byPrint.get(print) ?? [])];
      for (const other of others) if (other !== id) shared.set(other, (shared.get(other) ?? 0) + 1);
      const candidates = new Set([...others, first?.id ?? id]);
      const owner = candidates.size === 1 ? (first?.id ?? id) : this.#owner(print ?? "", [...candidates], boundaries);
      if (owner !== id) copied.set(message.id, { owner, name: nameOf(first?.message ?? message) });
    }
    return { forkOf: pointed ?? this.#origin(facts, shared), copied };
  }

  /** The message it was copied from, and from where, along pointers as far as they are known. */
  #original(
    facts: SessionFacts,
    message: MessageRow,
    boundaries: Map<string, number | null>,
  ): { id: string; message: MessageRow } | null {
    let found: { id: string; message: MessageRow } | null = null;
    const seen = new Set<string>();
    for (let at: SessionFacts | undefined = facts; at !== undefined && !seen.has(at.session.id); ) {
      seen.add(at.session.id);
      const from: string | null = at.session.forkId;
      const one = from === null ? undefined : this.#prints.get(from)?.bySeq.get(message.seq);
      if (from === null || one === undefined || one.role !== message.role) break;
      if (this.#boundary(at, boundaries) === null || !this.#isCopy(at, message, boundaries)) break;
      found = { id: from, message: one };
      at = this.#sessions.get(from);
    }
    return found;
  }

  /** A reply older than its session was copied into it; so was what lies before a recorded boundary. */
  #isCopy(facts: SessionFacts, message: MessageRow, boundaries: Map<string, number | null>): boolean {
    const boundary = this.#boundary(facts, boundaries);
    return boundary === null ? message.createdAt < facts.session.createdAt : message.seq <= boundary;
  }

  /** Order of the last message that was copied, null where none is recorded or it is not known. */
  #boundary({ session }: SessionFacts, boundaries: Map<string, number | null>): number | null {
    const known = boundaries.get(session.id);
    if (known !== undefined) return known;
    const original = session.forkId === null ? undefined : this.#sessions.get(session.forkId);
    const boundary = original?.messages.find((one) => one.id === session.forkBoundary)?.seq ?? null;
    boundaries.set(session.id, boundary);
    return boundary;
  }

  /** The session in which the reply is no copy, else the one that began first. */
  #owner(print: string, ids: readonly string[], boundaries: Map<string, number | null>): string {
    const rank = (id: string): [number, number] => {
      const facts = this.#sessions.get(id);
      if (facts === undefined) return [1, 0];
      const message = this.#prints.get(id)?.message.get(print);
      return [message !== undefined && this.#isCopy(facts, message, boundaries) ? 1 : 0, facts.session.createdAt];
    };
    const ranked = ids.map((id) => ({ id, rank: rank(id) }));
    ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || (a.id < b.id ? -1 : 1));
    return ranked[0]?.id ?? "";
  }

  /** Of an earlier version's fork, which has no pointer: who shares most of it, by its title when that is not enough. */
  #origin(facts: SessionFacts, shared: ReadonlyMap<string, number>): string | null {
    const expected = originTitle(facts.session.title);
    const ranked = [...shared].flatMap(([id, count]) => {
      const session = this.#sessions.get(id)?.session;
      if (session === undefined || session.createdAt >= facts.session.createdAt) return [];
      return [{ id, count, named: session.title === expected ? 0 : 1, createdAt: session.createdAt }];
    });
    ranked.sort(
      (a, b) => b.count - a.count || a.named - b.named || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
    );
    return ranked[0]?.id ?? null;
  }
}
