import { createStore, type StoreApi } from "zustand/vanilla";
import type { Conflict } from "../session/conflicts.ts";
import type { SessionKey } from "../session/key.ts";
import type { Problem } from "../session/problem.ts";
import type { Snapshot } from "../session/snapshot.ts";
import type { WatchTrouble } from "../watch/watcher.ts";
import { initialView, type ViewState } from "./view.ts";

/** Everything the screen is made from. Sessions are replaced as wholes; one that did not change keeps its object. */
export interface ForktailState {
  sessions: ReadonlyMap<SessionKey, Snapshot>;
  /** By source. */
  problems: ReadonlyMap<string, readonly Problem[]>;
  troubles: readonly WatchTrouble[];
  /** Sessions in each other's way. */
  conflicts: readonly Conflict[];
  /** The first reading is not over yet: lists are incomplete, and say so. */
  scanning: boolean;
  /** Revision of our own memory (pins, superseded …): rows are made anew when it grows. */
  memoryRevision: number;
  /** What ages are counted from, ms since 1970. Moves once a minute, so that a quiet screen is not redrawn. */
  clock: number;
  view: ViewState;
}

export type Store = StoreApi<ForktailState>;

export function newStore(clock: number): Store {
  return createStore<ForktailState>(() => ({
    sessions: new Map(),
    problems: new Map(),
    troubles: [],
    conflicts: [],
    scanning: true,
    memoryRevision: 0,
    clock,
    view: initialView(),
  }));
}
