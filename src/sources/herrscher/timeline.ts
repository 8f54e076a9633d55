import { hash } from "node:crypto";
import { runSliced } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import type { OpenFile } from "../../files/open.ts";
import { blankEntry, type Entry } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { timeOf } from "./snapshot.ts";
import { openIfThere } from "./transcript.ts";
import { formatTranscriptLine, parseTranscriptLine, reportsUsage, type TranscriptEntry } from "./transcript-entry.ts";

/** Where an entry lies, and its name. */
interface Placed {
  ref: string;
  at: number;
  length: number;
}

/** The index of one version of the file, as far as it has been read. */
interface Index {
  dev: number;
  ino: number;
  offset: number;
  guard: string;
  placed: Placed[];
  /** How often each content has appeared: the same words in the same second are told apart by it. */
  seen: Map<string, number>;
  /** The unfinished last line where it already parses. */
  tail: Placed | null;
}

/** Many lines end alike: only a longer piece tells a rewritten file from one that grew. */
const GUARD_BYTES = 1024;
/** So many of the last entries a cursor names: an unfinished last line may be gone again. */
const MOST_REFS = 8;
const NOWHERE = "0";

/**
 * Pages of one transcript. An entry's ref is made of its content, so it stays the same when herrscher rewrites the
 * file to its newest entries; cursors are refs, so a page follows the one before it across such a rewrite.
 * Each page is read from one open file: never half of the old one and half of the new one.
 */
export class HerrscherTranscript implements Transcript {
  readonly #path: string;
  #index: Index | null = null;
  readonly #cache = new EntryCache<Entry>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  page(request: PageRequest): Promise<Page> {
    const page = this.#turn.then(() => this.#page(request));
    this.#turn = page.catch(() => undefined);
    return page;
  }

  close(): void {
    this.#index = null;
    this.#cache.clear();
  }

  async #page(request: PageRequest): Promise<Page> {
    using file = openIfThere(this.#path);
    if (file === null) {
      this.#index = null;
      return pageOf([], 0, 0, NOWHERE, NOWHERE);
    }
    const index = await this.#read(file);
    const placed = index.tail === null ? index.placed : [...index.placed, index.tail];
    const [from, to] = windowOf(request, placed);
    const entries: Entry[] = [];
    for (const [at, one] of placed.slice(from, to).entries()) {
      const entry = this.#entry(file, one, from + at + 1, request.textLimit);
      if (entry !== null) entries.push(entry);
    }
    const first = placed[from];
    const after = to === 0 ? NOWHERE : `>${namesBefore(placed, to)}`;
    const before = first === undefined ? after : `<${first.ref}`;
    return pageOf(entries, from, placed.length - to, before, after);
  }

  /** Brings the index up to date with the open file: from its end when it only grew, else anew. */
  async #read(file: OpenFile): Promise<Index> {
    const { dev, ino } = file.stat;
    const old = this.#index;
    const grew = old !== null && old.dev === dev && old.ino === ino && file.size >= old.offset;
    const index: Index =
      grew && guardAt(file, old.offset) === old.guard
        ? { ...old, tail: null }
        : { dev, ino, offset: 0, guard: "", placed: [], seen: new Map(), tail: null };
    const place = (line: Buffer, at: number, keep: boolean): Placed | null => {
      const parsed = parseTranscriptLine(line);
      if (parsed.kind !== "entry") return null;
      return { ref: refName(parsed.entry, index.seen, keep), at, length: line.length };
    };
    const walk = walkLines(file, index.offset, {
      line(line, at) {
        const placed = place(line, at, true);
        if (placed !== null) index.placed.push(placed);
      },
      tail(line, at) {
        index.tail = place(line, at, false);
      },
    });
    this.#index = null; // Half an index belongs to nobody.
    index.offset = await runSliced(walk);
    index.guard = guardAt(file, index.offset);
    this.#index = index;
    return index;
  }

  #entry(file: OpenFile, placed: Placed, n: number, textLimit?: number): Entry | null {
    const key = `${placed.ref} ${n} ${textLimit ?? ""}`;
    return this.#cache.get(key, () => {
      const parsed = parseTranscriptLine(file.read(placed.at, placed.length));
      return parsed.kind === "entry" ? entryOf(parsed.entry, placed.ref, n, textLimit) : null;
    });
  }
}

