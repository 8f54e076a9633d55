import type { PriceBook } from "./prices.ts";
import { type ModelRequest, promptTokens } from "./request.ts";

export interface MissedCache {
  requests: number;
  /** Tokens that had been in the cache before and were sent again. */
  tokens: number;
  /** What that cost more than reading them from the cache, US dollars; null when a price is unknown. */
  cost: number | null;
}

/** Caches live five minutes at least: a request that comes later than this may find none. */
const IDLE_MS = 5 * 60 * 1000;

/**
 * What idle time cost: requests after a pause whose prompt was as long as before, but came less from the cache than the
 * prompt before had put there. Each agent of a session has its own cache.
 */
export function missedCache(requests: readonly ModelRequest[], prices: PriceBook | null): MissedCache {
  const last = new Map<string, { at: number; prompt: number; model: string | null }>();
  const found: MissedCache = { requests: 0, tokens: 0, cost: 0 };
  for (const request of requests) {
    const at = request.time === null ? Number.NaN : Date.parse(request.time);
    if (Number.isNaN(at)) continue;
    const who = request.by ?? "";
    const before = last.get(who);
    const prompt = promptTokens(request);
    last.set(who, { at, prompt, model: request.model });
    if (before === undefined || before.model !== request.model || at - before.at < IDLE_MS) continue;
    const missed = Math.min(before.prompt, prompt) - request.cacheRead;
    // A shorter prompt was compacted or cleared: nothing of it was in the cache.
    if (prompt < before.prompt || missed <= before.prompt / 2) continue;
    found.requests += 1;
    found.tokens += missed;
    found.cost = addCost(found.cost, request, missed, prices);
  }
  return found;
}

function addCost(sum: number | null, request: ModelRequest, missed: number, prices: PriceBook | null): number | null {
  const paid = prices?.price(request) ?? null;
  const fromWrites = Math.min(request.cacheWrite, missed);
  const cached: ModelRequest = {
    ...request,
    cost: null,
    cacheRead: request.cacheRead + missed,
    cacheWrite: request.cacheWrite - fromWrites,
    cacheWrite1h: Math.min(request.cacheWrite1h, request.cacheWrite - fromWrites),
    input: Math.max(0, request.input - (missed - fromWrites)),
  };
  const could = prices?.price(cached) ?? null;
  return sum === null || paid === null || could === null ? null : sum + Math.max(0, paid - could);
}
