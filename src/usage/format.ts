import type { CostBasis } from "../session/snapshot.ts";

const grouped = new Intl.NumberFormat("en-US");

export function formatTokens(count: number): string {
  return grouped.format(count);
}

/** `–` unknown, `$1.23` recorded, `~$1.23` estimated, `≥$1.23` when some requests have no price: never 0 for unknown. */
export function formatCost(cost: number | null, basis: CostBasis | null): string {
  if (cost === null || basis === null) return "–";
  const mark = basis === "partial" ? "≥" : basis === "estimated" ? "~" : "";
  return `${mark}$${cost.toFixed(cost !== 0 && Math.abs(cost) < 0.1 ? 4 : 2)}`;
}
