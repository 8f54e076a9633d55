import type { Tokens, Usage } from "../session/snapshot.ts";

/** One call of a model: what every number about usage is a sum of. */
export interface ModelRequest extends Tokens {
  /** Equal for copies of the same request in other files, so that it is counted once. */
  key: string;
  /** ISO 8601, null when not recorded. */
  time: string | null;
  provider: string | null;
  model: string | null;
  /** US dollars as the tool recorded it, null when it records none. */
  cost: number | null;
  /** Who made it: null for the session itself, else the sub-agent's or member's name. */
  by: string | null;
  /** Copied from another session, which owns it: counted there. */
  copied?: boolean;
}

export const NO_TOKENS: Tokens = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
};

export function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** The sum over requests, each key once (the last one wins). Cost only where every part of it is recorded. */
export function sumRequests(requests: Iterable<ModelRequest>): Usage {
  const byKey = new Map<string, ModelRequest>();
  for (const request of requests) byKey.set(request.key, request);
  let tokens = NO_TOKENS;
  let cost = 0;
  let priced = 0;
  for (const request of byKey.values()) {
    tokens = addTokens(tokens, request);
    if (request.cost !== null) {
      cost += request.cost;
      priced += 1;
    }
  }
  const basis = priced === 0 ? null : priced === byKey.size ? "recorded" : "partial";
  return { requests: byKey.size, ...tokens, cost: priced === 0 ? null : cost, costBasis: basis };
}

/** Tokens of the whole prompt of a request (design §4). */
export function promptTokens(tokens: Tokens): number {
  return tokens.input + tokens.cacheRead + tokens.cacheWrite;
}
