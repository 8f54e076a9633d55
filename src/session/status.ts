/**
 * The one table of session statuses: word, glyph, colour, order and meaning.
 * Lists, the command line, notices and themes all read it (design §3).
 */
export const STATUSES = {
  "needs-input": {
    glyph: "▲",
    ascii: "!",
    tone: "alert",
    rank: 0,
    meaning: "waiting for you: question, permission, cap reached",
  },
  failed: { glyph: "✗", ascii: "x", tone: "error", rank: 1, meaning: "the last thing was an error" },
  working: { glyph: "●", ascii: "*", tone: "active", rank: 2, meaning: "an agent is running now" },
  done: { glyph: "✓", ascii: "+", tone: "good", rank: 3, meaning: "finished, result not looked at yet" },
  open: {
    glyph: "◆",
    ascii: "o",
    tone: "pending",
    rank: 4,
    meaning: "something is unaddressed and nobody is known to be on it",
  },
  interrupted: { glyph: "◌", ascii: "~", tone: "broken", rank: 5, meaning: "calls without results, nobody on it" },
  paused: { glyph: "‖", ascii: "=", tone: "held", rank: 6, meaning: "stopped by a budget or by the person" },
  idle: { glyph: "○", ascii: "-", tone: "plain", rank: 7, meaning: "finished and seen, or nothing to do" },
  unknown: { glyph: "?", ascii: "?", tone: "faint", rank: 8, meaning: "the evidence does not say" },
  stopped: { glyph: "■", ascii: "#", tone: "faint", rank: 9, meaning: "its process is gone; can be resumed" },
  archived: { glyph: "▫", ascii: ".", tone: "faint", rank: 10, meaning: "put away" },
} as const satisfies Record<string, StatusRow>;

/** What a theme has to give a colour to; the table says which statuses use it. */
export type StatusTone = "alert" | "error" | "active" | "good" | "pending" | "broken" | "held" | "plain" | "faint";

interface StatusRow {
  glyph: string;
  ascii: string;
  tone: StatusTone;
  /** Position when sorting by status: smaller wants the person sooner. */
  rank: number;
  meaning: string;
}

export type StatusName = keyof typeof STATUSES;

export const STATUS_NAMES = Object.keys(STATUSES) as StatusName[];

/** `recorded`: the tool wrote it. `guess`: we concluded it, and screens show a dim `?`. */
export type Certainty = "recorded" | "guess";

/** A status with its evidence. `why` is in words, strongest evidence first. */
export interface Status {
  status: StatusName;
  /** The tool's own word, null when it has none. */
  native: string | null;
  certainty: Certainty;
  why: string[];
  /** One line on what the session is doing or asking, null when nothing is known. */
  activity: string | null;
}

export function isStatusName(word: string): word is StatusName {
  return Object.hasOwn(STATUSES, word);
}
