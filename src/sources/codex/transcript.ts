import type { Entry } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import { FIRST_TAIL, foldEnds } from "../jsonl/fold-ends.ts";
import { ordinalOf } from "../jsonl/line-ordinals.ts";
import {
  type EntryView,
  inFileOrder,
  NoSuchEntry,
  type Placed,
  pageOf,
  type Segment,
  wantsMore,
} from "../jsonl/pages.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { copiedPrefix } from "./copied-prefix.ts";
import { cutAtPrompt, refusal } from "./cuts.ts";
import { entriesOf } from "./entries.ts";
import { hasRecords, lastUpTo, modelAt } from "./event-index.ts";
import { newCodexFile } from "./file.ts";
import { advanceCodex } from "./fold.ts";
import { firstLineEnd, type OpenRollout, offsetOfOrdinal, openRollout } from "./open-rollout.ts";
import { eventsOnPath, isShown, type PathEvent, pathOf } from "./path.ts";
import { parseRow } from "./prompt-text.ts";
import { baseOf, eventsOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";

export interface TranscriptSource {
  refresh(): Promise<{ current: Rollout; files: readonly Rollout[]; lookup: RolloutLookup }>;
  thread(id: string): readonly Rollout[];
}

/** A part of a conversation's bytes. */
interface Part extends Segment {
  file: Rollout;
}

/** A conversation's events, and where among them the model's context begins: at the last compaction, -1 without one. */
interface Path {
  all: PathEvent[];
  compacted: number;
}

/** What is shown of a conversation. */
interface Shown {
  current: Rollout;
  path: Path;
  parts: readonly Part[];
  request: PageRequest;
}

const LEAST_STRING = 4096;
const MOST_BASES = 64;

/**
 * Pages of a thread: what it is based on, then its own rows; a file that was reverted (`of` its name's stem), a
 * sub-agent (`of` = `agent:<thread>`). Reads the lines it shows; of a big file still being read, its end.
 */
export class CodexTranscript implements Transcript {
  readonly #source: TranscriptSource;
  #tail = FIRST_TAIL;
  #ends: Rollout | null = null;
  readonly #cache = new EntryCache<Entry[]>();
  #path: { key: object; events: number; lookup: RolloutLookup; path: Path } | null = null;

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  async page(request: PageRequest): Promise<Page> {
    for (;;) {
      const fresh = await this.#source.refresh();
      const current = this.#chosen(fresh.current, fresh.files, request);
      const page = this.#show(current, fresh.lookup, request);
      if (current.folded.state.low === 0) {
        if (page === null) throw new NoSuchEntry("this thread has no such place");
        return page;
      }
      if (page !== null && !wantsMore(page, request)) return { ...page, atStart: false };
      // More is asked for than the end that was read: a longer end, until it is the whole file.
      this.#tail *= 4;
      const folded = await foldEnds(current.path, this.#tail, newCodexFile(), advanceCodex);
      this.#ends = { ...current, folded };
    }
  }

  close(): void {
    this.#cache.clear();
    this.#path = null;
    this.#ends = null;
  }

  #chosen(current: Rollout, files: readonly Rollout[], request: PageRequest): Rollout {
    if (request.view === "branch") {
      const of = request.of ?? "";
      const other = of.startsWith("agent:")
        ? this.#source.thread(of.slice("agent:".length)).at(-1)
        : files.find((file) => file.name.stem === of);
      if (other === undefined) throw new NoSuchEntry(`this thread has no branch ${of}`);
      return other;
    }
    const { low } = current.folded.state;
    return low > 0 && this.#ends !== null && this.#ends.folded.state.low < low ? this.#ends : current;
  }

  #show(current: Rollout, lookup: RolloutLookup, request: PageRequest): Page | null {
    const open = new Map<Rollout, OpenRollout>();
    try {
      const opened = (file: Rollout): OpenRollout => {
        const one = open.get(file) ?? openRollout(file);
        open.set(file, one);
        return one;
      };
      const parts = partsOf(current, lookup, opened, 0);
      const path = this.#pathOf(current, lookup);
      const shown = request.view === "context" ? contextParts(parts, path) : parts;
      return pageOf(this.#view({ current, path, parts: shown, request }), request);
    } catch (error) {
      if (error instanceof NoSuchEntry && current.folded.state.low > 0) return null;
      throw error;
    } finally {
      for (const one of open.values()) one[Symbol.dispose]();
    }
  }

  #pathOf(current: Rollout, lookup: RolloutLookup): Path {
    const key = current.folded.state;
    const { length } = key.events;
    if (this.#path?.key === key && this.#path.events === length && this.#path.lookup === lookup) return this.#path.path;
    const all = eventsOnPath(pathOf(current, lookup));
    const path = { all, compacted: all.findLastIndex((one) => one.event.k === "compaction" && !one.dropped) };
    this.#path = { key, events: length, lookup, path };
    return path;
  }

  #view(shown: Shown): EntryView {
    const { current, parts } = shown;
    return {
      lines: inFileOrder(parts),
      entries: (placed) => this.#entries(shown, placed),
      locate(ref) {
        const found = /^(?:([A-Za-z0-9_-]{1,200}))?@(\d{1,15})(?:\/(\d{1,6}))?$/u.exec(ref);
        if (found === null) return null;
        const offset = Number(found[2]);
        const at = parts.findIndex(
          (part) => tagOf(part.file, current) === (found[1] ?? "") && offset >= part.from && offset < part.to,
        );
        return at < 0 ? null : [at, offset, Number(found[3] ?? 0)];
      },
    };
  }

  #entries({ current, path: { all: path, compacted }, parts, request }: Shown, { line, segment }: Placed): Entry[] {
    const { textLimit, view } = request;
    const part = parts[segment];
    if (part === undefined) return [];
    const { state } = part.file.folded;
    const index = eventAt(part.file, line.offset);
    const event = index < 0 ? null : (eventsOf(part.file)[index] ?? null);
    const onPath = placeOnPath(path, part.file, line.offset);
    const at = onPath.exact;
    const one = at < 0 ? undefined : path[at];
    const dropped = (one ?? path[onPath.before])?.dropped === true && !isRollback(one ?? path[onPath.before]);
    const inContext = !dropped && (compacted < 0 || onPath.before >= compacted);
    const beginsContext = view === "context" && at >= 0 && at === compacted;
    const forkable =
      one?.event.k === "prompt" &&
      refusal(current) === null &&
      !dropped &&
      isShown(part.file, index) &&
      cutAtPrompt(path, at, one).ok;
    const bits = `${dropped}${inContext}${forkable}${beginsContext}`;
    const tag = tagOf(part.file, current);
    const key = `${tag}@${line.offset}:${line.bytes.length}:${part.file.folded.ino}:${bits}:${textLimit ?? ""}`;
    const made = this.#cache.get(key, () => {
      const record = parseRow(line.bytes, textLimit === undefined ? undefined : Math.max(textLimit, LEAST_STRING));
      if (record === null) return null;
      const inForce = modelAt(part.file, index < 0 ? indexBefore(part.file, line.offset) : index);
      return entriesOf(
        record,
        {
          ref: `${tag}@${line.offset}`,
          n: state.low > 0 ? 0 : (ordinalOf(state.ordinals, part.bytes, line.offset) ?? 0),
          first: line.offset === 0,
          branch: !dropped,
          inContext,
          forkable,
          event,
          shown: beginsContext || (index >= 0 && isShown(part.file, index)),
          beginsContext,
          newModel: inForce.changed,
          model: inForce.model,
          usage: usageOf(part.file, event),
        },
        textLimit,
      );
    });
    return made?.slice() ?? [];
  }
}

