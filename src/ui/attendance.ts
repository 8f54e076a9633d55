import { stat } from "node:fs/promises";
import { Notices, type NoticesContext } from "../actions/notices.ts";
import { CountsFile } from "../memory/counts-file.ts";
import { now } from "../probe/clock.ts";
import { conflicts, directoriesOf } from "../session/conflicts.ts";
import { countsTitle } from "../session/counts.ts";
import { joinSessions } from "../session/join.ts";
import { isSnoozed } from "../session/snooze.ts";
import type { ForktailState } from "../store/store.ts";
import type { Screen } from "./screen.ts";
import type { TerminalModes } from "./terminal-modes.ts";

/** How long changes are gathered before directories are looked at for conflicts, ms. */
const CONFLICTS_MS = 3000;

/**
 * What is told outside the screen's own rows while it is up: the window's title, the status bar's file, notices, and sessions
 * in each other's way. Hears of changes from the store alone.
 */
export class Attendance {
  readonly #screen: Screen;
  readonly #modes: TerminalModes;
  readonly #counts: CountsFile;
  readonly #notices: Notices;
  readonly #unsubscribe: () => void;
  #conflicts: NodeJS.Timeout | null = null;

  constructor(screen: Screen, modes: TerminalModes, write: (text: string) => void) {
    const { store, context, config } = screen;
    const clock = (): number => now(context.env);
    this.#screen = screen;
    this.#modes = modes;
    this.#counts = new CountsFile(context.memory.directory, clock);
    this.#notices = new Notices({
      write,
      env: context.env,
      config: config.notices ?? {},
      clock,
      problem: (message) => screen.say(message, "bad"),
    });
    this.#tellCounts();
    this.#unsubscribe = store.subscribe((state, before) => this.#changed(state, before));
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    if (this.#conflicts) clearTimeout(this.#conflicts);
    this.#notices.close();
    await this.#counts.close();
  }

  #changed(state: ForktailState, before: ForktailState): void {
    const looked = state.view.open !== before.view.open || state.view.focused !== before.view.focused;
    if (state.sessions !== before.sessions || looked || state.scanning !== before.scanning) {
      const joined = joinSessions(state.sessions).sessions;
      this.#notices.sessions(joinSessions(before.sessions).sessions, joined, this.#noticesContext(state));
    }
    const changed = state.sessions !== before.sessions || state.memoryRevision !== before.memoryRevision;
    // A first reading that found nothing more, and a snooze that is over, change the counts too.
    if (changed || state.scanning !== before.scanning || state.clock !== before.clock) this.#tellCounts();
    if (changed) {
      this.#conflicts ??= setTimeout(() => void this.#lookForConflicts(), CONFLICTS_MS);
      this.#conflicts.unref();
    }
  }

  #noticesContext(state: ForktailState): NoticesContext {
    const { memory } = this.#screen.context;
    return {
      watching: this.#screen.watching(),
      scanning: state.scanning,
      snoozed: (key) => {
        const snapshot = this.#screen.snapshot(key);
        return snapshot !== null && isSnoozed(snapshot, memory.get("snoozed", key), now(this.#screen.context.env));
      },
      folded: (key) =>
        memory.get("superseded", key) !== null ||
        memory.get("withdrawn", key) !== null ||
        memory.get("hidden", key) !== null,
      name: (key) => memory.get("name", key),
    };
  }

  #tellCounts(): void {
    const { counts } = this.#screen.attention();
    this.#modes.title(countsTitle(counts, { ascii: this.#screen.ascii }));
    if (!this.#screen.store.getState().scanning) this.#counts.update(counts, now(this.#screen.context.env));
  }

  /** Directories of many sessions are looked at: never more often than every few seconds, and not in a hurry. */
  async #lookForConflicts(): Promise<void> {
    this.#conflicts = null;
    const { store } = this.#screen;
    const { sessions } = store.getState();
    const missing = new Set<string>();
    for (const directory of directoriesOf(sessions.values())) {
      const there = await stat(directory).then(
        (stats) => stats.isDirectory(),
        () => false,
      );
      if (!there) missing.add(directory);
    }
    const found = conflicts(sessions, missing);
    if (JSON.stringify(found) !== JSON.stringify(store.getState().conflicts)) store.setState({ conflicts: found });
  }
}
