import type { Advanced, Folded } from "../../files/fold.ts";
import { type OpenFile, openRegular } from "../../files/open.ts";
import type { Entry, EntryUsage } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import { ordinalOf } from "../jsonl/line-ordinals.ts";
import { type EntryView, inFileOrder, listedLines, NoSuchEntry, type Placed, pageOf } from "../jsonl/pages.ts";
import { parseRecord, textField } from "../jsonl/record.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { isForkable } from "./cuts.ts";
import { entriesOf } from "./entries.ts";
import type { PiFile } from "./file.ts";
import { madeUpId } from "./ids.ts";
import { nameAt } from "./names.ts";
import { activePath, contextRows, pathTo } from "./tree.ts";

/** Text is cut no shorter than this while parsing, so that small fields are never touched. */
const LEAST_STRING = 4096;

export interface TranscriptSource {
  path: string;
  advance(path: string): Promise<Advanced<PiFile>>;
  /** Path of a child session by its id, null when there is none. */
  childPath(id: string): string | null;
}

interface Facts {
  rows: number;
  state: PiFile;
  active: ReadonlySet<number>;
  context: ReadonlySet<number>;
  usage: ReadonlyMap<number, EntryUsage>;
}

/**
 * Pages of a pi session: the file in its order, what the model sees, another branch (`of` its last entry), a child
 * (`of` = `agent:<id>`). Reads the lines it shows.
 */
export class PiTranscript implements Transcript {
  readonly #source: TranscriptSource;
  readonly #cache = new EntryCache<Entry[]>();
  #facts: Facts | null = null;

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  async page(request: PageRequest): Promise<Page> {
    const child = request.view === "branch" ? (/^agent:(.+)$/su.exec(request.of ?? "")?.[1] ?? null) : null;
    const path = child === null ? this.#source.path : this.#source.childPath(child);
    if (path === null) throw new NoSuchEntry(`this session has no child ${child}`);
    const result = await this.#source.advance(path);
    if (!result.ok) throw new Error(`${path}: ${result.message}`);
    return this.#show(result.folded, child === null ? request : { ...request, view: "timeline" });
  }

  close(): void {
    this.#cache.clear();
    this.#facts = null;
  }

  #show(folded: Folded<PiFile>, request: PageRequest): Page {
    const { state } = folded;
    using file = openRegular(folded.path);
    const all = { bytes: file, from: 0, to: Math.min(folded.offset, file.size) };
    const rows = rowsOf(state, request);
    const lines =
      rows === null
        ? inFileOrder([all])
        : listedLines(
            all,
            rows.map((row) => state.offsets[row] ?? 0),
          );
    const facts = this.#factsOf(state);
    const view: EntryView = {
      lines,
      entries: (placed) => this.#entries(folded, file, placed, facts, request.textLimit),
      locate: (ref) => {
        const [id = "", block = "0"] = ref.split("/");
        const row = Object.hasOwn(state.rows, id) ? (state.rows[id] ?? -1) : -1;
        if (row < 0) return null;
        if (rows === null) return [0, state.offsets[row] ?? 0, Number(block) || 0];
        const at = rows.indexOf(row);
        return at < 0 ? null : [at, 0, Number(block) || 0];
      },
    };
    return pageOf(view, request);
  }

  #factsOf(state: PiFile): Facts {
    const held = this.#facts;
    if (held !== null && held.state === state && held.rows === state.ids.length) return held;
    const usage = new Map<number, EntryUsage>();
    for (const one of state.requests) {
      const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, cost } = one;
      usage.set(one.row, { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, cost });
    }
    const active = new Set(activePath(state));
    this.#facts = { state, rows: state.ids.length, active, context: new Set(contextRows(state)), usage };
    return this.#facts;
  }

  #entries(
    folded: Folded<PiFile>,
    file: OpenFile,
    { line }: Placed,
    known: Facts,
    textLimit: number | undefined,
  ): Entry[] {
    const { state } = folded;
    const record = parseRecord(line.bytes, textLimit === undefined ? undefined : Math.max(textLimit, LEAST_STRING));
    if (record === null || state.header === null) return [];
    const id = textField(record.fields, "id") ?? madeUpId(state.header.id, line.offset);
    const row = Object.hasOwn(state.rows, id) ? (state.rows[id] ?? -1) : -1;
    if (row < 0 || state.offsets[row] !== line.offset) return [];
    const flags = {
      branch: known.active.has(row),
      inContext: known.context.has(row),
      forkable: isForkable(state, row),
      label: state.labels[id] ?? null,
    };
    const key = `${folded.ino}:${line.offset}:${line.bytes.length}:${JSON.stringify(flags)}:${textLimit ?? ""}`;
    const facts = {
      ref: id,
      n: ordinalOf(state.ordinals, file, line.offset) ?? 0,
      ...flags,
      usage: known.usage.get(row) ?? null,
      model: nameAt(state, state.models[row] ?? -1),
    };
    return this.#cache.get(key, () => entriesOf(record, facts, textLimit)).slice();
  }
}

/** The rows of a view, null for the file in its order. Throws NoSuchEntry for an unknown branch. */
function rowsOf(state: PiFile, request: PageRequest): number[] | null {
  if (request.view === "timeline") return null;
  if (request.view === "context") return contextRows(state);
  const id = request.of ?? "";
  const leaf = Object.hasOwn(state.rows, id) ? (state.rows[id] ?? -1) : -1;
  if (leaf < 0) throw new NoSuchEntry(`this session has no branch that ends with ${id}`);
  return pathTo(state, leaf);
}
