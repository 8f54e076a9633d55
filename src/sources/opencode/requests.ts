import type { ModelRequest } from "../../usage/request.ts";
import { isoTime } from "../jsonl/record.ts";
import { type Lineage, nameOf } from "./forks.ts";
import type { MessageRow, SessionRow, StoredTokens } from "./rows.ts";
import { hasTokens, type SessionFacts } from "./session-facts.ts";

/** One request a reply, reverted ones too: they were billed. Then what only the session's own row knows. */
export function requestsOf(facts: SessionFacts, lineage: Lineage): ModelRequest[] {
  const { session } = facts;
  const requests = facts.messages.flatMap((message) => replyRequest(session, message, lineage) ?? []);
  const rest = restOf(facts, lineage);
  return rest === null ? requests : [...requests, rest];
}

function replyRequest(session: SessionRow, message: MessageRow, lineage: Lineage): ModelRequest | null {
  // A compaction of version 2 is a row of its own kind, and was billed too.
  if (message.role === "user" || !hasTokens(message.tokens)) return null;
  const { owner, name } = lineage.copied.get(message.id) ?? { owner: session.id, name: nameOf(message) };
  return {
    key: `opencode:${owner}:${name}`,
    time: isoTime(message.createdAt),
    provider: message.provider,
    model: message.model,
    ...converted(message.tokens),
    cost: message.cost,
    by: null,
    ...(owner === session.id ? {} : { copied: true }),
  };
}

/** OpenCode's output leaves reasoning out, ours holds it (agents.md §0). */
function converted(tokens: StoredTokens): Omit<ModelRequest, "key" | "time" | "provider" | "model" | "cost" | "by"> {
  const { input, output, reasoning, cacheRead, cacheWrite } = tokens;
  return { input, output: output + reasoning, reasoning, cacheRead, cacheWrite, cacheWrite1h: 0 };
}

/**
 * Rows that were migrated carry no tokens, or zeros: the session's totals less what the others carry (agents.md §4.1).
 * Of a fork that holds nothing but copies of such rows they are the original's.
 */
function restOf(facts: SessionFacts, lineage: Lineage): ModelRequest | null {
  const { session, messages } = facts;
  if (!hasTokens(session.tokens)) return null;
  const bare = messages.filter((one) => one.role === "assistant" && !hasTokens(one.tokens));
  if (!facts.brief && bare.length === 0) return null;
  const rest = { ...session.tokens };
  let cost = session.cost;
  for (const { tokens, role, cost: paid } of messages) {
    if (role === "user" || tokens === null) continue;
    rest.input = Math.max(0, rest.input - tokens.input);
    rest.output = Math.max(0, rest.output - tokens.output);
    rest.reasoning = Math.max(0, rest.reasoning - tokens.reasoning);
    rest.cacheRead = Math.max(0, rest.cacheRead - tokens.cacheRead);
    rest.cacheWrite = Math.max(0, rest.cacheWrite - tokens.cacheWrite);
    if (cost !== null) cost = Math.max(0, cost - (paid ?? 0));
  }
  if (!hasTokens(rest)) return null;
  const named = bare.at(-1) ?? null;
  const isOld = (one: MessageRow): boolean => one.createdAt < session.createdAt || lineage.copied.has(one.id);
  const inherited = lineage.forkOf !== null && bare.length > 0 && bare.every(isOld);
  return {
    key: `opencode:${inherited ? lineage.forkOf : session.id}:row`,
    time: isoTime(named?.createdAt ?? session.updatedAt),
    provider: named?.provider ?? null,
    model: named?.model ?? null,
    ...converted(rest),
    cost,
    by: null,
    ...(inherited ? { copied: true } : {}),
  };
}
