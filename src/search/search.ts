import { setImmediate } from "node:timers/promises";
import { findProgram } from "../probe/program.ts";
import type { EntryKind } from "../session/entry.ts";
import type { SessionKey } from "../session/key.ts";
import type { Snapshot } from "../session/snapshot.ts";
import type { Page, PageRequest, SourceReader } from "../sources/source.ts";
import { type Batch, batches, type Conversation } from "./conversations.ts";
import { entryText } from "./entry-text.ts";
import { type FileFilter, type Passing, scanByRipgrep, scanHere, scanInThreads } from "./file-filter.ts";
import { Matcher, type Ranges } from "./matcher.ts";
import type { Query } from "./query.ts";
import { type RawPatterns, rawPatterns } from "./raw-patterns.ts";
import { snippetAt } from "./snippet.ts";

/** An entry that holds all that is looked for. */
export interface SearchHit {
  type: "hit";
  key: SessionKey;
  /** Where Enter goes: this view, of this member or sub-agent, at this entry. */
  view: "timeline" | "branch";
  of: string | null;
  ref: string;
  n: number;
  kind: EntryKind;
  role: string | null;
  /** ISO 8601, UTC, milliseconds. */
  time: string | null;
  /** One cleaned line around the first match. */
  snippet: string;
  /** What matched in the snippet, in UTF-16 units. */
  matches: Ranges;
}

export interface SearchProgress {
  type: "progress";
  /** Sessions looked at, of how many. */
  sessions: number;
  of: number;
  /** Read by the first look at raw bytes. */
  bytes: number;
  hits: number;
  /** Sessions that could not be read to their start, with what is wrong. */
  failed: { key: SessionKey; message: string }[];
  /** Nothing comes after this. */
  done: boolean;
  /** It ended at the limit: there may be more. */
  more: boolean;
}

export interface SearchRequest {
  /** In the order hits are to come: newest first. */
  sessions: readonly Snapshot[];
  reader(key: SessionKey): SourceReader;
  query: Query;
  /** Most hits of all. */
  limit?: number;
  /** Most hits of one session; the newest of it. */
  perSession?: number;
  signal?: AbortSignal;
  /** Where ripgrep is looked for (`PATH`). */
  env?: NodeJS.ProcessEnv;
}

/** Batches whose files are scanned while the ones before are confirmed. */
const AHEAD = 6;
const PAGE = 256;
const SLICE_MS = 8;
/** Transcripts keep what they have shown: after so much text, a new one is opened. UTF-16 units. */
const MOST_TEXT = 32 * 1024 * 1024;

/**
 * Full text over every session, without an index, newest first. Raw bytes are looked at first (in threads, or by
 * ripgrep), and of the sessions that pass the transcripts are read from their end: a hit is an entry that holds every
 * word and phrase, compared as folded text. Gives the thread back at least every 8 ms. Ends early, without an error,
 * when `signal` is aborted or the consumer stops; the last progress is the only one that is `done`.
 */
export async function* searchSessions(request: SearchRequest): AsyncGenerator<SearchHit | SearchProgress, void, void> {
  const { sessions, query, limit = Number.POSITIVE_INFINITY, perSession = Number.POSITIVE_INFINITY } = request;
  const over = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
  const matcher = new Matcher(query.needles);
  const slices = new Slices();
  const progress: SearchProgress = {
    type: "progress",
    sessions: 0,
    of: sessions.length,
    bytes: 0,
    hits: 0,
    failed: [],
    done: false,
    more: false,
  };
  const fromSession = new Map<SessionKey, number>();
  const end = (more: boolean): SearchProgress => ({ ...progress, failed: [...progress.failed], done: true, more });
  if (query.needles.length === 0) return yield end(false);
  try {
    for await (const { batch, passing } of scanned(request, signal)) {
      progress.bytes += passing.bytes;
      for (const conversation of batch.conversations) {
        if (!mayHold(conversation, passing)) continue;
        const { key } = conversation.snapshot;
        const left = (): number => perSession - (fromSession.get(key) ?? 0);
        if (left() <= 0) continue;
        try {
          for await (const hit of hitsIn(conversation, request, matcher, slices, signal)) {
            if (progress.hits >= limit) return yield end(true);
            progress.hits += 1;
            fromSession.set(key, (fromSession.get(key) ?? 0) + 1);
            yield hit;
            if (left() <= 0) break;
          }
        } catch (error) {
          progress.failed.push({ key, message: error instanceof Error ? error.message : String(error) });
        }
        if (signal.aborted) return;
      }
      progress.sessions += batch.sessions;
      yield { ...progress, failed: [...progress.failed] };
      await slices.breathe();
    }
    if (!signal.aborted) yield end(false);
  } finally {
    over.abort();
  }
}

