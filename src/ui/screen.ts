import { copyText } from "../actions/clipboard.ts";
import { editedFile, editorCommand } from "../actions/editor.ts";
import type { ActionContext } from "../actions/fork.ts";
import { forkSession, planFork, revertSession, undoRevert } from "../actions/fork.ts";
import {
  goToPane,
  insideTmux,
  planResume,
  type Place as ResumePlace,
  resumeInTmux,
  shellLine,
} from "../actions/resume.ts";
import type { Config } from "../memory/config.ts";
import { now } from "../probe/clock.ts";
import type { Opens } from "../session/document.ts";
import type { Entry } from "../session/entry.ts";
import { joinedKeys, joinSessions } from "../session/join.ts";
import type { SessionKey } from "../session/key.ts";
import type { ResumeCommand, Snapshot } from "../session/snapshot.ts";
import { cleanLine, cleanText, titleLine } from "../session/untrusted.ts";
import type { SourceAction, ViewName } from "../sources/source.ts";
import { type ListRows, rowsSelector } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import {
  GROUPS,
  type MenuItem,
  type OpenView,
  type Overlay,
  type Picker,
  type PickerItem,
  type Question,
  SORTS,
  type Toast,
  type ViewState,
} from "../store/view.ts";
import { DocumentPane } from "./detail/document-pane.ts";
import { TranscriptPane } from "./detail/transcript-pane.ts";
import { eachEntry } from "./each-entry.ts";
import type { Pane } from "./pane.ts";
import { ageOf } from "./text/amounts.ts";

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
const SNOOZE_MS = 60 * 60_000;

/**
 * What the keys do: changes the view, or calls an action. Reads the state as it is when it is called, never one captured at
 * a drawing, because a burst of keys arrives at once.
 */
export class Screen {
  readonly store: Store;
  readonly context: ActionContext;
  readonly config: Config;
  readonly ascii: boolean;
  readonly #terminal: Terminal;
  readonly #rows: (state: ReturnType<Store["getState"]>) => ListRows;
  /** Where the list's rows are on the screen, as last drawn: what a click hits. */
  list: { width: number; keyAt(row: number): SessionKey | null } = { width: 0, keyAt: () => null };
  /** Does the terminal have the person's eyes? Unknown until it first reports. */
  #focused = true;
  #pane: { pane: Pane; open: OpenView; snapshot: Snapshot | null } | null = null;
  #paneListeners = new Set<() => void>();
  #columns = 80;
  /** Has the person moved the selection yet? */
  #chose = false;
  #preview: NodeJS.Timeout | null = null;
  #toast: NodeJS.Timeout | null = null;

  constructor(store: Store, context: ActionContext, config: Config, terminal: Terminal, ascii: boolean) {
    this.store = store;
    this.context = context;
    this.config = config;
    this.#terminal = terminal;
    this.ascii = ascii;
    this.#rows = rowsSelector(context.memory);
    store.subscribe((state, before) => {
      if (state.sessions !== before.sessions) this.#sessionsChanged();
      if (state.view.open !== before.view.open) this.#openChanged();
    });
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

  /** The session the person is looking at right now: open, and the terminal has their eyes. */
  watching(): SessionKey | null {
    return this.#focused ? (this.view.open?.key ?? null) : null;
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

  // --- what the terminal reports ------------------------------------------------------------------------------------

  /** Focus and mouse. False: it was a key. */
  report(name: string): boolean {
    const [kind, column, row] = name.split(":");
    switch (kind) {
      case "focus-in":
      case "focus-out":
        this.#focused = kind === "focus-in";
        return true;
      case "wheel-up":
      case "wheel-down":
        this.#wheel(kind === "wheel-up" ? -1 : 1);
        return true;
      case "click":
        this.#click(Number(column), Number(row));
        return true;
      case "mouse":
        return true;
      default:
        return false;
    }
  }

  #wheel(direction: 1 | -1): void {
    if (this.view.focus === "list") this.moveSelection(direction);
    else this.pane()?.move(3 * direction);
  }

  #click(column: number, row: number): void {
    const key = this.list.keyAt(row);
    if (column < this.list.width && (this.sideBySide() || this.view.focus === "list")) {
      if (key !== null) this.select(key);
      this.set({ focus: "list" });
    } else if (this.view.open) this.set({ focus: "detail" });
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
    else if (focus === "detail" && open?.of) this.set({ open: { ...open, view: "timeline", of: null, ref: null } });
    else if (focus === "detail") this.set({ focus: "list" });
    else if (filter !== "") this.set({ filter: "" });
    else return false;
    return true;
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
    const at = open.view === "branch" ? -1 : views.indexOf(open.view);
    const view = views[(at + by + views.length) % views.length] ?? "timeline";
    this.set({ focus: "detail", open: { key: open.key, view, of: null, ref: null } });
  }

