import { hash } from "node:crypto";
import { runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import type { Entry } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { build } from "./chain.ts";
import { isForkable, readOnly } from "./cuts.ts";
import { entryOf, MOST_THINKING_BYTES } from "./entries.ts";
import { hashText, RECORDS_PER_MARK, type StateOfFile, type StepState } from "./fold.ts";
import { type Header, MOST_BODY_BYTES } from "./record.ts";
import { type WalkedRecord, walkRecords } from "./walk.ts";

/** A header with its place, for views that need the order of the whole file. */
type Placed = Header & { ordinal: number; start: number };

/**
 * Pages of one file. The timeline reads only what is shown: the fold's marks say where every 256th record begins, so the end
 * of a long session costs as little as its start. The context view needs the order of all headers, but no body that is not shown.
 */
export class StatefileTranscript implements Transcript {
  readonly #path: string;
  readonly #refresh: () => Promise<{ state: StateOfFile; identity: string }>;
  #identity = "";
  readonly #cache = new EntryCache<Entry>();
  #steps = noSteps();
  #context: { prefix: string; order: Placed[]; nextUpto: number } | null = null;

  /** `refresh` brings the fold up to date; `identity` changes when the file is another one. */
  constructor(path: string, refresh: () => Promise<{ state: StateOfFile; identity: string }>) {
    this.#path = path;
    this.#refresh = refresh;
  }

  async page(request: PageRequest): Promise<Page> {
    const { state, identity } = await this.#refresh();
    if (identity !== this.#identity) {
      this.#identity = identity;
      this.#cache.clear();
      this.#context = null;
      this.#steps = noSteps();
    }
    return request.view === "context" ? this.#contextPage(state, request) : this.#timelinePage(state, request);
  }

  close(): void {
    this.#cache.clear();
    this.#context = null;
  }

  async #timelinePage(state: StateOfFile, request: PageRequest): Promise<Page> {
    const [from, to] = windowOf(request, state.records, (ref) => Number(ref) - 1);
    const entries = await this.#entries(state, from + 1, to, request.textLimit);
    return pageOf(entries, from, to, state.records, state.lastN);
  }

  /** Entries of the records with ordinals [first, last]. */
  async #entries(state: StateOfFile, first: number, last: number, textLimit?: number): Promise<Entry[]> {
    if (last < first) return [];
    const mark = Math.floor((first - 1) / RECORDS_PER_MARK);
    const entries: Entry[] = [];
    using file = openRegular(this.#path);
    let ordinal = mark * RECORDS_PER_MARK;
    await runSliced(
      walkRecords(file, state.marks[mark] ?? 0, (record) => {
        ordinal += 1;
        if (ordinal >= first) entries.push(this.#entry(state, ordinal, record, textLimit));
        return ordinal < last;
      }),
    );
    return entries;
  }

  #entry(state: StateOfFile, n: number, record: WalkedRecord, textLimit?: number): Entry {
    const { header } = record;
    const inContext = this.#inContext(state, header, n);
    const forkable = header.kind === "message" && readOnly(this.#path) === null && isForkable(state, n);
    // The header's own bytes are in it: a file that was replaced in place may begin as the old one did.
    const key = `${n}.${inContext ? 1 : 0}${forkable ? 1 : 0}.${textLimit ?? ""}.${hash("sha1", record.line)}`;
    return this.#cache.get(key, () => {
      const limit = textLimit ?? MOST_BODY_BYTES;
      const body = record.body(header.kind === "thinking" ? limit + MOST_THINKING_BYTES : limit);
      // The walk's window is reused: what an entry keeps is its own text.
      return entryOf(header, { n, body, limit, inContext, forkable });
    });
  }

  /** start and config never enter; a block only when a later step closed it; everything else does (statefile.md §11). */
  #inContext(state: StateOfFile, header: Header, n: number): boolean {
    if (header.kind === "start" || header.kind === "config") return false;
    if (header.kind !== "text" && header.kind !== "thinking" && header.kind !== "call") return true;
    this.#takeSteps(state.steps);
    return (this.#steps.last.get(header.step ?? "") ?? 0) > n;
  }

  /** Goes on from the steps of before, or begins anew when they are not the beginning of these. */
  #takeSteps(steps: readonly StepState[]): void {
    const { count, prefix } = this.#steps;
    if ((steps[count - 1]?.prefix ?? "") !== prefix) this.#steps = noSteps();
    for (let at = this.#steps.count; at < steps.length; at += 1) {
      const step = steps[at];
      if (step !== undefined) this.#steps.last.set(step.id, step.n);
    }
    this.#steps.count = steps.length;
    this.#steps.prefix = steps.at(-1)?.prefix ?? "";
  }

  async #contextPage(state: StateOfFile, request: PageRequest): Promise<Page> {
    const { order, nextUpto } = await this.#contextOrder(state);
    const [from, to] = windowOf(request, order.length, (ref) => order.findIndex((one) => String(one.ordinal) === ref));
    const entries: Entry[] = [];
    using file = openRegular(this.#path);
    for (const placed of order.slice(from, to)) {
      const walk = walkRecords(file, placed.start, (record) => {
        entries.push(this.#entry(state, placed.ordinal, record, request.textLimit));
        return false;
      });
      await runSliced(walk);
    }
    return pageOf(entries, from, to, order.length, nextUpto);
  }

  async #contextOrder(state: StateOfFile): Promise<{ order: Placed[]; nextUpto: number }> {
    if (this.#context?.prefix === hashText(state.hash)) return this.#context;
    const chain: Placed[] = [];
    using file = openRegular(this.#path);
    await runSliced(
      walkRecords(file, 0, (record) => {
        chain.push({ ...record.header, ordinal: chain.length + 1, start: record.start });
        return chain.length < state.records;
      }),
    );
    const { records, nextUpto } = build(chain);
    this.#context = { prefix: hashText(state.hash), order: records, nextUpto };
    return this.#context;
  }
}

/** The last step of each id, of so many steps; `prefix` is that of the last of them. */
function noSteps(): { count: number; prefix: string; last: Map<string, number> } {
  return { count: 0, prefix: "", last: new Map() };
}

/** The half-open range [from, to) of 0-based positions a request asks for. Cursors are positions. */
function windowOf(request: PageRequest, total: number, positionOf: (ref: string) => number): [number, number] {
  const { at, limit } = request;
  const within = (position: number): number => Math.min(Math.max(0, position), total);
  if ("edge" in at) return at.edge === "start" ? [0, within(limit)] : [within(total - limit), total];
  if ("before" in at) return [within(Number(at.before) - limit), within(Number(at.before))];
  const from = within("after" in at ? Number(at.after) : positionOf(at.ref));
  return [from, within(from + limit)];
}

function pageOf(entries: Entry[], from: number, to: number, total: number, nextUpto: number | null): Page {
  return {
    entries,
    before: String(from),
    after: String(to),
    atStart: from === 0,
    atEnd: to >= total,
    total,
    nextUpto,
  };
}