/** Where a ref's line lies: the current file has no tag, others the stem of their name. */
export function placeOfRef(
  ref: string,
  current: Rollout,
  files: readonly Rollout[],
): { file: string; offset: number } | null {
  const found = /^(?:([A-Za-z0-9_-]{1,200}))?@(\d{1,15})$/u.exec(ref);
  if (found === null) return null;
  const file = files.find((one) => tagOf(one, current) === (found[1] ?? ""));
  return file === undefined ? null : { file: file.path, offset: Number(found[2]) };
}

function tagOf(file: Rollout, current: Rollout): string {
  return file.path === current.path ? "" : file.name.stem;
}

function partsOf(file: Rollout, lookup: RolloutLookup, open: (file: Rollout) => OpenRollout, depth: number): Part[] {
  const own = open(file);
  const { low } = file.folded.state;
  const whole: Part = { file, bytes: own.bytes, from: low, to: own.end };
  if (metaOf(file)?.kind !== "user") {
    const first = eventsOf(file)[copiedPrefix(file, lookup).events];
    if (first === undefined || low > 0) return [whole];
    const head = firstLineEnd(own);
    return first.at <= head
      ? [whole]
      : [
          { ...whole, to: head },
          { ...whole, from: first.at },
        ];
  }
  const base = depth < MOST_BASES ? baseOf(file, lookup) : null;
  if (base === null) return [whole];
  const inherited = partsOf(base.file, lookup, open, depth + 1);
  const last = inherited.at(-1);
  if (last === undefined) return [whole];
  const end = offsetOfOrdinal(last.file, open(last.file), base.endOrdinal);
  return [...inherited.slice(0, -1), { ...last, to: Math.max(last.from, Math.min(end, last.to)) }, whole];
}

