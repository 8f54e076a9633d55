import type { Advanced, Folded } from "../../files/fold.ts";
import { type OpenFile, openRegular } from "../../files/open.ts";
import type { Entry, EntryUsage } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import { FIRST_TAIL, foldEnds } from "../jsonl/fold-ends.ts";
import { ordinalOf } from "../jsonl/line-ordinals.ts";
import {
  type EntryView,
  inFileOrder,
  type LineSequence,
  listedLines,
  NoSuchEntry,
  type Placed,
  pageOf,
  wantsMore,
} from "../jsonl/pages.ts";
import { parseRecord, textField } from "../jsonl/record.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { isForkable } from "./cuts.ts";
import { entriesOf } from "./entries.ts";
import { type ClaudeFile, kindOf, newClaudeFile, ROW } from "./file.ts";
import { advanceClaude } from "./fold.ts";
import type { AgentFile } from "./requests.ts";
import { activeBranch, type Branch, branchTo, contextRows } from "./tree.ts";

export interface TranscriptSource {
  /** The session's file as it is now. */
  refresh(): Promise<Folded<ClaudeFile>>;
  agents(): AgentFile[];
  advance(path: string): Promise<Advanced<ClaudeFile>>;
}

/** Text is cut no shorter than this while parsing, so that small fields are never touched. */
const LEAST_STRING = 4096;

interface Facts {
  branch: Branch;
  context: Uint8Array;
  queued: ReadonlySet<number>;
}

/**
 * Pages of a session: the file in its order, what the model sees, another branch (`of` its leaf), a sub-agent
 * (`of` = `agent:<id>`). Reads the lines it shows; of a big file that is still being read, its end.
 */
export class ClaudeTranscript implements Transcript {
  readonly #source: TranscriptSource;
  #tail = FIRST_TAIL;
  #ends: Folded<ClaudeFile> | null = null;
  readonly #cache = new EntryCache<Entry[]>();
  #facts: { state: ClaudeFile; rows: number; facts: Facts } | null = null;

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  async page(request: PageRequest): Promise<Page> {
    if (request.view === "branch" && request.of?.startsWith("agent:") === true) {
      return this.#agentPage(request.of.slice("agent:".length), request);
    }
    for (;;) {
      const folded = await this.#folded();
      const shown = this.#show(folded, request);
      if (folded.state.low === 0) {
        if (shown === null) throw new NoSuchEntry(`this session has no such place: ${JSON.stringify(request.at)}`);
        return shown;
      }
      if (shown !== null && !wantsMore(shown, request)) return { ...shown, atStart: false };
      // More is asked for than the end that was read: a longer end, until it is the whole file.
      this.#tail *= 4;
      this.#ends = await foldEnds(folded.path, this.#tail, newClaudeFile(), advanceClaude);
    }
  }

  close(): void {
    this.#cache.clear();
    this.#facts = null;
    this.#ends = null;
  }