function mayHold({ files }: Conversation, passing: Passing): boolean {
  return files === null || files.some(({ path }) => passing.files.has(path));
}

/** Batches in order, each with what its files said; some are scanned ahead. */
async function* scanned(
  request: SearchRequest,
  signal: AbortSignal,
): AsyncGenerator<{ batch: Batch; passing: Passing }, void, void> {
  const patterns = rawPatterns(request.query.needles);
  const source = batches(request.sessions, (key) => request.reader(key));
  const first = source.next();
  const second = source.next();
  const filter = chooseFilter(patterns, second.done === true, request.env ?? {}, signal);
  const ahead: { batch: Batch; passing: Promise<Passing> }[] = [];
  const take = (next: IteratorResult<Batch, void>): void => {
    if (next.done) return;
    const batch = next.value;
    const passing = filter.passing(batch.files);
    // Awaited in its turn, or never, when the search ends before.
    passing.catch(() => undefined);
    ahead.push({ batch, passing });
  };
  try {
    take(first);
    take(second);
    for (let next = ahead.shift(); next && !signal.aborted; next = ahead.shift()) {
      while (ahead.length < AHEAD) {
        const drawn = source.next();
        if (drawn.done) break;
        take(drawn);
        await setImmediate();
      }
      yield { batch: next.batch, passing: await next.passing };
    }
  } finally {
    filter.close();
  }
}

const EVERYTHING: FileFilter = {
  passing: async (files) => ({ files: new Set(files.map(({ path }) => path)), bytes: 0 }),
  close: () => undefined,
};

function chooseFilter(patterns: RawPatterns, little: boolean, env: NodeJS.ProcessEnv, signal: AbortSignal): FileFilter {
  if (patterns.length === 0) return EVERYTHING;
  if (little) return scanHere(patterns);
  const program = findProgram("rg", env);
  const threads = (): FileFilter => scanInThreads(patterns, signal);
  return program === null ? threads() : scanByRipgrep(program, patterns, threads, signal);
}

/** Hits of one conversation, newest first. */
async function* hitsIn(
  conversation: Conversation,
  request: SearchRequest,
  matcher: Matcher,
  slices: Slices,
  signal: AbortSignal,
): AsyncGenerator<SearchHit, void, void> {
  const { snapshot, view, of } = conversation;
  const reader = request.reader(snapshot.key);
  let transcript = await reader.transcript(snapshot.key);
  let size = 0;
  try {
    let at: PageRequest["at"] = { edge: "end" };
    for (let page: Page | null = null; page === null || !page.atStart; at = { before: page.before }) {
      const last: Page | null = page;
      page = await transcript.page({ view, at, limit: PAGE, ...(of === null ? {} : { of }) });
      if (last !== null && page.entries.length === 0) return;
      for (const entry of page.entries.toReversed()) {
        const text = entryText(entry);
        size += text.length;
        const place = await slices.run(matcher.find(text));
        if (signal.aborted) return;
        if (place === null) continue;
        const { ref, n, kind, role, time } = entry;
        const { text: snippet, matches } = snippetAt(text, place, matcher);
        yield { type: "hit", key: snapshot.key, view, of, ref, n, kind, role, time, snippet, matches };
      }
      if (size > MOST_TEXT && !page.atStart) {
        transcript.close();
        transcript = await reader.transcript(snapshot.key);
        size = 0;
      }
    }
  } finally {
    transcript.close();
  }
}

/** Gives the thread back when 8 ms of it were used. */
class Slices {
  #until = performance.now() + SLICE_MS;

  async breathe(): Promise<void> {
    if (performance.now() < this.#until) return;
    await setImmediate();
    this.#until = performance.now() + SLICE_MS;
  }

  async run<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = work.next();
      if (performance.now() >= this.#until) await this.breathe();
      if (step.done) return step.value;
    }
  }
}
