import type { Snapshot } from "./snapshot.ts";

/** How long until the session's own tool deletes it, ms; 0 when that may happen any moment, null when it is not said to. */
export function expiresIn(snapshot: Pick<Snapshot, "extra">, now: number): number | null {
  const { expiresAt } = snapshot.extra;
  const at = typeof expiresAt === "string" ? Date.parse(expiresAt) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