  openTarget(opens: Opens): void {
    const { open } = this.view;
    if (!open) return;
    const view = opens.view === "branch" ? "branch" : (this.views().find((name) => name === opens.view) ?? "timeline");
    this.set({ focus: "detail", open: { key: open.key, view, of: opens.of ?? null, ref: opens.ref ?? null } });
  }

  /** Enter on a line of a document: opens what it points at, else its actions. */
  openRow(): void {
    const pane = this.#pane?.pane;
    const target = pane instanceof DocumentPane ? pane.target() : null;
    if (target?.open) this.openTarget(target.open);
    else if (target?.target) this.actionMenu();
  }

  showWhy(): void {
    const session = this.session();
    if (session) this.overlay({ type: "why", key: session.key });
  }

  cycleSort(): void {
    const sort = SORTS[(SORTS.indexOf(this.view.sort) + 1) % SORTS.length] ?? "updated";
    this.set({ sort });
    this.say(`sorted by ${sort}`);
    this.#rememberList();
  }

  cycleGroup(): void {
    const group = GROUPS[(GROUPS.indexOf(this.view.group) + 1) % GROUPS.length] ?? "none";
    this.set({ group });
    this.say(group === "none" ? "not grouped" : `grouped by ${group}`);
    this.#rememberList();
  }

  toggleAll(): void {
    this.set({ all: !this.view.all });
    this.say(
      this.view.all ? "all sessions, internal and superseded ones too" : "without internal and superseded sessions",
    );
  }

  /** To the next session that needs the person, the one that has waited longest first. */
  nextThatNeedsMe(): void {
    const { view } = this.store.getState();
    const waiting = this.rows()
      .keys.flatMap((key) => this.snapshot(key) ?? [])
      .filter((one) => one.status === "needs-input" || one.status === "failed")
      .sort((a, b) => rank(a) - rank(b) || (a.updatedAt ?? "").localeCompare(b.updatedAt ?? ""));
    if (waiting.length === 0) {
      this.say("no session needs you", "good");
      return;
    }
    const at = waiting.findIndex((one) => one.key === view.selected);
    const next = waiting[(at + 1) % waiting.length];
    if (!next) return;
    this.select(next.key);
    if (view.focus === "detail") this.set({ open: { key: next.key, view: "timeline", of: null, ref: null } });
  }

  // --- what needs the person, and where things are ------------------------------------------------------------------

  /** Everything that wants the person, with what is asked in full. */
  inbox(): void {
    const { sessions } = joinSessions(this.store.getState().sessions);
    const items = inboxOf(
      this.rows().keys.flatMap((key) => sessions.get(key) ?? []),
      (key) => this.#snoozedUntil(key),
    ).map(
      (one): PickerItem => ({
        label: cleanLine(this.context.memory.get("name", one.key) ?? one.title),
        note: ageOf(one.updatedAt, this.store.getState().clock),
        detail: one.activity ?? one.why[0] ?? "",
        status: one.status,
        run: () => this.openSession(one.key),
        aside: { title: "snooze", run: () => this.snooze(one.key) },
      }),
    );
    const empty = "Nobody needs you. Finished work that you have not seen appears here too.";
    this.overlay({ type: "picker", title: "inbox · Enter opens, x snoozes", items, typing: false, busy: false, empty });
  }

  /** Opens a session from anywhere: selected in the list and read. */
  openSession(key: SessionKey, ref: string | null = null): void {
    this.select(key);
    this.set({ focus: "detail", open: { key, view: "timeline", of: null, ref } });
    this.markSeen(key);
  }

  /** Full text over every session: asks what for. */
  askSearchAll(): void {
    this.overlay({
      type: "ask",
      title: "search the text of all sessions, tool output too",
      label: "//",
      initial: "",
      done: (text) => this.searchAll(text),
    });
  }

  searchAll(text: string): void {
    this.say(`searching ${text}`);
  }

  /** The prompts of the open transcript, to jump to. */
  contents(): void {
    const { open } = this.view;
    if (!open) return;
    const title = "contents: what the person wrote";
    const picker = this.#startPicker(title, "Nothing was asked here yet.");
    this.attempt(async () => {
      const transcript = await this.context.live.reader(open.key).transcript(open.key);
      try {
        for await (const entry of eachEntry(transcript, open)) {
          if (entry.kind !== "message" || entry.injected) continue;
          const label = titleLine(entry.text ?? entry.media?.type ?? "") || "(empty)";
          const note = ageOf(entry.time, this.store.getState().clock);
          const more = picker.add({
            label,
            note,
            run: () => this.set({ focus: "detail", open: { ...open, ref: entry.ref } }),
          });
          if (!more) return;
        }
        picker.done();
      } finally {
        transcript.close();
      }
    });
  }

