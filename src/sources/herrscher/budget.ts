/** Usage as budgets see it: US dollars, and tokens in + out; cache tokens never count (herrscher.md §7). */
export interface Spent {
  cost: number;
  tokens: number;
}

export interface Caps {
  costCap: number;
  tokenCap: bigint;
  cohortCostCap: number;
  cohortTokenCap: bigint;
}

export type PausedReason = "cost" | "tokens" | "cohort_cost" | "cohort_tokens";

/** Which cap is reached, in the program's order, null when none is. A cap of 0 or below never trips. */
export function trippedCap(caps: Caps, own: Spent, cohort: Spent): PausedReason | null {
  if (caps.costCap > 0 && own.cost >= caps.costCap) return "cost";
  if (caps.tokenCap > 0n && own.tokens >= caps.tokenCap) return "tokens";
  if (caps.cohortCostCap > 0 && cohort.cost >= caps.cohortCostCap) return "cohort_cost";
  if (caps.cohortTokenCap > 0n && cohort.tokens >= caps.cohortTokenCap) return "cohort_tokens";
  return null;
}

/** Does the reason a row is paused for still hold? After a compaction it may not. null for a reason nobody knows. */
export function stillReached(reason: string, caps: Caps, own: Spent, cohort: Spent): boolean | null {
  switch (reason) {
    case "cost":
      return caps.costCap > 0 && own.cost >= caps.costCap;
    case "tokens":
      return caps.tokenCap > 0n && own.tokens >= caps.tokenCap;
    case "cohort_cost":
      return caps.cohortCostCap > 0 && cohort.cost >= caps.cohortCostCap;
    case "cohort_tokens":
      return caps.cohortTokenCap > 0n && cohort.tokens >= caps.cohortTokenCap;
    default:
      return null;
  }
}

/** Is the cap that a reason names set at all? */
export function isCapped(reason: string, caps: Caps): boolean {
  const capOf: Record<PausedReason, number | bigint> = {
    cost: caps.costCap,
    tokens: caps.tokenCap,
    cohort_cost: caps.cohortCostCap,
    cohort_tokens: caps.cohortTokenCap,
  };
  return Object.entries(capOf).some(([name, cap]) => name === reason && cap > 0);
}

/**
 * What is wrong with a cost cap as typed, null when nothing. The daemon takes NaN and Inf, and then fails at every
 * save until somebody mends it (herrscher.md §9): such a value is never sent.
 */
export function costCapProblem(text: string): string | null {
  if (!/^[0-9]+(?:\.[0-9]+)?$/u.test(text)) return "US dollars as a plain number, 0 to lift the cap: 2.50";
  return Number.isFinite(Number(text)) ? null : "too large to be a number of dollars";
}

/** What is wrong with a token cap as typed, null when nothing. */
export function tokenCapProblem(text: string): string | null {
  if (!/^[0-9]+$/u.test(text)) return "a whole number of tokens, 0 to lift the cap";
  return text.length <= 20 && BigInt(text) < 2n ** 64n ? null : "too large: at most 18446744073709551615";
}
