import type { Entry, EntryKind } from "../../session/entry.ts";
import { layoutEntry } from "../text/entry.ts";
import type { Fold } from "../text/entry-options.ts";
import { highlight, type Line } from "../text/line.ts";

/** What the lines of an entry depend on besides the entry. */
export interface LinesOptions {
  /** Columns. */
  width: number;
  ascii: boolean;
  /** Mark what the model does not see. */
  context: boolean;
  /** ms since 1970, moved once a minute. */
  clock: number;
}

/** How much is shown by default: 0 an outline, 1 what was said, 2 everything. */
const LEVELS: readonly Fold[] = ["outline", "folded", "open"];
const LEVEL_WORDS = ["outline", "what was said", "everything"] as const;
const SAID: ReadonlySet<EntryKind> = new Set(["message", "text", "error"]);
const FOLDS: readonly Fold[] = ["folded", "open", "full"];

interface Pair {
  call: Entry | null;
  result: Entry | null;
}

/** Entries as lines: what is folded, which result belongs to which call, and every layout kept until something it shows changes. */
export class EntryLines {
  #pairs = new Map<string, Pair>();
  readonly #folds = new Map<string, Fold>();
  #level = 1;
  #search = "";
  #layouts = new WeakMap<Entry, { key: string; lines: Line[] }>();

  /** The loaded entries changed: calls and results are paired anew. Where ids repeat, the newest pair counts. */
  pair(entries: readonly Entry[]): void {
    const pairs = new Map<string, Pair>();
    for (const entry of entries) {
      if (entry.call) pairs.set(entry.call.id, { call: entry, result: null });
      else if (entry.result) {
        const pair = pairs.get(entry.result.for);
        if (pair) pair.result = entry;
        else pairs.set(entry.result.for, { call: null, result: entry });
      }
    }
    this.#pairs = pairs;
  }

  /** What is marked in the lines; empty: nothing. */
  search(text: string): void {
    this.#search = text;
    this.#layouts = new WeakMap();
  }

  /** Folded, open, whole, and folded again. Returns what it is now. */
  toggle(entry: Entry): Fold {
    const fold = this.foldOf(entry);
    // From an outline one step more would often show nothing new.
    const next = fold === "outline" ? "open" : (FOLDS[(FOLDS.indexOf(fold) + 1) % FOLDS.length] ?? "folded");
    this.#folds.set(entry.ref, next);
    return next;
  }

  /** All entries: an outline, what was said, everything. Returns what it is now, in words. */
  cycleLevel(): string {
    this.#level = (this.#level + 1) % LEVELS.length;
    this.#folds.clear();
    return LEVEL_WORDS[this.#level] ?? "";
  }

  foldOf(entry: Entry): Fold {
    const chosen = this.#folds.get(entry.ref);
    if (chosen) return chosen;
    if (this.#level === 1 && SAID.has(entry.kind) && !entry.injected) return "open";
    return LEVELS[this.#level] ?? "folded";
  }

  /** The lines of an entry; `next` is the one below it. At least one. */
  of(entry: Entry, next: Entry | undefined, options: LinesOptions): Line[] {
    const pair = this.#pairs.get(entry.call?.id ?? entry.result?.for ?? "");
    const paired =
      entry.kind === "call" ? (pair?.result ?? null) : entry.kind === "result" ? (pair?.call ?? null) : null;
    const fold = this.foldOf(entry);
    // The empty line stands behind what comes before a prompt, so that going to the prompt lands on it.
    const apart = next?.kind === "message" || next?.kind === "compaction";
    const key = `${options.width}.${fold}.${paired?.ref ?? ""}.${options.clock}.${apart}`;
    const known = this.#layouts.get(entry);
    if (known?.key === key) return known.lines;
    const { width, context, ascii, clock } = options;
    const laid = layoutEntry(entry, { width, fold, context, ascii, now: clock, paired });
    const found = this.#search === "" ? laid : laid.map((line) => highlight(line, this.#search));
    const lines = apart ? [...found, []] : found.length > 0 ? found : [[]];
    this.#layouts.set(entry, { key, lines });
    return lines;
  }
}
