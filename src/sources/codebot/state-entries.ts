import { blankEntry, type Entry } from "../../session/entry.ts";
import type { Entry as Line } from "./entry.ts";
import { type EntryFacts, modelName } from "./facts.ts";
import { isoOf } from "./go-time.ts";
import { countOf, isObject, type JsonObject, textOf } from "./json.ts";
import { type EntryFlags, entryUsage } from "./message-entries.ts";
import type { CacheBreakInfo, GoalStateEntry, PlanStateEntry } from "./payloads.ts";
import { readCompaction } from "./payloads.ts";

/** A line that is no message, as one line of a transcript. */
export function stateEntry(line: Line, facts: EntryFacts, flags: EntryFlags): Entry {
  const entry: Entry = {
    ...blankEntry({ ref: flags.ref, n: flags.n, kind: "marker" }),
    time: isoOf(line.timestamp),
    inContext: flags.inContext,
    forkable: flags.forkable,
    branch: flags.branch,
  };
  const data = isObject(line.data) ? line.data : {};
  switch (line.kind) {
    case "header":
      return { ...entry, kind: "start", text: `session ${textOf(data, "session_id")} in ${textOf(data, "cwd")}` };
    case "compaction":
      return { ...entry, kind: "compaction", injected: true, text: dividerText(line, facts) };
    case "llm_call":
      return stepEntry(entry, facts);
    default:
      return { ...entry, via: line.kind, text: markerText(line.kind, data, facts) };
  }
}

function dividerText(line: Line, facts: EntryFacts): string {
  const kept = facts.compaction?.kept.length ?? 0;
  const summary = readCompaction(line.data)?.summary ?? "";
  return `context compacted — ${kept} kept${summary === "" ? "" : `\n\n${summary}`}`;
}

function stepEntry(entry: Entry, facts: EntryFacts): Entry {
  const { call } = facts;
  if (call === undefined) return { ...entry, via: "llm_call", text: "call without readable numbers" };
  const parts = [
    call.latencyMs > 0 ? `${(call.latencyMs / 1000).toFixed(1)} s` : "",
    call.reasoningEffort === "" ? "" : `effort ${call.reasoningEffort}`,
    call.stopReason,
    call.cacheBreak === null ? "" : breakText(call.cacheBreak),
  ];
  return {
    ...entry,
    kind: "step",
    model: modelName(call.provider, call.model) || null,
    usage: entryUsage({
      ...{ provider: call.provider, model: call.model, input: call.inputTokens, output: call.outputTokens },
      ...{ cacheRead: call.cacheReadTokens, cacheWrite: call.cacheCreationTokens, cost: call.cost },
    }),
    text: parts.filter((part) => part !== "").join(" · "),
  };
}

function markerText(kind: string, data: JsonObject, facts: EntryFacts): string {
  switch (kind) {
    case "model_change":
    case "model":
      return `model: ${modelName(facts.model?.provider ?? "", facts.model?.model ?? "") || "–"}`;
    case "reasoning_effort_change":
      return `effort: ${effortWord(facts.effort ?? "")}`;
    case "thinking_change":
      return `effort: ${effortWord(textOf(data, "level"))} (legacy: codebot 0.3 does not read it)`;
    case "session_info":
      return facts.name === undefined ? "renamed" : `renamed: ${facts.name}`;
    case "plan_state":
      return facts.plan === undefined ? "plan mode" : planText(facts.plan);
    case "goal_state":
      return facts.goal === undefined ? "goal" : goalText(facts.goal);
    case "label":
      return `label: ${textOf(data, "label")} on ${textOf(data, "target_id")}`;
    case "branch_summary":
      return `branch from ${textOf(data, "from_id")}: ${textOf(data, "summary")}`;
    case "rewind":
      return `rewound: ${countOf(data, "keep")} messages kept`;
    case "checkpoint":
      return `checkpoint at message ${countOf(data, "at")}`;
    default:
      return kind;
  }
}

function effortWord(level: string): string {
  return level === "" ? "provider's default" : level;
}

export function planText(plan: PlanStateEntry): string {
  const back = plan.preMode === "" ? "" : ` (approval was ${plan.preMode})`;
  return plan.phase === "off"
    ? `plan mode left${back}`
    : `plan mode: ${plan.phase}${plan.slug === "" ? "" : ` ${plan.slug}`}${back}`;
}

export function goalText(goal: GoalStateEntry): string {
  if (goal.objective.trim() === "") return "goal cleared";
  const budget =
    goal.tokenBudget > 0
      ? `, ${goal.tokensUsed} of ${goal.tokenBudget} tokens`
      : goal.tokensUsed > 0
        ? `, ${goal.tokensUsed} tokens`
        : "";
  const reason = goal.blockedReason || goal.reason;
  return `goal ${goal.status || "?"}: ${goal.objective}${budget}${reason === "" ? "" : ` (${reason})`}`;
}

/** `cache −18.9k (90 %)`, with its cause; the tool's own rewriting is marked as expected (codebot.md §7). */
export function breakText(info: CacheBreakInfo): string {
  const drop = info.dropAbsolute >= 1000 ? `${(info.dropAbsolute / 1000).toFixed(1)}k` : String(info.dropAbsolute);
  const cause = breakCause(info);
  const expected = info.expected ? ", expected" : "";
  return `cache −${drop} (${Math.round(info.dropFraction * 100)} %${expected})${cause === "" ? "" : `: ${cause}`}`;
}

/** The tool's note, else what it saw change. */
function breakCause(info: CacheBreakInfo): string {
  if (info.note !== "") return info.note;
  const changed = [
    info.frozenChanged ? "frozen system prompt" : "",
    info.dynamicChanged ? "dynamic system prompt" : "",
    info.systemChanged && !info.frozenChanged && !info.dynamicChanged ? "system prompt" : "",
    info.toolsChanged ? "tools" : "",
  ].filter((part) => part !== "");
  return changed.length === 0 ? "" : `${changed.join(", ")} changed`;
}
