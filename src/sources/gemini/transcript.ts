import type { Advanced, Folded } from "../../files/fold.ts";
import type { Entry } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import { numberedItems } from "../jsonl/numbered-items.ts";
import { NoSuchEntry, pageOf } from "../jsonl/pages.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { firstPromptOf, isForkable } from "./cuts.ts";
import { entriesOf } from "./entries.ts";
import { type GeminiFile, messagesOf } from "./file.ts";
import { ChatRecords } from "./records.ts";

/** Text is cut no shorter than this while parsing, so that small fields are never touched. */
const LEAST_STRING = 4096;

export interface TranscriptSource {
  path: string;
  advance(path: string): Promise<Advanced<GeminiFile>>;
  /** Path of a sub-agent's chat by its id, null when there is none. */
  childPath(id: string): string | null;
}

interface Facts {
  state: GeminiFile;
  mark: string;
  ordinals: ReadonlyMap<string, number>;
  /** Calls whose results stand with them. */
  answered: ReadonlySet<string>;
  firstPrompt: string | null;
}

/**
 * Pages of a chat: every message in order of appearance, what the model sees, what a rewind took away (`of` its first
 * message), a sub-agent (`of` = `agent:<id>`). Reads the lines it shows.
 */
export class GeminiTranscript implements Transcript {
  readonly #source: TranscriptSource;
  readonly #cache = new EntryCache<Entry[]>();
  #facts: Facts | null = null;

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  async page(request: PageRequest): Promise<Page> {
    const child = request.view === "branch" ? (/^agent:(.+)$/su.exec(request.of ?? "")?.[1] ?? null) : null;
    const path = child === null ? this.#source.path : this.#source.childPath(child);
    if (path === null) throw new NoSuchEntry(`this session has no sub-agent ${child}`);
    const result = await this.#source.advance(path);
    if (!result.ok) throw new Error(`${path}: ${result.message}`);
    return this.#show(result.folded, child === null ? request : { ...request, view: "timeline" });
  }

  close(): void {
    this.#cache.clear();
  }

  #show(folded: Folded<GeminiFile>, request: PageRequest): Page {
    const { state } = folded;
    const ids = idsOf(state, request);
    const facts = this.#factsOf(folded);
    const { textLimit } = request;
    using records = new ChatRecords(folded, textLimit === undefined ? undefined : Math.max(textLimit, LEAST_STRING));
    return pageOf(
      {
        lines: numberedItems(ids.length),
        entries: ({ at: [i] }) => {
          const id = ids[i];
          return id === undefined ? [] : this.#entries(folded, records, id, facts, textLimit);
        },
        locate: (ref) => {
          const [id = "", block = "0"] = ref.split("/");
          const i = ids.indexOf(id);
          return i < 0 ? null : [i, 0, Number(block) || 0];
        },
      },
      request,
    );
  }

  /** Counted once for a file as it is: every page asks. */
  #factsOf({ state, offset, mtimeMs }: Folded<GeminiFile>): Facts {
    const held = this.#facts;
    if (held !== null && held.state === state && held.mark === `${offset}:${mtimeMs}`) return held;
    const answered = new Set<string>();
    for (const { calls } of messagesOf(state, state.seen)) for (const call of calls) answered.add(call.id);
    const ordinals = new Map(state.seen.map((id, i) => [id, i + 1]));
    this.#facts = { state, mark: `${offset}:${mtimeMs}`, ordinals, answered, firstPrompt: firstPromptOf(state) };
    return this.#facts;
  }

  #entries(
    folded: Folded<GeminiFile>,
    records: ChatRecords,
    id: string,
    facts: Facts,
    textLimit: number | undefined,
  ): Entry[] {
    const known = messagesOf(folded.state, [id])[0];
    if (known === undefined) return [];
    const forkable = isForkable(folded.state, id, facts.firstPrompt);
    const flags = { n: facts.ordinals.get(id) ?? 0, branch: known.active, inContext: known.active, forkable };
    const written = folded.path.endsWith(".jsonl") ? "" : `${folded.size}:${folded.mtimeMs}`;
    const spots = [known.at, known.tokensAt, known.callsAt, written];
    const key = JSON.stringify([folded.ino, id, spots, flags, textLimit ?? null]);
    const made = this.#cache.get(key, () => {
      const found = records.message(id);
      if (found === null) return null;
      return entriesOf(found.message, found.record, { ...flags, answered: facts.answered }, textLimit);
    });
    return made?.slice() ?? [];
  }
}

/** The messages of a view. Throws NoSuchEntry for an unknown branch. */
function idsOf(state: GeminiFile, request: PageRequest): readonly string[] {
  if (request.view === "timeline") return state.seen;
  if (request.view === "context") return state.active;
  const branch = state.rewinds.find((dropped) => dropped[0] === request.of);
  if (branch === undefined) throw new NoSuchEntry(`this session has no branch ${request.of ?? ""}`);
  return branch;
}
