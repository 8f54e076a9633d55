import type { SessionKey } from "../../session/key.ts";
import type { ForkAbility, Forked, ForkPlan } from "../source.ts";

export interface CopySteps<P> {
  /** Looks at the session as it is now; writes nothing. */
  prepare(key: SessionKey, before: string | null): Promise<{ ok: true; copy: P } | { ok: false; reason: string }>;
  /** What is copied and where to, line by line. */
  says(copy: P): string[];
  /** The title of the original. */
  titleOf(copy: P): string;
  /** Is the copy's last turn over? */
  isOver(copy: P): boolean;
  /** What has to be agreed to first. */
  ask?(copy: P): string | null;
  write(copy: P): Promise<Forked>;
}

/** A fork that is a cut copy of the session's own records, made by us. */
export function forksByCopy<P>(steps: CopySteps<P>): ForkAbility {
  return {
    async plan(key, before): Promise<ForkPlan> {
      const prepared = await steps.prepare(key, before);
      if (!prepared.ok) return { allowed: false, reason: prepared.reason };
      const { copy } = prepared;
      return {
        allowed: true,
        says: [...steps.says(copy), `"${steps.titleOf(copy)}" itself is not touched`],
        ask: steps.ask?.(copy) ?? null,
        status: steps.isOver(copy) ? "idle" : "interrupted",
      };
    },
    async make(key, before): Promise<Forked> {
      const prepared = await steps.prepare(key, before);
      if (!prepared.ok) throw new Error(`cannot fork: ${prepared.reason}`);
      return await steps.write(prepared.copy);
    },
  };
}

/** What is said of every fork once it is made. */
export function forkedFrom(original: string): string[] {
  return [`forked from ${original}; files that the agent changed stay as they are now`];
}
