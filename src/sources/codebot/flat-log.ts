import type { Entry } from "./entry.ts";
import { type EntryFacts, keptFacts, type MessageFacts, messageFacts, type Place } from "./facts.ts";
import { fromFlat } from "./flat-message.ts";
import { countOf, isObject, textOf } from "./json.ts";
import type { Message } from "./message.ts";

/**
 * Version 5 (codebot.md §13): no tree, a log in which a compaction replaces the whole history and a rewind cuts it.
 * The keys of its blocks are not all known, so they are read loosely.
 */
export interface FlatState {
  /** The history as it is now: which line each message came from; `kept` counts inside a compaction. */
  history: { entry: number; kept: number | null; message: MessageFacts }[];
  rewinds: number;
  compactions: number;
  provider: string;
  model: string;
  effort: string;
}

export function emptyFlat(): FlatState {
  return { history: [], rewinds: 0, compactions: 0, provider: "", model: "", effort: "" };
}

/** Takes in one line; false when version 5 has no such kind. `at` is its position among the entries. */
export function pushFlat(flat: FlatState, entry: Entry, facts: EntryFacts, at: number): boolean {
  const data = isObject(entry.data) ? entry.data : {};
  switch (entry.kind) {
    case "message":
      if (facts.message !== undefined) flat.history.push({ entry: at, kept: null, message: facts.message });
      return true;
    case "compaction": {
      const kept = facts.compaction?.kept ?? [];
      flat.history = kept.map((message, kept) => ({ entry: at, kept, message }));
      flat.compactions += 1;
      return true;
    }
    case "rewind":
      flat.history.length = Math.min(flat.history.length, countOf(data, "keep"));
      flat.rewinds += 1;
      return true;
    case "model":
      flat.provider = textOf(data, "provider");
      flat.model = textOf(data, "model");
      flat.effort = textOf(data, "effort");
      return true;
    case "checkpoint":
      return true;
    default:
      return false;
  }
}

export function flatFacts(entry: Entry, place: Place): EntryFacts {
  const facts: EntryFacts = {
    id: `@${place.line}`,
    parent: "",
    kind: entry.kind,
    time: entry.timestamp,
    ...place,
  };
  if (!isObject(entry.data)) return facts;
  if (entry.kind === "message") {
    const message = fromFlat(entry.data);
    if (message === null) facts.undecodable = true;
    else facts.message = messageFacts(message);
  }
  if (entry.kind === "compaction") {
    facts.compaction = { summary: false, kept: flatKept(entry.data).map(keptFacts) };
  }
  if (entry.kind === "model") {
    facts.model = { provider: textOf(entry.data, "provider"), model: textOf(entry.data, "model") };
    facts.effort = textOf(entry.data, "effort");
  }
  return facts;
}

/** The messages that replace the history at a version 5 compaction. */
export function flatKept(data: unknown): Message[] {
  if (!isObject(data) || !Array.isArray(data.messages)) return [];
  return data.messages.map(fromFlat).filter((message) => message !== null);
}
