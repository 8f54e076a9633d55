import type { Usage } from "../../src/session/snapshot.ts";
import { type PriceBook, sumPriced } from "../../src/usage/prices.ts";
import type { ModelRequest } from "../../src/usage/request.ts";

/** Buckets as the agents' EXPECTED.json has them. */
export interface ExpectedTokens {
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  reasoning: number;
}

export function tokensOf(usage: Usage | null): ExpectedTokens | null {
  if (usage === null) return null;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = usage;
  return { input, cacheRead, cacheWrite5m: cacheWrite - cacheWrite1h, cacheWrite1h, output, reasoning };
}

export function addExpected(all: readonly (ExpectedTokens | null)[]): ExpectedTokens {
  const sum = (of: (tokens: ExpectedTokens) => number): number =>
    all.reduce((total, one) => total + (one === null ? 0 : of(one)), 0);
  return {
    input: sum((one) => one.input),
    cacheRead: sum((one) => one.cacheRead),
    cacheWrite5m: sum((one) => one.cacheWrite5m),
    cacheWrite1h: sum((one) => one.cacheWrite1h),
    output: sum((one) => one.output),
    reasoning: sum((one) => one.reasoning),
  };
}

/** What the requests cost by the price table, whatever the agent recorded, and how many have no price. */
export function pricedByTable(
  requests: readonly ModelRequest[],
  prices: PriceBook,
): { cost: number; unpriced: number } {
  const bare = requests.map((one) => ({ ...one, cost: null }));
  return { cost: sumPriced(bare, prices).cost ?? 0, unpriced: bare.filter((one) => prices.price(one) === null).length };
}
