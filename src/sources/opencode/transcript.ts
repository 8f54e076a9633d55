import type { Entry } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import { numberedItems } from "../jsonl/numbered-items.ts";
import { NoSuchEntry, pageOf } from "../jsonl/pages.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { isForkable } from "./cuts.ts";
import { entriesOf } from "./entries.ts";
import type { MessageRow, SessionStore } from "./rows.ts";
import type { SessionFacts } from "./session-facts.ts";

export interface TranscriptSource {
  /** The session as it is now, messages and all. */
  facts(id: string): Promise<SessionFacts>;
  use<T>(facts: SessionFacts, work: (store: SessionStore) => T): Promise<T>;
  isChild(id: string): boolean;
}

/**
 * Pages of an OpenCode session: its messages in order, what the model sees, the reverted part (`of` = `reverted`), a
 * child (`of` = `agent:<id>`). Reads the parts of the messages it shows.
 */
export class OpencodeTranscript implements Transcript {
  readonly #id: string;
  readonly #source: TranscriptSource;
  readonly #cache = new EntryCache<Entry[]>();

  constructor(id: string, source: TranscriptSource) {
    this.#id = id;
    this.#source = source;
  }

  async page(request: PageRequest): Promise<Page> {
    const child = request.view === "branch" ? (/^agent:(.+)$/su.exec(request.of ?? "")?.[1] ?? null) : null;
    if (child !== null && !this.#source.isChild(child)) throw new NoSuchEntry(`this session has no child ${child}`);
    const facts = await this.#source.facts(child ?? this.#id);
    const asked: PageRequest = child === null ? request : { ...request, view: "timeline" };
    return this.#source.use(facts, (store) => this.#show(store, facts, asked));
  }

  close(): void {
    this.#cache.clear();
  }

  #show(store: SessionStore, facts: SessionFacts, request: PageRequest): Page {
    const seen = contextFrom(facts);
    const first = request.view === "timeline" ? 0 : request.view === "context" ? seen : facts.visible;
    const last = request.view === "context" ? facts.visible : facts.messages.length;
    if (request.view === "branch" && request.of !== "reverted") {
      throw new NoSuchEntry(`this session has no branch ${request.of ?? ""}`);
    }
    const shown = facts.messages.slice(first, last);
    const made = pageOf(
      {
        lines: numberedItems(shown.length),
        entries: ({ at: [i] }) => {
          const message = shown[i];
          return message === undefined ? [] : this.#entries(store, facts, message, first + i, seen, request.textLimit);
        },
        locate: (ref) => {
          const [id, block = "0"] = ref.split("/");
          const i = shown.findIndex((message) => message.id === id);
          return i < 0 ? null : [i, 0, Number(block) || 0];
        },
      },
      request,
    );
    return made;
  }

  #entries(
    store: SessionStore,
    facts: SessionFacts,
    message: MessageRow,
    at: number,
    seen: number,
    most: number | undefined,
  ): Entry[] {
    const parts = store.parts(facts.session, message.id, most);
    const flags = {
      n: at + 1,
      branch: at < facts.visible,
      inContext: at >= seen && at < facts.visible,
      forkable: isForkable(facts, at),
    };
    const marks = parts.map((part) => part.mark).join(" ");
    const key = JSON.stringify([message, flags, marks, most ?? null]);
    return this.#cache.get(key, () => entriesOf(message, parts, flags, most)).slice();
  }
}

/** Where the model's view begins: with the last compaction's summary. */
function contextFrom(facts: SessionFacts): number {
  const visible = facts.messages.slice(0, facts.visible);
  const at = visible.findLastIndex((one) => one.role === "compaction" || (one.role === "assistant" && one.summary));
  return Math.max(0, at);
}
