import type { MessageRow } from "./rows.ts";
import type { SessionFacts } from "./session-facts.ts";

/** Equal for the copies of a reply in other sessions: times and tokens are copied, ids are not (agents.md §4.3). */
export function fingerprint(message: MessageRow): string | null {
  const { createdAt, completedAt, provider, model, tokens } = message;
  if (message.role === "user" || completedAt === null || tokens === null) return null;
  const numbers = [tokens.input, tokens.output, tokens.reasoning, tokens.cacheRead, tokens.cacheWrite];
  return [createdAt, completedAt, provider, model, ...numbers].join("|");
}

export interface Lineage {
  /** The session it was copied from, known or not. */
  forkOf: string | null;
  /** Owner of each reply that another session owns, by message id. */
  copied: ReadonlyMap<string, string>;
}

interface Prints {
  ofMessage: Map<string, string>;
  message: Map<string, MessageRow>;
}

const NO_PRINTS: Prints = { ofMessage: new Map(), message: new Map() };

/** Every session by the fingerprints of its replies, so that copies are found without comparing all with all. */
export class ForkIndex {
  readonly #sessions = new Map<string, SessionFacts>();
  readonly #byPrint = new Map<string, Set<string>>();
  /** By session: what each message's fingerprint is, and which message has it. */
  readonly #prints = new Map<string, Prints>();

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
    this.#sessions.delete(id);
    if (facts !== null) {
      this.#sessions.set(id, facts);
      const prints: Prints = { ofMessage: new Map(), message: new Map() };
      for (const message of facts.messages) {
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
    for (const [other, { session }] of this.#sessions) if (session.forkId === id) kin.add(other);
    return kin;
  }

  lineage(id: string): Lineage {
    const facts = this.#sessions.get(id);
    if (facts === undefined) return { forkOf: null, copied: new Map() };
    const pointed = facts.session.forkId;
    const copied = new Map<string, string>();
    const shared = new Map<string, number>();
    const prints = this.#prints.get(id) ?? NO_PRINTS;
    const boundaries = new Map<string, number | null>();
    for (const message of facts.messages) {
      const print = prints.ofMessage.get(message.id);
      if (print === undefined || !this.#isCopy(facts, message, boundaries)) continue;
      const others = [...(this.#byPrint.get(print) ?? [])].filter((other) => other !== id);
      for (const other of others) shared.set(other, (shared.get(other) ?? 0) + 1);
      const owner = this.#owner(print, [id, ...others], boundaries);
      if (owner !== id) copied.set(message.id, owner);
    }
    return { forkOf: pointed ?? this.#origin(facts, shared), copied };
  }

  /** A reply older than its session was copied into it; so was what lies before a recorded boundary. */
  #isCopy({ session }: SessionFacts, message: MessageRow, boundaries: Map<string, number | null>): boolean {
    let boundary = boundaries.get(session.id);
    if (boundary === undefined) {
      const original = session.forkId === null ? undefined : this.#sessions.get(session.forkId);
      boundary = original?.messages.find((one) => one.id === session.forkBoundary)?.seq ?? null;
      boundaries.set(session.id, boundary);
    }
    return boundary === null ? message.createdAt < session.createdAt : message.seq <= boundary;
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

/** "X (fork #1)" was made from "X", "X (fork #2)" from "X (fork #1)". */
function originTitle(title: string | null): string | null {
  const [, base, number] = /^(.*) \(fork #(\d{1,6})\)$/su.exec(title ?? "") ?? [];
  if (base === undefined) return null;
  return number === "1" ? base : `${base} (fork #${Number(number) - 1})`;
}
