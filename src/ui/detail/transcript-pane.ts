import type { Entry } from "../../session/entry.ts";
import type { Page, PageRequest } from "../../sources/source.ts";
import { Changes, type Pane } from "../pane.ts";
import { cutLine, type Line, span } from "../text/line.ts";
import { EntryLines } from "./entry-lines.ts";
import { PAGE, PageReader, type PageReaderOptions } from "./page-reader.ts";
import { type Place, type Scrolled, settle, walk } from "./scroll.ts";

export interface TranscriptPaneOptions extends PageReaderOptions {
  /** Entry to begin with; null: the end. */
  ref: string | null;
  ascii: boolean;
  /** ms since 1970, moved once a minute. */
  clock(): number;
  /** The entry under the cursor or the like changed; the footer may want to know. */
  failed(message: string): void;
}

const MOST_LOADED = 3000;

/**
 * A transcript that scrolls by anchor: only entries near the viewport are loaded, only visible ones are laid out, and each
 * is laid out once per width and fold. Follows the end until one scrolls up.
 */
export class TranscriptPane implements Pane {
  readonly #options: TranscriptPaneOptions;
  readonly #changes = new Changes();
  readonly subscribe = this.#changes.subscribe;
  readonly version = this.#changes.version;
  readonly #pages: PageReader;
  #entries: Entry[] = [];
  #edges: Pick<Page, "before" | "after" | "atStart" | "atEnd" | "total"> | null = null;
  #top: Place = { at: 0, line: 0 };
  #cursor: Place = { at: 0, line: 0 };
  #follow: boolean;
  /** Entries that arrived while one read further up. */
  #fresh = 0;
  #width = 0;
  #height = 0;
  readonly #lines = new EntryLines();
  #search = "";
  /** Lines to go beyond what is loaded, once more is. */
  readonly #beyond = { before: 0, after: 0 };
  #busy = false;
  #again = false;

  constructor(options: TranscriptPaneOptions) {
    this.#options = options;
    this.#pages = new PageReader(options);
    this.#follow = options.ref === null && options.view !== "context";
    void this.#first();
  }

  // --- what is under the cursor -------------------------------------------------------------------------------------

  /** The entry the cursor is on, null while nothing is loaded. */
  selected(): Entry | null {
    return this.#entries[this.#cursor.at] ?? null;
  }

  get following(): boolean {
    return this.#follow;
  }

