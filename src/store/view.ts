import type { SessionKey } from "../session/key.ts";
import type { StatusName } from "../session/status.ts";
import type { SourceAction, ViewName } from "../sources/source.ts";

export const SORTS = ["updated", "status", "created", "title", "tokens", "cost"] as const;
export type SortBy = (typeof SORTS)[number];

export const GROUPS = ["none", "project", "agent", "status", "day", "tree"] as const;
export type GroupBy = (typeof GROUPS)[number];

/** What is on screen besides the sessions themselves. Only what several components need; scrolling stays where it happens. */
export interface ViewState {
  /** Which part the keys go to. */
  focus: "list" | "detail";
  filter: string;
  sort: SortBy;
  group: GroupBy;
  /** Sub-agents, internal and superseded sessions too. */
  all: boolean;
  /** Only sessions of this directory and below; null: everywhere. */
  scope: string | null;
  selected: SessionKey | null;
  /** The session that is open beside or instead of the list. */
  open: OpenView | null;
  overlay: Overlay | null;
  toast: Toast | null;
  /** Does the terminal have the person's eyes? True until it first says otherwise. */
  focused: boolean;
}

export interface OpenView {
  key: SessionKey;
  /** `totals`: the usage of all sessions, whatever the key. */
  view: ViewName | "branch" | "totals";
  /** Which branch, member or sub-agent. */
  of: string | null;
  /** An entry to begin with; null: the end. */
  ref: string | null;
}

/** What lies on top and owns the keyboard. */
export type Overlay =
  | { type: "help" }
  | { type: "why"; key: SessionKey }
  | { type: "problems" }
  | { type: "filter" }
  | { type: "search" }
  | { type: "palette" }
  | { type: "menu"; title: string; items: MenuItem[] }
  | Picker
  | Ask
  | { type: "confirm"; question: Question }
  | { type: "form"; action: SourceAction; target: string | null; values: Record<string, string>; field: number };

/** One line of text is asked for. */
interface Ask {
  type: "ask";
  title: string;
  /** Before what is typed. */
  label: string;
  initial: string;
  /** What Enter does, in a word. */
  verb: string;
  done(text: string): void;
}

/** A list to choose from that may be long, may still be growing, and can be narrowed by typing. */
export interface Picker {
  type: "picker";
  title: string;
  items: readonly PickerItem[];
  /** Typed letters narrow the list; else they are keys (`j`, `k`, `x`). */
  typing: boolean;
  /** More may come. */
  busy: boolean;
  /** Said when there is nothing to choose. */
  empty: string;
  /** Marked where they stand in the details: what was looked for. */
  marks?: readonly string[];
}

export interface PickerItem {
  label: string;
  /** Beside the label, dimmed. */
  note?: string;
  /** Beneath it, in full. */
  detail?: string;
  status?: StatusName;
  run(): void;
  /** What `x` does to it: snooze. */
  aside?: { title: string; run(): void };
}

export interface MenuItem {
  label: string;
  note?: string;
  run(): void;
}

/** Asked before anything changes: what exactly will happen, and what a yes does. */
export interface Question {
  title: string;
  says: string[];
  /** A second thing to know, shown as a warning. */
  warning: string | null;
  /** What the yes key does, in a word: `fork`, `revert`. */
  verb: string;
  run(): void;
}

export interface Toast {
  text: string;
  tone: "good" | "bad" | "plain";
}

export function initialView(): ViewState {
  return {
    focus: "list",
    filter: "",
    sort: "updated",
    group: "none",
    all: false,
    scope: null,
    selected: null,
    open: null,
    overlay: null,
    toast: null,
    focused: true,
  };
}