  /** An overlay that fills while something looks; `add` is false once the person has left it. */
  #startPicker(title: string, empty: string): { add(item: PickerItem): boolean; done(): void } {
    let items: PickerItem[] = [];
    let shown: Picker = { type: "picker", title, items, typing: true, busy: true, empty };
    let last = 0;
    const put = (busy: boolean): boolean => {
      if (this.view.overlay !== shown) return false;
      shown = { ...shown, items, busy };
      this.overlay(shown);
      return true;
    };
    this.overlay(shown);
    return {
      add: (item) => {
        items = [...items, item];
        // A burst of finds is one drawing.
        if (performance.now() - last < 100) return this.view.overlay === shown;
        last = performance.now();
        return put(true);
      },
      done: () => void put(false),
    };
  }

  #snoozedUntil(key: SessionKey): string | null {
    return this.context.memory.get("snoozed", key);
  }

  // --- arranging ----------------------------------------------------------------------------------------------------

  snooze(key: SessionKey): void {
    const asleep = this.#snoozedUntil(key) !== null;
    const until = new Date(now(this.context.env) + SNOOZE_MS).toISOString();
    this.context.memory.set("snoozed", key, asleep ? null : until);
    this.#memoryChanged();
    this.say(asleep ? "awake again" : "snoozed for an hour");
  }

  /** Rename, tag, note, hide, snooze: all in our own memory, never in the tool's files. */
  organise(): void {
    const session = this.session();
    if (!session) return;
    const { memory } = this.context;
    const { key } = session;
    const ask = (title: string, initial: string, done: (text: string) => void): MenuItem => ({
      label: title,
      note: initial,
      run: () =>
        this.overlay({
          type: "ask",
          title,
          label: "",
          initial,
          done: (text) => {
            done(text.trim());
            this.#memoryChanged();
          },
        }),
    });
    const hidden = memory.get("hidden", key) !== null;
    const items: MenuItem[] = [
      ask("name it (ours; empty takes it back)", memory.get("name", key) ?? "", (text) =>
        memory.set("name", key, text || null),
      ),
      ask("tags, separated by spaces", (memory.get("tags", key) ?? []).join(" "), (text) =>
        memory.set("tags", key, text === "" ? null : text.split(/\s+/u)),
      ),
      ask("note", memory.get("note", key) ?? "", (text) => memory.set("note", key, text || null)),
      {
        label: this.#snoozedUntil(key) === null ? "snooze for an hour" : "wake up",
        run: () => this.snooze(key),
      },
      {
        label: hidden ? "show it again" : "hide it (A lists hidden ones)",
        run: () => {
          memory.set("hidden", key, hidden ? null : true);
          this.#memoryChanged();
          this.say(hidden ? "shown again" : "hidden; A lists hidden sessions");
        },
      },
    ];
    this.overlay({ type: "menu", title: "Organise (kept in forktail, not in the session)", items });
  }

  /** Sessions of the directory forktail was started in, or of everywhere. */
  toggleScope(): void {
    const scope = this.view.scope === null ? process.cwd() : null;
    this.set({ scope });
    this.say(scope === null ? "sessions of everywhere" : `only sessions in ${scope}`);
    const { keys } = this.rows();
    if (this.view.selected === null || !keys.includes(this.view.selected)) this.select(keys[0] ?? null);
  }

  togglePin(): void {
    const session = this.session();
    if (!session) return;
    const { memory } = this.context;
    const pinned = memory.get("pinned", session.key) === null;
    memory.set("pinned", session.key, pinned ? true : null);
    this.#memoryChanged();
    this.say(pinned ? "pinned to the top" : "no longer pinned");
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

  // --- actions ------------------------------------------------------------------------------------------------------

  fork(verb: "fork" | "revert"): void {
    const session = this.session();
    if (!session) return;
    const entry = this.entry();
    if (verb === "revert" && !entry) {
      this.say("open the session and choose the entry to go back before");
      return;
    }
    const before = entry?.ref ?? null;
    this.attempt(async () => {
      const plan = await planFork(this.context, session.key, before);
      if (!plan.allowed) {
        this.say(`no ${verb} here: ${plan.reason}`, "bad");
        return;
      }
      const says = [...plan.says];
      if (verb === "revert") says.push(`${session.id} is folded away in forktail; u brings it back.`);
      if (plan.status !== "idle") says.push(`The new session will be ${plan.status}.`);
      this.#ask({
        title: verb === "fork" ? "Fork this session?" : "Go back to before this entry?",
        says,
        warning: plan.ask,
        verb,
        run: () => this.attempt(() => this.#makeFork(verb, session.key, before)),
      });
    });
  }

  async #makeFork(verb: "fork" | "revert", key: SessionKey, before: string | null): Promise<void> {
    const revert = verb === "revert" && before !== null;
    const forked = revert
      ? await revertSession(this.context, key, before)
      : await forkSession(this.context, key, before);
    this.#memoryChanged();
    // The watcher will bring it; it is selected as soon as it is there.
    this.set({ selected: forked.key, open: { key: forked.key, view: "timeline", of: null, ref: null } });
    this.say(
      `${revert ? "reverted" : "forked"}: ${forked.id}; r resumes it${revert ? ", u undoes it" : ""}. ${forked.notes.join(" ")}`,
      "good",
    );
  }

  undo(): void {
    this.attempt(async () => {
      const session = this.session();
      const mine = session && (await undoRevert(this.context, session.key));
      const undone = mine || (await undoRevert(this.context, null));
      if (!undone) {
        this.say("there is no revert to undo");
        return;
      }
      this.#memoryChanged();
      this.set({ selected: undone.original, open: { key: undone.original, view: "timeline", of: null, ref: null } });
      const title = this.snapshot(undone.original)?.title ?? undone.original;
      this.say(`${title} is back${undone.withdrawn ? "" : "; the copy went on and stays too"}`, "good");
    });
  }

  resume(where?: ResumePlace): void {
    const session = this.session();
    if (!session) return;
    this.attempt(async () => {
      const plan = await planResume(this.context, session);
      if (plan.kind === "cannot") {
        this.say(`not resumed: ${plan.reason}`, "bad");
        return;
      }
      if (plan.kind === "go") return goToPane(plan.pane, this.context.env);
      const { env } = this.context;
      const place = where ?? this.config.resumeIn ?? (insideTmux(env) ? "split" : "here");
      const launch = (): void =>
        this.attempt(() => this.#launch(plan.command, insideTmux(env) ? place : "here", plan.prepare));
      if (plan.notes.length === 0) return launch();
      this.#ask({
        title: "Resume this session?",
        says: [shellLine(plan.command), ...plan.notes],
        warning: null,
        verb: "resume",
        run: launch,
      });
    });
  }

  async #launch(command: ResumeCommand, place: ResumePlace, prepare: (() => Promise<string[]>) | null): Promise<void> {
    const did = (await prepare?.()) ?? [];
    if (place !== "here") {
      await resumeInTmux(command, place, this.context.env);
      this.say([`resumed in a ${place === "split" ? "split" : "new window"}`, ...did].join("; "), "good");
      return;
    }
    await this.lendTo(command);
  }

  /** Gives the terminal to a program and comes back with how it ended. */
  async lendTo(command: ResumeCommand): Promise<void> {
    let code = 0;
    await this.#terminal.lend(async () => {
      code = await this.#terminal.run(command);
    });
    const name = command.argv[0] ?? "";
    this.say(code === 0 ? `back from ${name}` : `${name} ended with ${code}`, code === 0 ? "plain" : "bad");
  }

  chooseResumePlace(): void {
    const items: MenuItem[] = insideTmux(this.context.env)
      ? [
          { label: "tmux split", run: () => this.resume("split") },
          { label: "tmux window", run: () => this.resume("window") },
          { label: "here, in place of this screen", run: () => this.resume("here") },
        ]
      : [{ label: "here, in place of this screen", run: () => this.resume("here") }];
    this.overlay({ type: "menu", title: "Resume where?", items });
  }

  copyMenu(): void {
    const session = this.session();
    if (!session) return;
    const entry = this.entry();
    const copy = (what: string, text: string): MenuItem => ({
      label: what,
      note: text.split("\n")[0] ?? "",
      run: () =>
        this.attempt(async () => {
          const took = await copyText(text, this.#terminal.output, this.context.env);
          this.say(
            took.length > 0
              ? `${what} copied to ${took.join(" and ")}`
              : "nothing took the text: it is too long for the terminal",
            took.length > 0 ? "good" : "bad",
          );
        }),
    });
    const items = [copy("session id", session.id), copy("session key", session.key), copy("path", session.path)];
    if (session.resume) items.unshift(copy("resume command", shellLine(session.resume)));
    const block = entry?.text ? codeBlock(entry.text) : null;
    if (block !== null) items.unshift(copy("code block", block));
    if (entry?.text) items.unshift(copy("text of the entry", entry.text));
    else if (entry?.call) items.unshift(copy("the call", JSON.stringify(entry.call.args, null, 2) ?? entry.call.name));
    this.overlay({ type: "menu", title: "Copy", items });
  }

  /** The file that the entry under the cursor edits, at its place; else the session's own file. */
  openInEditor(): void {
    const session = this.session();
    if (!session) return;
    const entry = this.entry();
    const edited = entry?.call ? editedFile(entry.call.args, session.cwd) : null;
    if (edited !== null && !edited.there) {
      this.say(`${edited.path} is not on this machine`, "bad");
      return;
    }
    const command = editorCommand(edited?.path ?? session.path, edited?.line ?? null, this.context.env);
    if (command === null) {
      this.say("no editor: set $EDITOR to one that is on PATH", "bad");
      return;
    }
    this.attempt(() => this.lendTo({ argv: command, cwd: null }));
  }

  /** The source's own actions on this session, and on the row under the cursor. */
  sourceActions(): { action: SourceAction; target: string | null }[] {
    const session = this.session();
    if (!session) return [];
    const pane = this.#pane?.pane;
    const target =
      pane instanceof DocumentPane && this.view.focus === "detail" ? (pane.target()?.target ?? null) : null;
    const view = this.view.open?.view;
    return [session.key, ...joinedKeys(session)]
      .flatMap((key) => this.context.live.reader(key).actions(key))
      .filter((action) => action.view === undefined || (action.view === view && target !== null))
      .map((action) => ({ action, target: action.view === undefined ? null : target }));
  }

  actionMenu(): void {
    const actions = this.sourceActions();
    if (actions.length === 0) {
      this.say("this session has no actions of its own");
      return;
    }
    const items = actions.map(({ action, target }) => ({
      label: action.title,
      ...(action.disabled === null ? {} : { note: action.disabled }),
      run: () => this.startAction(action, target),
    }));
    this.overlay({ type: "menu", title: "Actions", items });
  }

  startAction(action: SourceAction, target: string | null): void {
    if (action.disabled !== null) {
      this.say(`not now: ${action.disabled}`, "bad");
      return;
    }
    const values = Object.fromEntries(
      action.inputs.map((input) => [input.name, input.initial ?? input.choices?.[0] ?? ""]),
    );
    if (action.inputs.length > 0) {
      this.overlay({ type: "form", action, target, values, field: 0 });
      return;
    }
    this.confirmAction(action, values, target);
  }

  confirmAction(action: SourceAction, values: Record<string, string>, target: string | null): void {
    this.#ask({
      title: `${action.title}?`,
      says: action.says(values, target),
      warning: null,
      verb: action.title.toLowerCase(),
      run: () =>
        this.attempt(async () => {
          const did = await action.run(values, target);
          this.say(did.join("; ") || "done", "good");
          this.#pane?.pane.refresh();
        }),
    });
  }

  quit(): void {
    this.#terminal.quit();
  }

  stop(): void {
    this.#terminal.stop();
  }

  close(): void {
    this.#pane?.pane.close();
    if (this.#preview) clearTimeout(this.#preview);
    if (this.#toast) clearTimeout(this.#toast);
  }

  #ask(question: Question): void {
    this.overlay({ type: "confirm", question });
  }

  #memoryChanged(): void {
    this.store.setState({ memoryRevision: this.context.memory.revision });
  }

  #rememberList(): void {
    const { sort, group } = this.view;
    this.context.memory.set("view", "list", { sort, group });
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

/** Who wants the person: questions before failures before finished work, those that wait longest first. */
export function inboxOf(sessions: readonly Snapshot[], snoozedUntil: (key: SessionKey) => string | null): Snapshot[] {
  const order = ["needs-input", "failed", "done"];
  const place = (one: Snapshot): number => order.indexOf(one.status);
  return sessions
    .filter((one) => place(one) >= 0 && (snoozedUntil(one.key) ?? "") < (one.updatedAt ?? "~"))
    .sort((a, b) => place(a) - place(b) || (a.updatedAt ?? "").localeCompare(b.updatedAt ?? ""));
}

function rank(snapshot: Snapshot): number {
  return snapshot.status === "needs-input" ? 0 : 1;
}

/** The first fenced block of a Markdown text, without its fences. */
function codeBlock(text: string): string | null {
  return /^(?:```|~~~)[^\n]*\n([\s\S]*?)^(?:```|~~~)/mu.exec(text)?.[1] ?? null;
}
