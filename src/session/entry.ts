import type { Tokens } from "./snapshot.ts";

/** What a line of a transcript is. A `marker` is a state change worth a line: model switched, plan mode, goal, rename. */
export type EntryKind =
  | "start"
  | "config"
  | "system"
  | "message"
  | "text"
  | "thinking"
  | "call"
  | "result"
  | "step"
  | "error"
  | "compaction"
  | "marker";

export interface EntryUsage extends Tokens {
  /** US dollars as recorded for this request, null when the tool records none. */
  cost: number | null;
}

/** One line of a transcript: `show KEY --json` (design §5). */
export interface Entry {
  /** The source's own stable name of the entry. Fork points are refs. */
  ref: string;
  /** 1-based ordinal in the file. */
  n: number;
  kind: EntryKind;
  role: string | null;
  /** ISO 8601, UTC, milliseconds. */
  time: string | null;
  /** Untrusted. null where the entry carries no text (see `media`). */
  text: string | null;
  /** Bytes of text left out because the reader asked for a limit; 0 when `text` is whole. */
  clipped: number;
  /** A body that is not text: media type and size, never the bytes. */
  media: { type: string; bytes: number } | null;
  call: { id: string; name: string; args: unknown } | null;
  result: { for: string; exit: number | null; isError: boolean; truncated: boolean; fullOutput: string | null } | null;
  usage: EntryUsage | null;
  model: string | null;
  via: string | null;
  /** Does the model see it now? */
  inContext: boolean;
  /** May a fork end just before it? */
  forkable: boolean;
  /** Is it on the current branch? */
  branch: boolean;
  /** Written by the tool, not the person. */
  injected: boolean;
  /** Wall clock of the turn, ms, where the tool records it. */
  durationMs?: number;
}

export function blankEntry(base: Pick<Entry, "ref" | "n" | "kind">): Entry {
  return {
    ...base,
    role: null,
    time: null,
    text: null,
    clipped: 0,
    media: null,
    call: null,
    result: null,
    usage: null,
    model: null,
    via: null,
    inContext: false,
    forkable: false,
    branch: true,
    injected: false,
  };
}

/** The public shape of design §5: `clipped` is only for screens, which read with a limit. */
export function publicEntry(entry: Entry): Omit<Entry, "clipped"> {
  const { clipped: _clipped, ...shown } = entry;
  return shown;
}
