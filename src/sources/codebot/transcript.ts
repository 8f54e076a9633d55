import { type OpenFile, openRegular } from "../../files/open.ts";
import type { Entry } from "../../session/entry.ts";
import { EntryCache } from "../entry-cache.ts";
import type { Page, PageRequest, Transcript } from "../source.ts";
import { entryOf } from "./chain-state.ts";
import { compactedMessages } from "./context.ts";
import { parseEntry } from "./entry.ts";
import { flatKept } from "./flat-log.ts";
import { fromFlat } from "./flat-message.ts";
import type { SessionState } from "./fold.ts";
import { isoOf } from "./go-time.ts";
import { type Message, readMessage } from "./message.ts";
import { type EntryFlags, messageEntries } from "./message-entries.ts";
import { clipped, pageOf, startsOf, windowOf } from "./paging.ts";
import { readCompaction } from "./payloads.ts";
import { syntheticResult } from "./repair.ts";
import { stateEntry } from "./state-entries.ts";
import { branchItems, contextItems, extendedTimeline, hasOrphans, timelineItems, type ViewItem } from "./view-items.ts";

/** Where a transcript gets the session from: brought up to date, with what tells one file from another. */
export interface SessionNow {
  path: string;
  identity: string;
  state: SessionState;
}

interface View {
  key: string;
  of: PageRequest["view"];
  /** The state it was made from, which grows in place. */
  state: SessionState;
  /** Was there a result without a call in it then? */
  orphans: boolean;
  items: ViewItem[];
  /** Position of each item's first entry; one more at the end. */
  starts: number[];
}

/** Pages of one session file: the order comes from the fold, and only the lines that are shown are read. */
export class SessionTranscript implements Transcript {
  readonly #now: () => Promise<SessionNow>;
  readonly #member: (name: string, request: PageRequest) => Promise<Page>;
  #identity = "";
  readonly #cache = new EntryCache<Entry[]>();
  #view: View | null = null;

  /** `member` answers for the branch `member:<name>`: a teammate's own conversation. */
  constructor(now: () => Promise<SessionNow>, member: (name: string, request: PageRequest) => Promise<Page>) {
    this.#now = now;
    this.#member = member;
  }

  async page(request: PageRequest): Promise<Page> {
    if (request.view === "branch" && request.of?.startsWith("member:")) {
      return this.#member(request.of.slice("member:".length), request);
    }
    const { path, identity, state } = await this.#now();
    if (identity !== this.#identity) {
      this.#identity = identity;
      this.#cache.clear();
      this.#view = null;
    }
    const view = this.#viewOf(request, state);
    const total = view.starts.at(-1) ?? 0;
    const [from, to] = windowOf(request, total, (ref) => positionOf(view, ref));
    return pageOf(this.#entries(path, state, view, from, to, request.textLimit), from, to, total);
  }

  close(): void {
    this.#cache.clear();
    this.#view = null;
  }

  #viewOf(request: PageRequest, state: SessionState): View {
    const of = request.view === "branch" ? (request.of ?? state.chain.leaf) : "";
    if (request.view === "branch" && state.shape === "tree" && !entryOf(state.entries, state.index, of)) {
      throw new Error(`there is no entry ${of}`);
    }
    const last = state.entries.at(-1);
    const key = [request.view, of, state.entries.length, last?.id, last?.at, last?.bytes, last?.time].join(" ");
    const before = this.#view;
    if (before?.key === key) return before;
    if (request.view === "timeline" && before?.of === "timeline" && before.state === state && !before.orphans) {
      const grown = extendedTimeline(before.items, state);
      if (grown !== null)
        return this.#keep({ key, of: "timeline", state, items: grown, starts: extendedStarts(before.starts, grown) });
    }
    const items =
      request.view === "context"
        ? contextItems(state)
        : request.view === "branch" && state.shape === "tree"
          ? branchItems(state, of)
          : timelineItems(state);
    return this.#keep({ key, of: request.view, state, items, starts: extendedStarts([0], items) });
  }

