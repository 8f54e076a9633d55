import type { Opens } from "../../session/document.ts";
import { entryOf, pathTo } from "./chain-state.ts";
import type { EntryFacts, MessageFacts } from "./facts.ts";
import type { SessionState } from "./fold.ts";
import { HEADER_ID } from "./ids.ts";
import { SESSION_VERSION } from "./payloads.ts";
import { repairSequence } from "./repair.ts";

/** What of a line is shown at one place of a view. */
export interface ViewItem {
  facts: EntryFacts;
  /** `line`: the line itself. `summary`, `kept`: of a compaction. `synthetic`: a made-up result of `call`. */
  what:
    | { as: "line" }
    | { as: "summary" }
    | { as: "kept"; at: number }
    | { as: "synthetic"; call: string; kept: number | null };
  parts: number;
  inContext: boolean;
  forkable: boolean;
  branch: boolean;
}

/** The current branch, from the header to the leaf (version 5: the whole log). */
export function timelineItems(state: SessionState): ViewItem[] {
  if (state.shape !== "tree") return flatItems(state);
  return branchItems(state, state.chain.leaf || HEADER_ID);
}

/** The path to any leaf; what is on the current branch too is marked so. */
export function branchItems(state: SessionState, leaf: string): ViewItem[] {
  const { path, broken } = pathTo(state.entries, state.index, leaf);
  const currentLeaf = state.chain.leaf || HEADER_ID;
  const current = leaf === currentLeaf ? null : new Set(pathTo(state.entries, state.index, currentLeaf).path);
  const seen = new Set<EntryFacts>();
  for (const { facts, what } of contextOf(state, path)) if (what.as === "line") seen.add(facts);
  const canFork = broken === null && state.header?.version === SESSION_VERSION;
  const open = new OpenCalls();
  return path.map((facts) => {
    const forkable = canFork && facts.id !== HEADER_ID && !open.any();
    open.take(facts);
    return lineItem(facts, seen.has(facts), forkable, current === null || current.has(facts));
  });
}

/**
 * The timeline with the entries that were appended since; null when it has to be built anew: another branch, a
 * compaction, which takes everything before it out of the context, or results that came late. Only for items of a
 * state without orphans: a later call may bring those back into the context.
 */
export function extendedTimeline(items: readonly ViewItem[], state: SessionState): ViewItem[] | null {
  const known = items.length;
  if (state.shape !== "tree" || state.chain.broken !== null || state.header?.version !== SESSION_VERSION) return null;
  if (known < 1 || state.chain.entries !== state.entries.length) return null;
  const open = new OpenCalls();
  const start = items.findLastIndex(({ facts }) => facts.message !== undefined && facts.message.role !== "tool");
  for (const { facts } of items.slice(Math.max(0, start))) open.take(facts);
  const more: ViewItem[] = [];
  for (const facts of state.entries.slice(known)) {
    const { message } = facts;
    if (facts.compaction !== undefined) return null;
    if (message?.role === "tool" && !open.has(message.answers)) return null;
    const forkable = !open.any();
    open.take(facts);
    more.push(lineItem(facts, message !== undefined, forkable, true));
  }
  return [...items, ...more];
}

function lineItem(facts: EntryFacts, inContext: boolean, forkable: boolean, branch: boolean): ViewItem {
  return { facts, what: { as: "line" }, parts: facts.message?.parts ?? 1, inContext, forkable, branch };
}

/** The calls of the last message that nothing has answered yet: a fork there would leave them so. */
class OpenCalls {
  #ids = new Set<string>();

  any(): boolean {
    return this.#ids.size > 0;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  take({ message, compaction }: EntryFacts): void {
    if (compaction !== undefined) this.#ids.clear();
    for (const kept of compaction?.kept ?? []) this.#message(kept);
    if (message !== undefined) this.#message(message);
  }

  #message({ role, calls, answers }: MessageFacts): void {
    if (role === "tool") this.#ids.delete(answers);
    else if (this.#ids.size > 0 || calls.length > 0) this.#ids = new Set(calls);
  }
}

interface ContextPlace {
  facts: EntryFacts;
  kept: number | null;
  message: MessageFacts;
}

const SUMMARY: MessageFacts = {
  ...{ role: "user", injected: true, calls: [], answers: "", stop: "" },
  ...{ usage: null, parts: 1, said: "", prompt: "" },
};

/** What codebot would restore, repaired, each with where it stands in the file (codebot.md §6). */
export function contextItems(state: SessionState): ViewItem[] {
  if (state.shape === "unknown") return [];
  return contextOf(state, pathTo(state.entries, state.index, state.chain.leaf || HEADER_ID).path);
}

function contextOf(state: SessionState, path: readonly EntryFacts[]): ViewItem[] {
  const places = state.shape === "flat" ? flatPlaces(state) : treePlaces(path);
  const base = { inContext: true, forkable: false, branch: true };
  return repairSequence(places, ({ message }) => message).map(({ item: { facts, kept, message }, call }) => {
    if (call !== null) return { ...base, facts, parts: 1, what: { as: "synthetic", call, kept } };
    if (message === SUMMARY) return { ...base, facts, parts: 1, what: { as: "summary" } };
    const what: ViewItem["what"] = kept === null ? { as: "line" } : { as: "kept", at: kept };
    return { ...base, facts, parts: message.parts, what };
  });
}

function treePlaces(path: readonly EntryFacts[]): ContextPlace[] {
  let places: ContextPlace[] = [];
  for (const facts of path) {
    if (facts.message !== undefined) places.push({ facts, kept: null, message: facts.message });
    if (facts.compaction === undefined) continue;
    places = facts.compaction.kept.map((message, kept) => ({ facts, kept, message }));
    if (facts.compaction.summary) places.unshift({ facts, kept: null, message: SUMMARY });
  }
  return places;
}

function flatPlaces(state: SessionState): ContextPlace[] {
  return state.flat.history.flatMap(({ entry, kept, message }) => {
    const facts = state.entries[entry];
    return facts === undefined ? [] : [{ facts, kept, message }];
  });
}

function flatItems(state: SessionState): ViewItem[] {
  const alive = new Set(state.flat.history.filter(({ kept }) => kept === null).map(({ entry }) => entry));
  return state.entries.map((facts, at) => ({
    facts,
    what: { as: "line" },
    parts: facts.message?.parts ?? 1,
    inContext: alive.has(at),
    forkable: false,
    branch: facts.message === undefined || alive.has(at),
  }));
}

/** Are there results that answer no call so far? */
export function hasOrphans(state: SessionState): boolean {
  return Object.keys(state.chain.context.orphans).length > 0;
}

/** How a line of the file is opened: in the timeline when it is there, else on a branch that leads through it. */
export function opener(state: SessionState): (facts: EntryFacts) => Opens {
  if (state.shape !== "tree") return (facts) => ({ view: "timeline", ref: facts.id });
  const current = new Set(pathTo(state.entries, state.index, state.chain.leaf || HEADER_ID).path);
  // Children stand behind their parents, so that one pass from the end carries each leaf down to its root.
  const leafOf = new Map<EntryFacts, string>();
  for (const facts of state.entries.toReversed()) {
    const leaf = leafOf.get(facts) ?? facts.id;
    leafOf.set(facts, leaf);
    const parent = entryOf(state.entries, state.index, facts.parent);
    if (parent !== undefined && !leafOf.has(parent)) leafOf.set(parent, leaf);
  }
  return (facts) =>
    current.has(facts)
      ? { view: "timeline", ref: facts.id }
      : { view: "branch", of: leafOf.get(facts) ?? facts.id, ref: facts.id };
}