/** What the model sees: from the last compaction on. */
function contextParts(parts: readonly Part[], { all, compacted }: Path): Part[] {
  const compaction = all[compacted];
  if (compaction === undefined) return [...parts];
  const at = parts.findIndex(
    (part) =>
      part.file.path === compaction.file.path && compaction.event.at >= part.from && compaction.event.at < part.to,
  );
  return at < 0
    ? [...parts]
    : parts.slice(at).map((part, i) => (i === 0 ? { ...part, from: compaction.event.at } : part));
}

function isRollback(one: PathEvent | undefined): boolean {
  return one?.event.k === "rollback";
}

function eventAt(file: Rollout, offset: number): number {
  const index = indexBefore(file, offset);
  return eventsOf(file)[index]?.at === offset ? index : -1;
}

/** The last event that is not behind `offset`, -1. */
function indexBefore(file: Rollout, offset: number): number {
  const events = eventsOf(file);
  return lastUpTo(0, events.length, (i) => (events[i]?.at ?? 0) <= offset);
}

const starts = new WeakMap<readonly PathEvent[], Map<string, { from: number; to: number }>>();

/** The event of a path at an offset of a file, and the last one not behind it. */
function placeOnPath(path: readonly PathEvent[], file: Rollout, offset: number): { exact: number; before: number } {
  let ranges = starts.get(path);
  if (ranges === undefined) {
    ranges = new Map();
    for (const [i, one] of path.entries()) {
      const known = ranges.get(one.file.path);
      if (known === undefined) ranges.set(one.file.path, { from: i, to: i + 1 });
      else known.to = i + 1;
    }
    starts.set(path, ranges);
  }
  const range = ranges.get(file.path);
  if (range === undefined) return { exact: -1, before: -1 };
  const before = lastUpTo(range.from, range.to, (i) => (path[i]?.event.at ?? 0) <= offset);
  return { exact: path[before]?.event.at === offset && path[before]?.file.path === file.path ? before : -1, before };
}

/** Responses have records of their own; only where there are none, the running total tells of them. */
function usageOf(file: Rollout, event: ReturnType<typeof eventsOf>[number] | null) {
  if (event?.k === "record") return event.usage;
  if (event?.k !== "total" || event.last.input + event.last.output === 0) return null;
  return hasRecords(file) ? null : event.last;
}
