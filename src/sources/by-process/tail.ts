/** A tool call whose result is not there yet. */
export interface OpenCall {
  id: string;
  name: string;
  /** One cleaned line. */
  summary: string;
  /** What it asks the person, null when it asks nothing. */
  question: string | null;
}

/**
 * How a conversation ends, by its last entry on the active branch. `open`: the agent has something to do;
 * `over`: the turn is finished. The end alone never tells working from died in the middle (agents.md §0).
 */
export interface Tail {
  state: "new" | "open" | "over" | "error" | "interrupted";
  /** What the evidence is, in words. */
  evidence: string;
  /** Text of the error. */
  text: string | null;
  /** ms since 1970. */
  time: number | null;
  calls: OpenCall[];
  /** The tool wrote this state itself (OpenCode 2: `idle_outcome`): no conclusion of ours. */
  recorded?: boolean;
}

export const NEW_TAIL: Tail = { state: "new", evidence: "nothing was said yet", text: null, time: null, calls: [] };