/** The name of an entry: made of its content and, where that was there before, how often. `seen` is brought up to date. */
export function refName(entry: TranscriptEntry, seen: Map<string, number>, keep = true): string {
  const name = hash("sha1", formatTranscriptLine(entry)).slice(0, 12);
  const times = (seen.get(name) ?? 0) + 1;
  if (keep) seen.set(name, times);
  return times === 1 ? name : `${name}.${times}`;
}

function guardAt(file: OpenFile, offset: number): string {
  const length = Math.min(GUARD_BYTES, offset);
  return file.read(offset - length, length).toString("hex");
}

/** [from, to) of what a request asks for. A cursor whose entry fell away lies before everything that is left. */
function windowOf({ at, limit }: PageRequest, placed: readonly Placed[]): [number, number] {
  const total = placed.length;
  if ("edge" in at) return at.edge === "start" ? [0, Math.min(limit, total)] : [Math.max(0, total - limit), total];
  if ("before" in at) {
    const end = placeOf(at.before, placed);
    return [Math.max(0, end - limit), end];
  }
  const from =
    "after" in at
      ? placeOf(at.after, placed)
      : Math.max(
          0,
          placed.findIndex((one) => one.ref === at.ref),
        );
  return [from, Math.min(total, from + limit)];
}

function placeOf(cursor: string, placed: readonly Placed[]): number {
  for (const ref of cursor.slice(1).split(",")) {
    const at = placed.findLastIndex((one) => one.ref === ref);
    if (at >= 0) return cursor.startsWith(">") ? at + 1 : at;
  }
  return 0;
}

function namesBefore(placed: readonly Placed[], to: number): string {
  const names = placed.slice(Math.max(0, to - MOST_REFS), to).map((one) => one.ref);
  return names.reverse().join(",");
}

function pageOf(entries: Entry[], above: number, below: number, before: string, after: string): Page {
  const total = above + entries.length + below;
  return { entries, before, after, atStart: above === 0, atEnd: below === 0, total, nextUpto: null };
}

/** How replies begin that are none (herrscher.md §3). */
const FAILURE = "⚠️ ";
const INTERRUPTED = new Set(["⚠️ context canceled", "⏹ interrupted"]);
const HANDOFF = "[Reprise de conversation";
const REPORT = /^\S+ a terminé sur session\//u;

function entryOf(recorded: TranscriptEntry, ref: string, n: number, textLimit?: number): Entry {
  const { role, text } = recorded;
  const shown = textLimit === undefined ? text : cutBytes(text, textLimit);
  const reply = role === "assistant";
  return {
    ...blankEntry({ ref, n, kind: kindOf(recorded) }),
    role: role === "" ? null : role,
    time: timeOf(recorded.ts),
    text: shown,
    clipped: shown === text ? 0 : Buffer.byteLength(text) - Buffer.byteLength(shown),
    usage: reply && reportsUsage(recorded) ? usageOf(recorded) : null,
    inContext: true,
    injected: role === "user" && (text.startsWith(HANDOFF) || REPORT.test(text)),
    ...(recorded.durMs > 0 ? { durationMs: recorded.durMs } : {}),
  };
}

/** At most so many bytes of UTF-8, never half a character. */
function cutBytes(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const bytes = Buffer.from(text);
  return bytes.length <= most ? text : new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
}

function kindOf({ role, text }: TranscriptEntry): Entry["kind"] {
  if (role === "user") return "message";
  if (role !== "assistant") return "marker";
  if (INTERRUPTED.has(text.trim())) return "marker";
  return text.startsWith(FAILURE) ? "error" : "text";
}

/** What a reply says that it used. A cost of 0 is none. */
export function usageOf(entry: TranscriptEntry): NonNullable<Entry["usage"]> {
  return {
    input: entry.tokensIn,
    output: entry.tokensOut,
    cacheRead: entry.cacheRead,
    cacheWrite: entry.cacheCreate,
    cacheWrite1h: 0,
    reasoning: 0,
    cost: entry.cost === 0 ? null : entry.cost,
  };
}