  async #folded(): Promise<Folded<ClaudeFile>> {
    const fresh = await this.#source.refresh();
    if (fresh.state.low === 0) return fresh;
    return this.#ends !== null && this.#ends.state.low < fresh.state.low ? this.#ends : fresh;
  }

  #show(folded: Folded<ClaudeFile>, request: PageRequest): Page | null {
    const { state } = folded;
    using file = openRegular(folded.path);
    const all = { bytes: file, from: state.low, to: Math.min(folded.offset, file.size) };
    let lines: LineSequence;
    let rows: number[] | null = null;
    if (request.view === "timeline") lines = inFileOrder([all]);
    else {
      rows = request.view === "context" ? contextRows(state) : rowsTo(state, request.of ?? "");
      if (rows === null) return null;
      lines = listedLines(
        all,
        rows.map((row) => state.offsets[row] ?? 0),
      );
    }
    try {
      return pageOf(this.#view(folded, file, lines, rows, request.textLimit), request);
    } catch (error) {
      if (error instanceof NoSuchEntry && state.low > 0) return null;
      throw error;
    }
  }

  async #agentPage(id: string, request: PageRequest): Promise<Page> {
    const agent = this.#source.agents().find((one) => one.id === id);
    if (agent === undefined) return this.#inlinePage(id, request);
    const result = await this.#source.advance(agent.path);
    if (!result.ok) throw new Error(`${agent.path}: ${result.message}`);
    using file = openRegular(agent.path);
    const lines = inFileOrder([{ bytes: file, from: 0, to: Math.min(result.folded.offset, file.size) }]);
    return pageOf(this.#view(result.folded, file, lines, null, request.textLimit, id), request);
  }

  /** A sidechain inside the main file (1.x). */
  async #inlinePage(id: string, request: PageRequest): Promise<Page> {
    const folded = await this.#source.refresh();
    const rows = Object.entries(folded.state.sides)
      .filter(([, name]) => name === id)
      .map(([row]) => Number(row))
      .sort((a, b) => a - b);
    if (rows.length === 0) throw new NoSuchEntry(`this session has no sub-agent ${id}`);
    using file = openRegular(folded.path);
    const all = { bytes: file, from: 0, to: Math.min(folded.offset, file.size) };
    const lines = listedLines(
      all,
      rows.map((row) => folded.state.offsets[row] ?? 0),
    );
    return pageOf(this.#view(folded, file, lines, rows, request.textLimit, id), request);
  }

  #view(
    folded: Folded<ClaudeFile>,
    file: OpenFile,
    lines: LineSequence,
    rows: readonly number[] | null,
    textLimit: number | undefined,
    agent: string | null = null,
  ): EntryView {
    const { state } = folded;
    const facts = this.#factsOf(state);
    return {
      lines,
      entries: (placed) => this.#entries(folded, file, placed, facts, textLimit, agent),
      locate: (ref) => {
        const [uuid = "", block = "0"] = ref.split("/");
        const row = Object.hasOwn(state.rows, uuid) ? (state.rows[uuid] ?? -1) : -1;
        if (row >= 0 && rows !== null) {
          const at = rows.indexOf(row);
          return at < 0 ? null : [at, 0, Number(block) || 0];
        }
        if (row >= 0) return [0, state.offsets[row] ?? 0, Number(block) || 0];
        const offset = /^@(\d{1,15})$/u.exec(ref)?.[1];
        return offset === undefined || rows !== null ? null : [0, Number(offset), 0];
      },
    };
  }

  #factsOf(state: ClaudeFile): Facts {
    const held = this.#facts;
    if (held !== null && held.state === state && held.rows === state.parents.length) {
      return { ...held.facts, queued: new Set(state.queue.map((one) => one.offset)) };
    }
    const context = new Uint8Array(state.parents.length);
    for (const row of contextRows(state)) context[row] = 1;
    const facts = {
      branch: activeBranch(state),
      context,
      queued: new Set(state.queue.map((one) => one.offset)),
    };
    this.#facts = { state, rows: state.parents.length, facts };
    return facts;
  }

  #entries(
    folded: Folded<ClaudeFile>,
    file: OpenFile,
    { line }: Placed,
    facts: Facts,
    textLimit: number | undefined,
    agent: string | null,
  ): Entry[] {
    const { state } = folded;
    const record = parseRecord(line.bytes, textLimit === undefined ? undefined : Math.max(textLimit, LEAST_STRING));
    if (record === null) return [];
    const uuid = textField(record.fields, "uuid");
    const row = uuid !== null && Object.hasOwn(state.rows, uuid) ? (state.rows[uuid] ?? -1) : -1;
    // A row that was written again: its first copy is shown, where it is.
    if (row >= 0 && state.offsets[row] !== line.offset) return [];
    const own = agent === null;
    const flags = {
      branch: own ? row < 0 || facts.branch[row] === 1 : true,
      inContext: own ? row >= 0 && facts.context[row] === 1 : true,
      forkable: own && row >= 0 && isForkable(state, row),
      queued: facts.queued.has(line.offset),
    };
    const usage = row < 0 ? null : usageAt(state, row);
    const bits = `${flags.branch}${flags.inContext}${flags.forkable}${flags.queued}${usage?.output ?? ""}`;
    const key = `${folded.dev}:${folded.ino}:${line.offset}:${line.bytes.length}:${bits}:${textLimit ?? ""}`;
    const made = this.#cache.get(key, () => {
      const n = state.low > 0 ? 0 : (ordinalOf(state.ordinals, file, line.offset) ?? 0);
      const side = own && row >= 0 && (kindOf(state, row) & ROW.sidechain) !== 0 ? (state.sides[row] ?? null) : null;
      return entriesOf(record, { n, offset: line.offset, ...flags, side, usage }, textLimit);
    });
    return made?.slice() ?? [];
  }
}

/** A request's numbers stand on one of its rows only. */
function usageAt(state: ClaudeFile, row: number): EntryUsage | null {
  const request = state.requests[state.messages[row] ?? -1];
  if (request === undefined || request.row !== row || !request.counted) return null;
  const { input, output, cacheRead, write5m, write1h } = request;
  return { input, output, cacheRead, cacheWrite: write5m + write1h, cacheWrite1h: write1h, reasoning: 0, cost: null };
}

/** The rows of the branch that ends with the row of this uuid, null when there is no such row. */
function rowsTo(state: ClaudeFile, uuid: string): number[] | null {
  const leaf = Object.hasOwn(state.rows, uuid) ? (state.rows[uuid] ?? -1) : -1;
  if (leaf < 0) return null;
  const rows: number[] = [];
  branchTo(state, leaf).forEach((on, row) => {
    if (on === 1) rows.push(row);
  });
  return rows;
}
