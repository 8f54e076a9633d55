import { type GoTime, setTime, UNSET_TIME } from "./go-time.ts";
import { countOf, flagOf, floatOf, intOf, isObject, type JsonObject, textOf, withoutEmpty } from "./json.ts";
import { type Message, readMessage } from "./message.ts";

/** Session format written and opened by codebot 0.3 (codebot.md §13). */
export const SESSION_VERSION = 3;

/** First line of a session file (codebot.md §2). */
export interface Header {
  version: number;
  sessionId: string;
  /** Never written by 0.3, honoured when there. */
  name: string;
  cwd: string;
  /** null: unset. */
  created: GoTime | null;
}

export interface ModelChange {
  provider: string;
  model: string;
}

export interface ReasoningEffortChange {
  /** `""` is the provider's default. */
  level: string;
}

/** Everything before it leaves the context; summary and kept messages take its place (codebot.md §6). */
export interface Compaction {
  summary: string;
  messages: Message[];
}

/** Plan mode was entered or left (codebot.md §9). */
export interface PlanStateEntry {
  phase: string;
  slug: string;
  preMode: string;
}

/** The whole goal, at every change (codebot.md §8). Times are null when unset, which Go writes as year 1. */
export interface GoalStateEntry {
  id: string;
  objective: string;
  status: string;
  createdAt: GoTime | null;
  updatedAt: GoTime | null;
  completedAt: GoTime | null;
  blockedAt: GoTime | null;
  budgetLimitedAt: GoTime | null;
  usageLimitedAt: GoTime | null;
  reason: string;
  blockedReason: string;
  blockedCount: number;
  blockedAttemptTokenTotal: number;
  budgetLimitReported: boolean;
  /** 0: no budget. */
  tokenBudget: number;
  tokensUsed: number;
  tokenTotalAtLastAccount: number;
}

/** Why the prompt cache was lost between two calls (codebot.md §7). */
export interface CacheBreakInfo {
  prevCacheReadTokens: number;
  currCacheReadTokens: number;
  dropAbsolute: number;
  /** 0 to 1. */
  dropFraction: number;
  systemChanged: boolean;
  frozenChanged: boolean;
  dynamicChanged: boolean;
  toolsChanged: boolean;
  /** Newer builds: the tool rewrote the prompt itself. */
  expected: boolean;
  note: string;
}

/** One answer of a model, for accounting. `inputTokens` contains the cache reads (codebot.md §7). */
export interface LLMCallEntry {
  provider: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
  totalTokens: number;
  latencyMs: number;
  stopReason: string;
  reasoningEffort: string;
  cacheBreak: CacheBreakInfo | null;
}

/** No goal: what a session without a goal line has. */
export const NO_GOAL: GoalStateEntry = {
  id: "",
  objective: "",
  status: "off",
  createdAt: null,
  updatedAt: null,
  completedAt: null,
  blockedAt: null,
  budgetLimitedAt: null,
  usageLimitedAt: null,
  reason: "",
  blockedReason: "",
  blockedCount: 0,
  blockedAttemptTokenTotal: 0,
  budgetLimitReported: false,
  tokenBudget: 0,
  tokensUsed: 0,
  tokenTotalAtLastAccount: 0,
};

export function readHeader(data: unknown): Header | null {
  if (!isObject(data)) return null;
  return {
    version: intOf(data, "version"),
    sessionId: textOf(data, "session_id"),
    name: textOf(data, "name"),
    cwd: textOf(data, "cwd"),
    created: setTime(data.created),
  };
}

export function headerData(header: Header): JsonObject {
  const { version, sessionId, name, cwd, created } = header;
  return { version, session_id: sessionId, ...withoutEmpty({ name }), cwd, created: created ?? UNSET_TIME };
}

export function readModelChange(data: unknown): ModelChange | null {
  return isObject(data) ? { provider: textOf(data, "provider"), model: textOf(data, "model") } : null;
}

export function readReasoningEffort(data: unknown): ReasoningEffortChange | null {
  return isObject(data) ? { level: textOf(data, "level") } : null;
}

/** The new name, null when the line holds none. `""` takes the name away. */
export function readSessionName(data: unknown): string | null {
  if (!isObject(data) || Object.values(data).some((value) => typeof value !== "string")) return null;
  return typeof data.name === "string" ? data.name : null;
}

/** null when codebot could not decode it. Kept messages that cannot be decoded are left out, as codebot does. */
export function readCompaction(data: unknown): Compaction | null {
  if (!isObject(data)) return null;
  const kept = data.messages ?? [];
  if (!Array.isArray(kept) || (data.summary !== undefined && typeof data.summary !== "string")) return null;
  return {
    summary: textOf(data, "summary"),
    messages: kept.map(readMessage).filter((message) => message !== null),
  };
}

export function readPlanState(data: unknown): PlanStateEntry | null {
  if (!isObject(data)) return null;
  return { phase: textOf(data, "phase"), slug: textOf(data, "slug"), preMode: textOf(data, "pre_mode") };
}

export function planStateData(plan: PlanStateEntry): JsonObject {
  return { phase: plan.phase, ...withoutEmpty({ slug: plan.slug, pre_mode: plan.preMode }) };
}

