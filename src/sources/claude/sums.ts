import type { Tokens, Usage } from "../../session/snapshot.ts";
import type { PriceBook } from "../../usage/prices.ts";
import { addTokens, NO_TOKENS } from "../../usage/request.ts";
import type { ClaudeFile, ClaudeRequest } from "./file.ts";
import { type AgentFile, agentRequests, modelRequest } from "./requests.ts";

interface Running {
  /** The requests that are in the sum, as they were when they were added. */
  refs: ClaudeRequest[];
  prices: PriceBook | null;
  sum: Sum;
}

interface Sum {
  tokens: Tokens;
  requests: number;
  cost: number;
  priced: number;
}

const running = new WeakMap<ClaudeFile, Running>();

/**
 * The usage of a session of which nothing was copied. A long file's sum goes on from the last one: an append costs
 * what was appended, as requests that did not change keep their object.
 */
export function ownUsage(main: ClaudeFile, agents: readonly AgentFile[], prices: PriceBook | null): Usage {
  let sum = sumOfFile(main, prices);
  for (const { request } of agentRequests(main, agents)) sum = added(sum, request, prices, 1);
  const { tokens, requests, cost, priced } = sum;
  if (requests === 0 && prices !== null) return { requests, ...tokens, cost: 0, costBasis: "estimated" };
  const basis = priced === 0 ? null : priced < requests ? "partial" : "estimated";
  return { requests, ...tokens, cost: priced === 0 ? null : cost, costBasis: basis };
}

function sumOfFile(file: ClaudeFile, prices: PriceBook | null): Sum {
  let held = running.get(file);
  if (held === undefined || held.prices !== prices || held.refs.length > file.requests.length) {
    held = { refs: [], prices, sum: { tokens: NO_TOKENS, requests: 0, cost: 0, priced: 0 } };
    running.set(file, held);
  }
  for (const [i, request] of file.requests.entries()) {
    const before = held.refs[i];
    if (before === request) continue;
    if (before !== undefined) held.sum = added(held.sum, before, prices, -1);
    held.sum = added(held.sum, request, prices, 1);
    held.refs[i] = request;
  }
  return held.sum;
}

function added(sum: Sum, request: ClaudeRequest, prices: PriceBook | null, times: 1 | -1): Sum {
  if (!request.counted) return sum;
  const one = modelRequest({ request, by: null }, false);
  const price = prices?.price(one) ?? null;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning } = one;
  const tokens = {
    input: input * times,
    output: output * times,
    cacheRead: cacheRead * times,
    cacheWrite: cacheWrite * times,
    cacheWrite1h: cacheWrite1h * times,
    reasoning: reasoning * times,
  };
  return {
    tokens: addTokens(sum.tokens, tokens),
    requests: sum.requests + times,
    cost: sum.cost + (price ?? 0) * times,
    priced: sum.priced + (price === null ? 0 : times),
  };
}