  toggleFollow(): void {
    this.#follow = !this.#follow;
    if (this.#follow) this.edge("end");
    else this.#changes.changed();
  }

  /** The selected entry folded, open, whole, and folded again. */
  toggleFold(): void {
    const entry = this.selected();
    if (!entry) return;
    const next = this.#lines.toggle(entry);
    this.#cursor.line = 0;
    if (next === "full" && entry.clipped > 0) void this.#readWhole(entry);
    this.#show();
  }

  /** All entries: an outline, what was said, everything. Returns what it is now, in words. */
  cycleLevel(): string {
    const level = this.#lines.cycleLevel();
    this.#cursor.line = 0;
    this.#show();
    return level;
  }

  /** To the next entry that `wanted` picks, loading what is needed. */
  async seek(direction: 1 | -1, wanted: (entry: Entry) => boolean): Promise<boolean> {
    let at = this.#cursor.at + direction;
    let last = this.selected();
    for (let guard = 0; guard < 10_000; guard += 1) {
      const entry = this.#entries[at];
      if (entry === undefined) {
        const added = direction === 1 ? await this.#loadAfter() : await this.#loadBefore();
        if (this.#pages.closed || added === 0) return false;
        // Others may have loaded too.
        at = this.#entries.findIndex(({ ref }) => ref === last?.ref) + direction;
        continue;
      }
      last = entry;
      if (wanted(entry)) {
        this.#follow = false;
        this.#cursor = { at, line: 0 };
        this.#top = walk(this.#scrolled(), this.#cursor, -Math.floor(this.#height / 4)).place;
        this.#show();
        return true;
      }
      at += direction;
    }
    return false;
  }

  // --- Pane ---------------------------------------------------------------------------------------------------------

  lay(width: number, height: number): Line[] {
    if (width !== this.#width) {
      this.#width = width;
      this.#cursor.line = 0;
    }
    this.#height = height;
    if (this.#pages.error !== null) return [cutLine([span(this.#pages.error, "bad")], width)];
    if (this.#edges === null) return [[span("reading …", "faint")]];
    if (this.#entries.length === 0) return [[span("Nothing here yet.", "faint")]];
    const view = settle(this.#scrolled(), { top: this.#top, cursor: this.#cursor }, height, this.#follow);
    this.#top = view.top;
    this.#cursor = view.cursor;
    const rows: Line[] = [];
    let { at, line } = this.#top;
    while (rows.length < height && at < this.#entries.length) {
      const lines = this.#linesAt(at);
      const marked = at === this.#cursor.at;
      for (; line < lines.length && rows.length < height; line += 1) {
        const here = marked && line === this.#cursor.line;
        rows.push([gutter(marked, here, this.#options.ascii), ...(lines[line] ?? [])]);
      }
      line = 0;
      at += 1;
    }
    return rows;
  }

  position(): string {
    if (this.#edges === null) return "";
    if (this.#follow) return "following";
    const fresh = this.#fresh > 0 ? `${this.#fresh} new below · ` : "";
    const entry = this.selected();
    const total = this.#edges.total;
    if (!entry) return fresh;
    return total === null || total === 0 ? `${fresh}${entry.n}` : `${fresh}${entry.n}/${total}`;
  }

  move(lines: number): void {
    if (this.#entries.length === 0) return;
    const { place, left } = walk(this.#scrolled(), this.#cursor, lines);
    this.#cursor = place;
    if (lines < 0) this.#follow = false;
    this.#show();
    if (left > 0) void this.#moveBeyond(lines < 0 ? "before" : "after", left);
  }

  /** Goes on where loading ends. Keys that come while a page is loaded are added up: it is loaded once. */
  async #moveBeyond(side: "before" | "after", lines: number): Promise<void> {
    const isUnderWay = this.#beyond[side] > 0;
    this.#beyond[side] += lines;
    if (isUnderWay) return;
    const added = await (side === "before" ? this.#loadBefore() : this.#loadAfter());
    const left = this.#beyond[side];
    this.#beyond[side] = 0;
    if (added > 0) this.move(side === "before" ? -left : left);
    else if (side === "after") this.#reachedEnd();
  }

  page(parts: number): void {
    const lines = Math.trunc(parts * this.#height) || Math.sign(parts);
    this.#top = walk(this.#scrolled(), this.#top, lines).place;
    this.move(lines);
  }

  edge(which: "start" | "end"): void {
    if (which === "end") {
      this.#follow = this.#options.view !== "context";
      this.#fresh = 0;
    } else this.#follow = false;
    void this.#load({ edge: which }, which);
  }

  match(direction: 1 | -1): void {
    const text = this.#search.toLowerCase();
    if (text === "") return;
    void this.seek(direction, (entry) => entryText(entry).includes(text)).then((found) => {
      if (!found) this.#options.failed(`no ${direction === 1 ? "later" : "earlier"} match of ${this.#search}`);
    });
  }

  search(text: string): void {
    this.#search = text;
    this.#lines.search(text);
    if (text === "") this.#changes.changed();
    else this.match(1);
  }

  refresh(): void {
    void this.#reload();
  }

  close(): void {
    this.#pages.close();
  }

  // --- loading ------------------------------------------------------------------------------------------------------

  async #first(): Promise<void> {
    const { ref, view } = this.#options;
    if (ref === null)
      await this.#load({ edge: view === "context" ? "start" : "end" }, view === "context" ? "start" : "end");
    else await this.#load({ ref }, "start");
  }

  async #page(at: PageRequest["at"], limit?: number): Promise<Page | null> {
    const page = await this.#pages.page(at, limit);
    if (page === null) this.#show();
    return page;
  }

  #load(at: PageRequest["at"], cursor: "start" | "end"): Promise<void> {
    return this.#pages.alone(() => this.#loadNow(at, cursor));
  }

  #loadBefore(): Promise<number> {
    return this.#pages.alone(() => this.#loadBeforeNow());
  }

  #loadAfter(): Promise<number> {
    return this.#pages.alone(() => this.#loadAfterNow());
  }

  async #loadNow(at: PageRequest["at"], cursor: "start" | "end"): Promise<void> {
    const page = await this.#page(at);
    if (page === null) return;
    this.#take(page.entries, page);
    const last = Math.max(0, this.#entries.length - 1);
    this.#cursor = cursor === "start" ? { at: 0, line: 0 } : { at: last, line: Number.MAX_SAFE_INTEGER };
    this.#top = { ...this.#cursor };
    this.#show();
  }

  async #loadBeforeNow(): Promise<number> {
    if (this.#edges === null || this.#edges.atStart) return 0;
    const page = await this.#page({ before: this.#edges.before });
    if (page === null || page.entries.length === 0 || this.#edges === null) return 0;
    const added = page.entries.length;
    const edges = { ...this.#edges, before: page.before, atStart: page.atStart, total: page.total };
    this.#take([...page.entries, ...this.#entries], edges);
    this.#cursor.at += added;
    this.#top.at += added;
    this.#show();
    return added;
  }

  async #loadAfterNow(): Promise<number> {
    if (this.#edges === null) return 0;
    const page = await this.#page({ after: this.#edges.after });
    if (page === null || this.#edges === null) return 0;
    const edges = { ...this.#edges, after: page.after, atEnd: page.atEnd, total: page.total };
    this.#take([...this.#entries, ...page.entries], edges);
    this.#show();
    return page.entries.length;
  }

  /** After a change of the session: what is loaded is read again (unchanged entries keep their objects), and what is new. */
  async #reload(): Promise<void> {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    try {
      do {
        this.#again = false;
        await this.#pages.alone(() => this.#reloadNow());
      } while (this.#again && !this.#pages.closed);
    } finally {
      this.#busy = false;
    }
  }

  async #reloadNow(): Promise<void> {
    const first = this.#entries[0];
    const kept = this.selected()?.ref;
    const topRef = this.#entries[this.#top.at]?.ref;
    const atEnd = this.#edges?.atEnd ?? true;
    const before = this.#entries.length;
    const limit = atEnd ? before + PAGE : Math.max(PAGE, before);
    const page = await this.#page(first && before < MOST_LOADED ? { ref: first.ref } : { edge: "end" }, limit);
    if (page === null) return;
    if (first && page.entries[0]?.ref !== first.ref && before < MOST_LOADED) {
      // The place is gone (the file was replaced or cut): show its end.
      await this.#loadNow({ edge: "end" }, "end");
      return;
    }
    if (sameEntries(page.entries, this.#entries) && this.#edges?.total === page.total) {
      this.#edges = page;
      return;
    }
    const grown = Math.max(0, (page.total ?? 0) - (this.#edges?.total ?? 0));
    this.#take(page.entries, page);
    const place = (ref: string | undefined): number =>
      Math.max(
        0,
        this.#entries.findIndex((entry) => entry.ref === ref),
      );
    this.#top.at = place(topRef);
    this.#cursor.at = place(kept);
    if (this.#follow) this.#reachedEnd();
    else {
      this.#fresh += grown;
      this.#show();
    }
  }

  async #readWhole(entry: Entry): Promise<void> {
    try {
      const whole = await this.#pages.whole(entry);
      const at = this.#entries.indexOf(entry);
      if (at < 0 || whole?.ref !== entry.ref) return;
      this.#entries = this.#entries.with(at, whole);
      this.#show();
    } catch (error) {
      if (this.#pages.closed) return;
      this.#options.failed(`the whole text cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #take(entries: Entry[], edges: Pick<Page, "before" | "after" | "atStart" | "atEnd" | "total">): void {
    this.#entries = entries;
    this.#edges = edges;
    this.#lines.pair(entries);
  }

  #reachedEnd(): void {
    this.#fresh = 0;
    if (this.#options.view !== "context") this.#follow = true;
    this.#cursor = { at: Math.max(0, this.#entries.length - 1), line: Number.MAX_SAFE_INTEGER };
    this.#show();
  }

  // --- places and lines ---------------------------------------------------------------------------------------------

  #show(): void {
    if (!this.#pages.closed) this.#changes.changed();
  }

  #scrolled(): Scrolled {
    return { entries: this.#entries.length, linesOf: (at) => this.#linesAt(at).length };
  }

  #linesAt(at: number): Line[] {
    const entry = this.#entries[at];
    if (!entry) return [[]];
    return this.#lines.of(entry, this.#entries[at + 1], {
      width: Math.max(1, this.#width - 1),
      context: this.#options.view !== "context",
      ascii: this.#options.ascii,
      clock: this.#options.clock(),
    });
  }
}

function gutter(marked: boolean, here: boolean, ascii: boolean): Line[number] {
  if (here) return span(ascii ? ">" : "❯", "accent");
  return span(marked ? (ascii ? "|" : "▎") : " ", marked ? "accent" : "text");
}

function sameEntries(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, at) => entry === b[at]);
}

/** What a search looks through, lower case. */
function entryText(entry: Entry): string {
  const call = entry.call ? `${entry.call.name} ${JSON.stringify(entry.call.args) ?? ""}` : "";
  return `${entry.text ?? ""} ${call}`.toLowerCase();
}
