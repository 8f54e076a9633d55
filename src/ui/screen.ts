import type { ActionContext } from "../actions/fork.ts";
import { usageSessions } from "../live/usage-sessions.ts";
import type { Config } from "../memory/config.ts";
import { now } from "../probe/clock.ts";
import { type Attention, attention } from "../session/attention.ts";
import type { Document, Opens } from "../session/document.ts";
import type { Entry } from "../session/entry.ts";
import { joinedKeys, joinSessions } from "../session/join.ts";
import type { SessionKey } from "../session/key.ts";
import type { ResumeCommand, Snapshot } from "../session/snapshot.ts";
import { cleanText } from "../session/untrusted.ts";
import type { ViewName } from "../sources/source.ts";
import { type ListRows, rowsSelector } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import type { OpenView, Overlay, Question, Toast, ViewState } from "../store/view.ts";
import { loadPrices } from "../usage/prices.ts";
import { totalsDocument } from "../usage/totals-document.ts";
import { Absence } from "./absence.ts";
import { DocumentPane } from "./detail/document-pane.ts";
import { TranscriptPane } from "./detail/transcript-pane.ts";
import type { Pane } from "./pane.ts";

/** What the screen can ask of the terminal it runs in. */
export interface Terminal {
  /** Gives the terminal to a child and takes it back, redrawn. */
  lend(work: () => Promise<void>): Promise<void>;
  /** Runs a program in the lent terminal; resolves with its exit code. */
  run(command: ResumeCommand): Promise<number>;
  /** Leaves the screen. */
  quit(): void;
  /** Stops the whole process group, as Ctrl-Z does. */
  stop(): void;
  output: NodeJS.WriteStream;
}

/** Where keys go. */
export type PlaceName = "list" | "transcript" | "document";

/** From here on list and transcript stand side by side (design §8). */
export const SIDE_BY_SIDE_FROM = 100;
const PREVIEW_WAIT_MS = 60;
const TOAST_MS = 6000;

/**
 * What the keys do: changes the view, or calls an action. Reads the state as it is when it is called, never one captured at
 * a drawing, because a burst of keys arrives at once.
 */
