import type { Entry } from "./entry.ts";
import { HEADER_ID } from "./ids.ts";
import { type Message, readMessage } from "./message.ts";
import {
  type GoalStateEntry,
  NO_GOAL,
  readCompaction,
  readGoalState,
  readModelChange,
  readPlanState,
  readReasoningEffort,
  readSessionName,
} from "./payloads.ts";
import { repairMessages } from "./repair.ts";

/** What codebot restores when it opens a session (codebot.md §6, §14.1). */
export interface ContextSnapshot {
  /** Repaired: every call has a result. */
  messages: Message[];
  /** `""` when the model was never switched. */
  provider: string;
  model: string;
  /** `""`: the provider's default. */
  reasoningEffort: string;
  planSlug: string;
  planPhase: string;
  planPreMode: string;
  goal: GoalStateEntry;
  /** The last name on the chain, null when none is there. */
  name: string | null;
}

/** The chain does not lead from the leaf to the header. */
export class BrokenChain extends Error {
  override name = "BrokenChain";
  readonly kind: "missing-parent" | "cycle" | "no-header";
  readonly at: string;
  constructor(kind: BrokenChain["kind"], at: string) {
    super(
      kind === "cycle"
        ? `the chain of entries runs in a circle at ${at}`
        : kind === "missing-parent"
          ? `entry ${at} is not in the session`
          : `the chain of entries ends at ${at} without reaching the header`,
    );
    this.kind = kind;
    this.at = at;
  }
}

/** The entries from the header to a leaf (codebot.md §2.2). Throws `BrokenChain`. */
export function chainOf<T extends { id: string }>(
  leaf: string,
  entry: (id: string) => T | undefined,
  parentOf: (entry: T) => string,
): T[] {
  const chain: T[] = [];
  const visited = new Set<string>();
  for (let id = leaf; ; ) {
    if (visited.has(id)) throw new BrokenChain("cycle", id);
    visited.add(id);
    const found = entry(id);
    if (found === undefined) throw new BrokenChain("missing-parent", id);
    chain.push(found);
    if (found.id === HEADER_ID) return chain.reverse();
    const parent = parentOf(found);
    if (parent === "") throw new BrokenChain("no-header", id);
    id = parent;
  }
}

/** The same among the entries of a file. */
export function entryChain(entries: ReadonlyMap<string, Entry>, leaf: string): Entry[] {
  return chainOf(
    leaf,
    (id) => entries.get(id),
    (entry) => entry.parentId,
  );
}

/** Builds the context from a chain in order. State before a compaction still counts; messages before it do not. */
export function buildSnapshot(chain: readonly Entry[]): ContextSnapshot {
  let messages: Message[] = [];
  const snapshot: ContextSnapshot = {
    messages,
    provider: "",
    model: "",
    reasoningEffort: "",
    planSlug: "",
    planPhase: "",
    planPreMode: "",
    goal: NO_GOAL,
    name: null,
  };
  for (const entry of chain) {
    switch (entry.kind) {
      case "message": {
        const message = readMessage(entry.data);
        if (message !== null) messages.push(message);
        break;
      }
      case "compaction": {
        const compaction = readCompaction(entry.data);
        if (compaction !== null) messages = compactedMessages(compaction, entry.timestamp);
        break;
      }
      default:
        applyState(snapshot, entry);
    }
  }
  snapshot.messages = repairMessages(messages);
  return snapshot;
}

/** Summary and kept messages: what a compaction leaves of everything before it. */
export function compactedMessages(compaction: { summary: string; messages: Message[] }, time: string): Message[] {
  const { summary, messages } = compaction;
  if (summary === "") return [...messages];
  return [{ role: "user", content: [{ type: "text", text: summary }], timestamp: time }, ...messages];
}

function applyState(snapshot: ContextSnapshot, entry: Entry): void {
  switch (entry.kind) {
    case "model_change":
      Object.assign(snapshot, readModelChange(entry.data));
      break;
    case "reasoning_effort_change":
      snapshot.reasoningEffort = readReasoningEffort(entry.data)?.level ?? snapshot.reasoningEffort;
      break;
    case "session_info":
      snapshot.name = readSessionName(entry.data) ?? snapshot.name;
      break;
    case "goal_state":
      snapshot.goal = readGoalState(entry.data) ?? snapshot.goal;
      break;
    case "plan_state": {
      const plan = readPlanState(entry.data);
      if (plan === null) break;
      snapshot.planPhase = plan.phase;
      snapshot.planSlug = plan.slug;
      snapshot.planPreMode = plan.preMode;
    }
  }
}
