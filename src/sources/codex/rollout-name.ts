/** `rollout-<local time>-<thread>[_<rollout>].jsonl[.zst]` (agents.md §2.1). */
const NAME =
  /^(rollout-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})-([A-Za-z0-9-]{1,80})(?:_([A-Za-z0-9-]{1,80}))?)\.jsonl(\.zst)?$/u;

export interface RolloutName {
  /** The name without its endings: a file and its compressed or archived twin share it. */
  stem: string;
  /** Local time of the machine that wrote it, sortable. */
  time: string;
  thread: string;
  /** Set when the thread was reverted: which of its files this is. */
  rollout: string | null;
  compressed: boolean;
}

export function parseRolloutName(name: string): RolloutName | null {
  const found = NAME.exec(name);
  if (found === null) return null;
  const [, stem = "", time = "", thread = "", rollout, compressed] = found;
  return { stem, time, thread, rollout: rollout ?? null, compressed: compressed !== undefined };
}

/** Thread ids are UUIDs; older ones are only required to be harmless in a path. */
export const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,79}$/u;

/** The file name codex gives a new rollout: local time with second precision. */
export function rolloutFileName(at: Date, thread: string): string {
  return `rollout-${localDay(at).join("-")}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join("-")}-${thread}.jsonl`;
}

/** Year, month and day in local time: the folders below `sessions/`. */
export function localDay(at: Date): string[] {
  return [String(at.getFullYear()).padStart(4, "0"), two(at.getMonth() + 1), two(at.getDate())];
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