export class Screen {
  readonly store: Store;
  readonly context: ActionContext;
  readonly config: Config;
  readonly ascii: boolean;
  readonly terminal: Terminal;
  readonly #rows: (state: ReturnType<Store["getState"]>) => ListRows;
  /** The list as last drawn: how many sessions are in sight, and what a click hits. */
  list: { width: number; inSight: number; keyAt(row: number): SessionKey | null } = {
    width: 0,
    inSight: 0,
    keyAt: () => null,
  };
  readonly absence = new Absence();
  #pane: { pane: Pane; open: OpenView; snapshot: Snapshot | null } | null = null;
  #paneListeners = new Set<() => void>();
  #attention: {
    sessions: ReadonlyMap<SessionKey, Snapshot>;
    revision: number;
    clock: number;
    found: Attention;
  } | null = null;
  /** Where the person was before the totals. */
  #beforeTotals: Pick<ViewState, "focus" | "open"> | null = null;
  #columns = 80;
  /** Has the person moved the selection yet? */
  #chose = false;
  #preview: NodeJS.Timeout | null = null;
  #toast: NodeJS.Timeout | null = null;

  constructor(store: Store, context: ActionContext, config: Config, terminal: Terminal, ascii: boolean) {
    this.store = store;
    this.context = context;
    this.config = config;
    this.terminal = terminal;
    this.ascii = ascii;
    this.#rows = rowsSelector(context.memory);
    store.subscribe((state, before) => {
      if (state.sessions !== before.sessions) this.#sessionsChanged();
      if (state.view.open !== before.view.open) this.#openChanged();
    });
    // Some may have been read already.
    if (store.getState().sessions.size > 0) this.#sessionsChanged();
  }

  // --- reading the state --------------------------------------------------------------------------------------------

  rows(): ListRows {
    return this.#rows(this.store.getState());
  }

  get view(): ViewState {
    return this.store.getState().view;
  }

  place(): PlaceName {
    if (this.view.focus === "list") return "list";
    return this.#pane?.pane instanceof DocumentPane ? "document" : "transcript";
  }

  /** The session the keys are about: the open one when it has the keys, else the selected one. */
  session(): Snapshot | null {
    const { focus, open, selected } = this.view;
    const key = focus === "detail" && open ? open.key : selected;
    return key === null ? null : this.snapshot(key);
  }

  /** A session as its row shows it: with the evidence of the trackers that point at it. */
  snapshot(key: SessionKey): Snapshot | null {
    return joinSessions(this.store.getState().sessions).sessions.get(key) ?? null;
  }

  /** Who wants the person, among the sessions that the list may show. Made anew only when something it depends on changed. */
  attention(): Attention {
    const { sessions, memoryRevision, clock } = this.store.getState();
    const last = this.#attention;
    if (last && last.sessions === sessions && last.revision === memoryRevision && last.clock === clock)
      return last.found;
    const { memory, env } = this.context;
    const folded = (key: SessionKey): boolean =>
      memory.get("superseded", key) !== null ||
      memory.get("withdrawn", key) !== null ||
      memory.get("hidden", key) !== null;
    const shown = [...joinSessions(sessions).sessions.values()].filter(({ key }) => !folded(key));
    const found = attention(shown, { snoozed: (key) => memory.get("snoozed", key), now: now(env) });
    this.#attention = { sessions, revision: memoryRevision, clock, found };
    return found;
  }

  /** The session the person is looking at right now: open, and the terminal has their eyes. */
  watching(): SessionKey | null {
    return this.view.focused ? (this.view.open?.key ?? null) : null;
  }

  pane(): Pane | null {
    return this.#pane?.pane ?? null;
  }

  transcript(): TranscriptPane | null {
    const pane = this.#pane?.pane;
    return pane instanceof TranscriptPane ? pane : null;
  }

  /** The entry under the cursor of an open transcript. */
  entry(): Entry | null {
    return this.view.focus === "detail" ? (this.transcript()?.selected() ?? null) : null;
  }

  subscribePane = (listener: () => void): (() => void) => {
    this.#paneListeners.add(listener);
    return () => this.#paneListeners.delete(listener);
  };

  sideBySide(): boolean {
    return this.#columns >= SIDE_BY_SIDE_FROM;
  }

  resized(columns: number): void {
    if (columns === this.#columns) return;
    this.#columns = columns;
    this.#schedulePreview();
  }

  // --- the view -----------------------------------------------------------------------------------------------------

  set(part: Partial<ViewState>): void {
    this.store.setState((state) => ({ view: { ...state.view, ...part } }));
  }

  overlay(overlay: Overlay | null): void {
    this.set({ overlay });
  }

  say(text: string, tone: Toast["tone"] = "plain"): void {
    this.set({ toast: { text: cleanText(text).replaceAll("\n", " "), tone } });
    if (this.#toast) clearTimeout(this.#toast);
    this.#toast = setTimeout(() => this.set({ toast: null }), TOAST_MS);
    this.#toast.unref();
  }

  /** The next key takes a message away: it was read, or is in the way. */
  unsay(): void {
    if (this.view.toast) this.set({ toast: null });
  }

  /** Runs something that may fail; what went wrong is said, never thrown. */
  attempt(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.say(error instanceof Error ? error.message : String(error), "bad"));
  }

  select(key: SessionKey | null): void {
    if (key === this.view.selected) return;
    this.set({ selected: key });
    this.#schedulePreview();
  }

  /** Filters as one types; the selection moves to the first session that is left. */
  filter(text: string): void {
    this.set({ filter: text });
    const { keys } = this.rows();
    if (this.view.selected === null || !keys.includes(this.view.selected)) this.select(keys[0] ?? null);
  }

  /** By a share of the sessions in sight. */
  pageSelection(share: number): void {
    const by = Math.max(1, Math.round(Math.abs(share) * this.list.inSight));
    this.moveSelection(share < 0 ? -by : by);
  }

  moveSelection(by: number): void {
    this.#chose = true;
    const { keys } = this.rows();
    if (keys.length === 0) return;
    const at = this.view.selected === null ? -1 : keys.indexOf(this.view.selected);
    const next = at < 0 ? 0 : Math.min(Math.max(0, at + by), keys.length - 1);
    this.select(keys[next] ?? null);
  }

  openSelected(): void {
    this.#chose = true;
    const { selected, open } = this.view;
    if (selected === null) return;
    if (open?.key === selected) this.set({ focus: "detail" });
    else this.set({ focus: "detail", open: { key: selected, view: "timeline", of: null, ref: null } });
    this.markSeen(selected);
  }

  /** One step out: the overlay, a branch, the transcript, the filter. False: there was nothing to leave. */
  back(): boolean {
    const { overlay, focus, open, filter } = this.view;
    if (overlay) this.set({ overlay: null });
    else if (focus === "detail" && open?.view === "totals")
      this.set(this.#beforeTotals ?? { focus: "list", open: null });
    else if (focus === "detail" && open?.of) this.set({ open: { ...open, view: "timeline", of: null, ref: null } });
    else if (focus === "detail") this.set({ focus: "list" });
    else if (filter !== "") this.set({ filter: "" });
    else return false;
    return true;
  }

  /** The usage of all sessions; one step back leads to where the person is now. */
  openTotals(): void {
    const { focus, open, selected } = this.view;
    if (open?.view === "totals" && focus === "detail") return;
    if (open?.view !== "totals") this.#beforeTotals = { focus, open };
    this.set({ focus: "detail", open: { key: open?.key ?? selected ?? "", view: "totals", of: null, ref: null } });
  }

  views(): ViewName[] {
    const open = this.view.open;
    if (!open) return [];
    try {
      return this.context.live.reader(open.key).views(open.key);
    } catch {
      return [];
    }
  }

  cycleView(by: 1 | -1): void {
    const { open } = this.view;
    const views = this.views();
    if (!open || views.length === 0) {
      this.openSelected();
      return;
    }
    const at = open.view === "branch" || open.view === "totals" ? -1 : views.indexOf(open.view);
    const view = views[(at + by + views.length) % views.length] ?? "timeline";
    this.set({ focus: "detail", open: { key: open.key, view, of: null, ref: null } });
  }

  openTarget(opens: Opens): void {
    const { open } = this.view;
    if (!open) return;
    const view = opens.view === "branch" ? "branch" : (this.views().find((name) => name === opens.view) ?? "timeline");
    this.set({ focus: "detail", open: { key: open.key, view, of: opens.of ?? null, ref: opens.ref ?? null } });
  }

  /** Opens a session from anywhere: selected in the list and read. */
  openSession(key: SessionKey, ref: string | null = null): void {
    this.select(key);
    this.set({ focus: "detail", open: { key, view: "timeline", of: null, ref } });
    this.markSeen(key);
  }

  /** The person has looked at it: a finished session is no longer new. */
  markSeen(key: SessionKey): void {
    const snapshot = this.snapshot(key);
    if (!snapshot) return;
    for (const one of [key, ...joinedKeys(snapshot)]) this.#markOneSeen(one);
    if (snapshot.status === "done") this.attempt(() => this.context.live.recheck());
  }

  #markOneSeen(key: SessionKey): void {
    const snapshot = this.store.getState().sessions.get(key);
    if (!snapshot) return;
    const mark = snapshot.extra.seenMark;
    this.context.memory.set("seen", key, typeof mark === "string" ? mark : (snapshot.updatedAt ?? ""));
  }

  quit(): void {
    this.terminal.quit();
  }

  stop(): void {
    this.terminal.stop();
  }

  close(): void {
    this.#pane?.pane.close();
    if (this.#preview) clearTimeout(this.#preview);
    if (this.#toast) clearTimeout(this.#toast);
  }

  ask(question: Question): void {
    this.overlay({ type: "confirm", question });
  }

  memoryChanged(): void {
    this.store.setState({ memoryRevision: this.context.memory.revision });
  }

  // --- following the sessions ---------------------------------------------------------------------------------------

  #sessionsChanged(): void {
    const { sessions, view, scanning } = this.store.getState();
    // Until the person has chosen, the first row is selected, also while sources still come in.
    if (view.selected === null || (scanning && !this.#chose)) {
      const first = this.rows().keys[0];
      if (first !== undefined) this.select(first);
    } else if (!sessions.has(view.selected) && !this.context.memory.get("copied", view.selected)) {
      // It is gone: the one that now stands in its place is nearest.
      this.select(this.rows().keys[0] ?? null);
    }
    const open = this.#pane;
    if (!open) return;
    const snapshot = this.snapshot(open.open.key);
    if (snapshot !== open.snapshot) {
      open.snapshot = snapshot;
      open.pane.refresh();
    }
  }

  #schedulePreview(): void {
    if (this.#preview) clearTimeout(this.#preview);
    this.#preview = setTimeout(() => {
      const { selected, open, focus } = this.view;
      if (!this.sideBySide() || focus !== "list" || selected === null || open?.key === selected) return;
      this.set({ open: { key: selected, view: "timeline", of: null, ref: null } });
    }, PREVIEW_WAIT_MS);
    this.#preview.unref();
  }

  async #totals(): Promise<Document> {
    const sessions = await usageSessions(this.context.live, this.store.getState().sessions.values());
    return totalsDocument(sessions, Intl.DateTimeFormat().resolvedOptions().timeZone, await loadPrices());
  }

  #openChanged(): void {
    const { open } = this.view;
    const before = this.#pane;
    if (before && open && sameOpen(before.open, open)) return;
    before?.pane.close();
    this.#pane = open ? { open, pane: this.#newPane(open), snapshot: this.snapshot(open.key) } : null;
    for (const listener of [...this.#paneListeners]) listener();
  }

  #newPane(open: OpenView): Pane {
    const failed = (message: string): void => this.say(message);
    const { live } = this.context;
    const { view } = open;
    if (view === "timeline" || view === "context" || view === "branch") {
      return new TranscriptPane({
        open: async () => live.reader(open.key).transcript(open.key),
        view,
        of: open.of,
        ref: open.ref,
        ascii: this.ascii,
        clock: () => this.store.getState().clock,
        failed,
      });
    }
    if (view === "totals") return new DocumentPane({ read: () => this.#totals(), ascii: this.ascii, failed });
    return new DocumentPane({
      read: async () => live.reader(open.key).document(open.key, view),
      ascii: this.ascii,
      failed,
    });
  }
}

function sameOpen(a: OpenView, b: OpenView): boolean {
  return a.key === b.key && a.view === b.view && a.of === b.of && a.ref === b.ref;
}
