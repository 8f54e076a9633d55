import { basename, dirname } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { SessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import type { Root } from "../source.ts";
import { type Beside, NOTHING_BESIDE } from "./beside.ts";
import { type SessionState, settled } from "./fold.ts";
import type { Instant } from "./go-time.ts";

/** How long a last line may stand unfinished before it is called torn, ms: a write may be under way. */
export const UNFINISHED_MS = 1000;

/** One session file as we know it. */
export interface Held {
  key: SessionKey;
  root: Root;
  id: string;
  path: string;
  folded: Folded<SessionState>;
  beside: Beside;
  /** Path of the plan it is linked to, where that cannot be read. */
  badPlan: string | null;
  snapshot: Snapshot | null;
  /** Until when an unfinished last line is taken for a write under way, ms since 1970; 0: not at all. */
  graceUntil: number;
  /** Time of its latest entry. */
  updated: Instant | null;
  /** Where it may be the newest. */
  places: string[];
  /** When something here may change by the clock alone, ms since 1970. */
  until: number | null;
}

export function newHeld(base: Pick<Held, "key" | "root" | "id" | "path" | "folded">): Held {
  const nothing = { beside: NOTHING_BESIDE, badPlan: null, snapshot: null };
  return { ...base, ...nothing, graceUntil: 0, updated: null, places: [], until: null };
}

/** The state to show: with the last line taken in, or left out while it is being written. */
export function stateOf(held: Held, now: number): SessionState {
  const { state } = held.folded;
  const isTorn = state.tail !== null && state.tail.record === null;
  return isTorn && now < held.graceUntil ? state : settled(state);
}

/** Is there anything unfinished in the file: a torn line, or nothing yet? */
export function isUnfinished(state: SessionState): boolean {
  return state.header === null ? state.lines === 0 : state.tail !== null && state.tail.record === null;
}

export function projectOf(held: Held): string {
  return basename(dirname(held.path));
}
