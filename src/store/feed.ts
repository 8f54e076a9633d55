import type { Sink } from "../live/live.ts";
import type { SessionKey } from "../session/key.ts";
import type { Problem } from "../session/problem.ts";
import type { Snapshot } from "../session/snapshot.ts";
import type { Store } from "./store.ts";

/** At most this often does a change reach the screen, ms: the first at once, the rest gathered. */
const GATHER_MS = 100;
/** And while everything is read for the first time: each commit copies all that is known, and draws. */
const SCAN_GATHER_MS = 500;

export interface Feed extends Sink {
  /** Puts what is gathered into the store now. */
  flush(): void;
  /** Shows sessions as an earlier start left them, until they are read. */
  remember(snapshots: readonly Snapshot[]): void;
}

/** A sink that fills the store: a burst of changes becomes one commit, and an unchanged session keeps its object. */
export function feed(store: Store): Feed {
  const changed = new Map<SessionKey, Snapshot | null>();
  const problems = new Map<string, readonly Problem[]>();
  /** Shown from an earlier start, and not read again yet. */
  const remembered = new Set<SessionKey>();
  let timer: NodeJS.Timeout | null = null;
  let last = Number.NEGATIVE_INFINITY;

  const flush = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    // Problems alone keep no session waiting: the first ones are shown at once.
    if (changed.size > 0) last = performance.now();
    if (changed.size === 0 && problems.size === 0) return;
    store.setState((state) => {
      const sessions = changed.size > 0 ? new Map(state.sessions) : state.sessions;
      if (sessions instanceof Map) {
        for (const [key, snapshot] of changed) {
          if (snapshot === null) sessions.delete(key);
          else sessions.set(key, snapshot);
        }
      }
      const all = problems.size > 0 ? new Map([...state.problems, ...problems]) : state.problems;
      changed.clear();
      problems.clear();
      return { sessions, problems: all };
    });
  };

  const soon = (): void => {
    const gather = store.getState().scanning ? SCAN_GATHER_MS : GATHER_MS;
    const wait = gather - (performance.now() - last);
    if (wait <= 0) flush();
    else timer ??= setTimeout(flush, wait);
  };

  return {
    flush,
    remember(snapshots) {
      for (const { key } of snapshots) remembered.add(key);
      store.setState({ sessions: new Map(snapshots.map((snapshot) => [snapshot.key, snapshot])) });
    },
    commit(source, delta) {
      for (const snapshot of delta.changed) {
        changed.set(snapshot.key, snapshot);
        remembered.delete(snapshot.key);
      }
      for (const key of delta.removed) changed.set(key, null);
      if (delta.problems !== null) problems.set(source, delta.problems);
      if (delta.changed.length > 0 || delta.removed.length > 0 || delta.problems !== null) soon();
    },
    trouble(trouble) {
      store.setState((state) => ({ troubles: [...state.troubles, trouble] }));
    },
    scanned() {
      // What was remembered and not found again is gone.
      for (const key of remembered) changed.set(key, null);
      remembered.clear();
      flush();
      store.setState({ scanning: false });
    },
  };
}