export function readGoalState(data: unknown): GoalStateEntry | null {
  if (!isObject(data)) return null;
  return {
    id: textOf(data, "id"),
    objective: textOf(data, "objective"),
    status: textOf(data, "status"),
    createdAt: setTime(data.created_at),
    updatedAt: setTime(data.updated_at),
    completedAt: setTime(data.completed_at),
    blockedAt: setTime(data.blocked_at),
    budgetLimitedAt: setTime(data.budget_limited_at),
    usageLimitedAt: setTime(data.usage_limited_at),
    reason: textOf(data, "reason"),
    blockedReason: textOf(data, "blocked_reason"),
    blockedCount: countOf(data, "blocked_count"),
    blockedAttemptTokenTotal: countOf(data, "blocked_attempt_token_total"),
    budgetLimitReported: flagOf(data, "budget_limit_reported"),
    tokenBudget: countOf(data, "token_budget"),
    tokensUsed: countOf(data, "tokens_used"),
    tokenTotalAtLastAccount: countOf(data, "token_total_at_last_account"),
  };
}

export function goalStateData(goal: GoalStateEntry): JsonObject {
  return {
    ...withoutEmpty({ id: goal.id, objective: goal.objective }),
    status: goal.status,
    created_at: goal.createdAt ?? UNSET_TIME,
    updated_at: goal.updatedAt ?? UNSET_TIME,
    completed_at: goal.completedAt ?? UNSET_TIME,
    blocked_at: goal.blockedAt ?? UNSET_TIME,
    budget_limited_at: goal.budgetLimitedAt ?? UNSET_TIME,
    usage_limited_at: goal.usageLimitedAt ?? UNSET_TIME,
    ...withoutEmpty({
      reason: goal.reason,
      blocked_reason: goal.blockedReason,
      blocked_count: goal.blockedCount,
      blocked_attempt_token_total: goal.blockedAttemptTokenTotal,
      budget_limit_reported: goal.budgetLimitReported,
      token_budget: goal.tokenBudget,
      tokens_used: goal.tokensUsed,
      token_total_at_last_account: goal.tokenTotalAtLastAccount,
    }),
  };
}

/** The goal as people mean it: a blank objective is no goal (codebot.md §8). */
export function effectiveGoal(goal: GoalStateEntry | null): GoalStateEntry {
  return goal === null || goal.objective.trim() === "" ? NO_GOAL : goal;
}

export function readLLMCall(data: unknown): LLMCallEntry | null {
  if (!isObject(data)) return null;
  return {
    provider: textOf(data, "provider"),
    model: textOf(data, "model"),
    inputTokens: countOf(data, "input_tokens"),
    outputTokens: countOf(data, "output_tokens"),
    cacheReadTokens: countOf(data, "cache_read_tokens"),
    cacheCreationTokens: countOf(data, "cache_creation_tokens"),
    totalTokens: countOf(data, "total_tokens"),
    latencyMs: countOf(data, "latency_ms"),
    stopReason: textOf(data, "stop_reason"),
    // Older builds call it thinking_level (codebot.md §4).
    reasoningEffort: textOf(data, "reasoning_effort") || textOf(data, "thinking_level"),
    cacheBreak: readCacheBreak(data.cache_break),
  };
}

function readCacheBreak(data: unknown): CacheBreakInfo | null {
  if (!isObject(data)) return null;
  return {
    prevCacheReadTokens: countOf(data, "prev_cache_read_tokens"),
    currCacheReadTokens: countOf(data, "curr_cache_read_tokens"),
    dropAbsolute: countOf(data, "drop_absolute"),
    dropFraction: floatOf(data, "drop_fraction"),
    systemChanged: flagOf(data, "system_changed"),
    frozenChanged: flagOf(data, "frozen_system_changed"),
    dynamicChanged: flagOf(data, "dynamic_system_changed"),
    toolsChanged: flagOf(data, "tools_changed"),
    expected: flagOf(data, "expected"),
    note: textOf(data, "note"),
  };
}

export function llmCallData(call: LLMCallEntry): JsonObject {
  return {
    provider: call.provider,
    model: call.model,
    input_tokens: call.inputTokens,
    output_tokens: call.outputTokens,
    ...withoutEmpty({
      cache_read_tokens: call.cacheReadTokens,
      cache_creation_tokens: call.cacheCreationTokens,
      total_tokens: call.totalTokens,
      latency_ms: call.latencyMs,
      stop_reason: call.stopReason,
      reasoning_effort: call.reasoningEffort,
      cache_break: call.cacheBreak === null ? undefined : cacheBreakData(call.cacheBreak),
    }),
  };
}

function cacheBreakData(info: CacheBreakInfo): JsonObject {
  return {
    prev_cache_read_tokens: info.prevCacheReadTokens,
    curr_cache_read_tokens: info.currCacheReadTokens,
    drop_absolute: info.dropAbsolute,
    drop_fraction: info.dropFraction,
    ...withoutEmpty({
      system_changed: info.systemChanged,
      frozen_system_changed: info.frozenChanged,
      dynamic_system_changed: info.dynamicChanged,
      tools_changed: info.toolsChanged,
      expected: info.expected,
      note: info.note,
    }),
  };
}
