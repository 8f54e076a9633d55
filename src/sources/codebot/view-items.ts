import type { Opens } from "../../session/document.ts";
import { emptyChain, entryOf, pathTo, pushEntry } from "./chain-state.ts";
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
  const current = new Set(pathTo(state.entries, state.index, state.chain.leaf || HEADER_ID).path);
  const seen = new Set(contextItems(state, leaf).flatMap(({ facts, what }) => (what.as === "line" ? [facts] : [])));
  const forkable = broken === null && state.header?.version === SESSION_VERSION;
  const chain = emptyChain();
  return path.map((facts) => {
    const item: ViewItem = {
      facts,
      what: { as: "line" },
      parts: facts.message?.parts ?? 1,
      inContext: seen.has(facts),
      forkable: forkable && facts.id !== HEADER_ID && chain.context.pending.length === 0,
      branch: current.has(facts),
    };
    pushEntry(chain, facts);
    return item;
  });
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

/** What codebot would restore at a leaf, repaired, each with where it stands in the file (codebot.md §6). */
export function contextItems(state: SessionState, leaf = state.chain.leaf || HEADER_ID): ViewItem[] {
  if (state.shape === "unknown") return [];
  const places = state.shape === "flat" ? flatPlaces(state) : treePlaces(state, leaf);
  const current = new Set(state.shape === "flat" ? [] : pathTo(state.entries, state.index, leaf).path);
  const base = { inContext: true, forkable: false };
  return repairSequence(places, ({ message }) => message).map(({ item: { facts, kept, message }, call }) => {
    const branch = state.shape === "flat" || current.has(facts);
    if (call !== null) return { ...base, facts, branch, parts: 1, what: { as: "synthetic", call, kept } };
    if (message === SUMMARY) return { ...base, facts, branch, parts: 1, what: { as: "summary" } };
    const what: ViewItem["what"] = kept === null ? { as: "line" } : { as: "kept", at: kept };
    return { ...base, facts, branch, parts: message.parts, what };
  });
}

function treePlaces(state: SessionState, leaf: string): ContextPlace[] {
  let places: ContextPlace[] = [];
  for (const facts of pathTo(state.entries, state.index, leaf).path) {
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
