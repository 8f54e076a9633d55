import type { PriceBook } from "../../usage/prices.ts";

/** Context windows the price table does not have (agents.md §7). */
const KNOWN: readonly [RegExp, number][] = [[/^gemini-/u, 1_048_576]];

/** Tokens a model can be given: the price table, else the few it lacks, else unknown; more than that must be allowed. */
export function contextLimit(
  prices: PriceBook | null,
  provider: string | null,
  model: string | null,
  time: string | null,
): number | null {
  if (model === null) return null;
  const listed = prices?.contextWindow(provider, model, time) ?? null;
  return listed ?? KNOWN.find(([name]) => name.test(model))?.[1] ?? null;
}