  #keep(view: Omit<View, "orphans">): View {
    this.#view = { ...view, orphans: hasOrphans(view.state) };
    return this.#view;
  }

  #entries(path: string, state: SessionState, view: View, from: number, to: number, textLimit?: number): Entry[] {
    const entries: Entry[] = [];
    if (to <= from) return entries;
    using file = openRegular(path);
    for (let at = firstItem(view.starts, from); at < view.items.length; at++) {
      const item = view.items[at];
      const start = view.starts[at] ?? 0;
      if (item === undefined || start >= to) break;
      const shown = this.#shown(file, state, item, textLimit);
      entries.push(...shown.slice(Math.max(0, from - start), to - start));
    }
    return entries;
  }

  #shown(file: OpenFile, state: SessionState, item: ViewItem, textLimit: number | undefined): Entry[] {
    const { facts, what, inContext, forkable, branch } = item;
    const flags = `${inContext ? 1 : 0}${forkable ? 1 : 0}${branch ? 1 : 0}`;
    const key = `${facts.at} ${JSON.stringify(what)} ${flags} ${textLimit ?? ""}`;
    return this.#cache.get(key, () => {
      // Never more or fewer than the order says: a line that was rewritten under us is shown as far as it fits.
      const read = readItem(file, state, item).slice(0, item.parts);
      return read.map((entry) => clipped(entry, textLimit));
    });
  }
}

function extendedStarts(starts: readonly number[], items: readonly ViewItem[]): number[] {
  const more = items.slice(starts.length - 1).map((item) => item.parts);
  return startsOf(more, starts);
}

/** Where a ref stands; `id:2` is a part of `id`. The end when it is nowhere. */
function positionOf({ items, starts }: View, ref: string): number {
  const exact = items.findIndex((item) => refOf(item) === ref);
  if (exact >= 0) return starts[exact] ?? 0;
  const [, whole = "", part = "0"] = /^(.*):(\d+)$/su.exec(ref) ?? [];
  const found = items.findIndex((item) => refOf(item) === whole);
  const item = items[found];
  return item === undefined ? (starts.at(-1) ?? 0) : (starts[found] ?? 0) + Math.min(Number(part), item.parts - 1);
}

function refOf({ facts, what }: ViewItem): string {
  if (what.as === "kept") return `${facts.id}:kept:${what.at}`;
  if (what.as === "synthetic") return `${facts.id}:synthetic:${what.call}`;
  return facts.id;
}

/** Index of the item that holds a position: the last one that starts at or before it. */
function firstItem(starts: readonly number[], position: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

function readItem(file: OpenFile, state: SessionState, item: ViewItem): Entry[] {
  const { facts, what, inContext, forkable, branch } = item;
  const line = parseEntry(file.read(facts.at, facts.bytes).toString("utf8").trim());
  if (line === null) return [];
  const flags: EntryFlags = {
    ref: refOf(item),
    n: facts.line,
    time: isoOf(line.timestamp),
    ...{ inContext, forkable, branch },
    withUsage: what.as === "line" && state.chain.calls.calls === 0,
  };
  const flat = state.shape === "flat";
  switch (what.as) {
    case "line": {
      const message = line.kind !== "message" ? null : flat ? fromFlat(line.data) : readMessage(line.data);
      return message === null ? [stateEntry(line, facts, flags)] : messageEntries(message, flags);
    }
    case "summary": {
      const [summary] = compactedMessages({ summary: readCompaction(line.data)?.summary ?? "", messages: [] }, "");
      const entries = summary === undefined ? [] : messageEntries(summary, flags);
      return entries.map((entry) => ({ ...entry, kind: "compaction", injected: true }));
    }
    case "kept": {
      const message = keptMessage(line.data, flat, what.at);
      return message === null ? [] : messageEntries(message, flags).map((entry) => ({ ...entry, via: "kept" }));
    }
    case "synthetic": {
      const asked =
        what.kept !== null
          ? keptMessage(line.data, flat, what.kept)
          : flat
            ? fromFlat(line.data)
            : readMessage(line.data);
      return asked === null ? [] : messageEntries(syntheticResult(what.call, asked), flags);
    }
  }
}

function keptMessage(data: unknown, flat: boolean, at: number): Message | null {
  const kept = flat ? flatKept(data) : (readCompaction(data)?.messages ?? []);
  return kept[at] ?? null;
}
