/**
 * A view of a session that is not a transcript: usage, info, tasks, plan, team, branches, events.
 * Sources return it as plain data; the screen lays it out; `show --view` prints it. No source draws.
 */
export type Block =
  | { type: "heading"; text: string }
  | { type: "text"; text: string; markdown?: boolean; tone?: Tone }
  | { type: "fields"; rows: { label: string; value: string; tone?: Tone }[] }
  | { type: "gauge"; label: string; value: number; limit: number | null; note?: string; tone?: Tone }
  | { type: "table"; columns: Column[]; rows: Row[]; empty?: string }
  | { type: "tree"; items: TreeItem[]; empty?: string };

export type Tone = "strong" | "faint" | "good" | "warn" | "bad";

export interface Column {
  title: string;
  align?: "left" | "right";
  /** Takes the room that is left, and gives it up first. */
  flexible?: boolean;
  /** Left out when the view is narrower than this many columns. */
  from?: number;
}

export interface Row {
  cells: string[];
  tone?: Tone;
  open?: Opens;
  /** What the source's own actions on a row act on (a task id, a member's name). */
  target?: string;
}

export interface TreeItem {
  depth: number;
  label: string;
  note?: string;
  tone?: Tone;
  open?: Opens;
  target?: string;
}

/** What Enter on a row opens: a transcript of this session, at an entry when `ref` is given. */
export interface Opens {
  view: string;
  /** Which branch, member or sub-agent the view is of. */
  of?: string;
  ref?: string;
}

export interface Document {
  title: string;
  blocks: Block[];
}
