import type { ModelRequest } from "../../usage/request.ts";
import type { EntryFacts, TokenFacts } from "./facts.ts";
import type { SessionState } from "./fold.ts";
import { isoOf } from "./go-time.ts";
import type { MemberFacts } from "./member-transcript.ts";
import { entryUsage } from "./message-entries.ts";

/** What names an entry in every copy of it: a fork keeps its lines byte for byte. */
export function entryKey(facts: EntryFacts): string {
  return `${facts.id} ${facts.time}`;
}

export interface SessionRequest {
  facts: EntryFacts;
  /** Names it in every copy: `entryKey` of its message, which a copy may have without the call's own line. */
  name: string;
  request: ModelRequest;
}

/**
 * The model calls of a session, all branches: its llm_call lines, or the usage of its messages when it has none.
 * Never both, never copies that a compaction keeps (codebot.md §7).
 */
export function requestsOf(state: SessionState): SessionRequest[] {
  const paid = state.entries.filter((facts) => facts.call !== undefined);
  const all = paid.length > 0 ? paid : state.entries.filter((facts) => facts.message?.usage);
  return all.flatMap((facts) => {
    const tokens = tokensOf(facts);
    if (tokens === null) return [];
    // Version 5 has no entry ids: the line is one only together with its session.
    const session = state.shape === "flat" ? `${state.header?.sessionId ?? ""}/` : "";
    const name = entryKey(state.entries[facts.call?.answer ?? -1] ?? facts);
    return [{ facts, name, request: requestOf(`codebot/${session}${name}`, isoOf(facts.time), tokens, null) }];
  });
}

export function memberRequests(sessionId: string, name: string, facts: MemberFacts): ModelRequest[] {
  return facts.usage.map(({ line, time, tokens }) =>
    requestOf(`codebot/${sessionId}/${name}/${line}`, time, tokens, name),
  );
}

function tokensOf(facts: EntryFacts): TokenFacts | null {
  const { call, message } = facts;
  if (call === undefined) return message?.usage ?? null;
  return {
    provider: call.provider,
    model: call.model,
    input: call.inputTokens,
    output: call.outputTokens,
    cacheRead: call.cacheReadTokens,
    cacheWrite: call.cacheCreationTokens,
    cost: call.cost,
  };
}

function requestOf(key: string, time: string | null, tokens: TokenFacts, by: string | null): ModelRequest {
  return { ...entryUsage(tokens), key, time, provider: tokens.provider || null, model: tokens.model || null, by };
}
