import type { FellAway, NameFiles } from "./row.ts";

/** What a rewrite took away, added to what earlier ones took. A file that only grew has lost nothing. */
export function fallen(before: NameFiles | null, now: NameFiles["transcript"]): FellAway | null {
  const earlier = before?.fellAway ?? null;
  const old = before?.transcript ?? null;
  if (old === null || now === null || (now.ino === old.ino && now.sums.entries >= old.sums.entries)) return earlier;
  const entries = Math.max(0, old.sums.entries - now.sums.entries);
  if (entries === 0) return earlier;
  const tokens = old.sums.tokensIn + old.sums.tokensOut - now.sums.tokensIn - now.sums.tokensOut;
  return {
    entries: entries + (earlier?.entries ?? 0),
    cost: Math.max(0, old.sums.cost - now.sums.cost) + (earlier?.cost ?? 0),
    tokens: Math.max(0, tokens) + (earlier?.tokens ?? 0),
  };
}
