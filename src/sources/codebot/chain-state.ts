import { BrokenChain, chainOf } from "./context.ts";
import { type ContextCount, countMessage, countSummary, emptyContext } from "./context-count.ts";
import type { EntryFacts } from "./facts.ts";
import { HEADER_ID } from "./ids.ts";
import { type GoalStateEntry, NO_GOAL, type PlanStateEntry } from "./payloads.ts";

/** Sums of model calls in codebot's own meaning: `input` contains the cache reads. */
export interface CallSums {
  calls: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

function noCalls(): CallSums {
  return { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
}

/** What follows from the entries between the header and the current leaf (codebot.md §2.2, §6). Plain data. */
export interface ChainState {
  /** Id of its last entry. */
  leaf: string;
  /** Why there is no chain; then everything here is in file order. */
  broken: { kind: BrokenChain["kind"]; at: string } | null;
  entries: number;
  messages: number;
  compactions: number;
  context: ContextCount;
  provider: string;
  model: string;
  effort: string;
  name: string | null;
  /** null: plan mode was never used. */
  plan: PlanStateEntry | null;
  /** The last slug of plan mode: leaving it drops the slug from the state (codebot.md §9). */
  planSlug: string;
  goal: GoalStateEntry;
  calls: CallSums;
  /** What was said or called last, and by whom. */
  said: { role: string; text: string } | null;
}

export function emptyChain(): ChainState {
  return {
    leaf: "",
    broken: null,
    entries: 0,
    messages: 0,
    compactions: 0,
    context: emptyContext(),
    provider: "",
    model: "",
    effort: "",
    name: null,
    plan: null,
    planSlug: "",
    goal: NO_GOAL,
    calls: noCalls(),
    said: null,
  };
}

/** Adds the next entry of the chain. */
export function pushEntry(chain: ChainState, facts: EntryFacts): void {
  chain.leaf = facts.id;
  chain.entries += 1;
  if (facts.kind === "message") chain.messages += 1;
  if (facts.message !== undefined) {
    countMessage(chain.context, facts.message);
    if (facts.message.said !== "" && !facts.message.injected && facts.message.role !== "tool") {
      chain.said = { role: facts.message.role, text: facts.message.said };
    }
  }
  if (facts.compaction !== undefined) {
    chain.compactions += 1;
    chain.context = emptyContext();
    if (facts.compaction.summary) countSummary(chain.context);
    for (const kept of facts.compaction.kept) countMessage(chain.context, kept);
  }
  if (facts.model !== undefined) {
    chain.provider = facts.model.provider;
    chain.model = facts.model.model;
  }
  if (facts.plan !== undefined) {
    chain.plan = facts.plan;
    chain.planSlug = facts.plan.slug || chain.planSlug;
  }
  chain.effort = facts.effort ?? chain.effort;
  chain.name = facts.name ?? chain.name;
  chain.goal = facts.goal ?? chain.goal;
  if (facts.call !== undefined) addCall(chain.calls, facts.call);
}

function addCall(sums: CallSums, call: NonNullable<EntryFacts["call"]>): void {
  sums.calls += 1;
  sums.input += call.inputTokens;
  sums.output += call.outputTokens;
  sums.cacheRead += call.cacheReadTokens;
  sums.cacheWrite += call.cacheCreationTokens;
}

/** Entries by id, the last of a duplicate id winning. */
export type EntryIndex = Record<string, number>;

export function entryOf(entries: readonly EntryFacts[], index: EntryIndex, id: string): EntryFacts | undefined {
  const at = index[`$${id}`];
  return at === undefined ? undefined : entries[at];
}

/** The entries between the header and a leaf; in file order, with the reason, when there is no such chain. */
export function pathTo(
  entries: readonly EntryFacts[],
  index: EntryIndex,
  leaf: string,
): { path: EntryFacts[]; broken: ChainState["broken"] } {
  try {
    const path = chainOf(
      leaf,
      (id) => entryOf(entries, index, id),
      (entry) => entry.parent,
    );
    return { path, broken: null };
  } catch (error) {
    if (!(error instanceof BrokenChain)) throw error;
    const path = entries.filter((entry, at) => index[`$${entry.id}`] === at);
    return { path, broken: { kind: error.kind, at: error.at } };
  }
}

export function chainTo(entries: readonly EntryFacts[], index: EntryIndex, leaf: string): ChainState {
  const { path, broken } = pathTo(entries, index, leaf);
  const chain = emptyChain();
  chain.broken = broken;
  for (const entry of path) pushEntry(chain, entry);
  chain.leaf = leaf;
  return chain;
}

/** Entries that are nobody's parent, in file order; the header when there is nothing else. */
export function leavesOf(entries: readonly EntryFacts[], index: EntryIndex): EntryFacts[] {
  const live = entries.filter((entry, at) => index[`$${entry.id}`] === at);
  const parents = new Set(live.filter((entry) => entry.id !== HEADER_ID).map((entry) => entry.parent));
  return live.filter((entry) => !parents.has(entry.id));
}
