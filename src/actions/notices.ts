import type { NoticesConfig } from "../memory/config.ts";
import type { SessionKey } from "../session/key.ts";
import { alreadySo, markOf, type Notice, type NoticeKind, noticeKind, notices, type Told } from "../session/notice.ts";
import type { Snapshot } from "../session/snapshot.ts";
import type { StatusName } from "../session/status.ts";
import { BELL, desktopNotice, noticeEnv, startProgram, terminalNotice } from "./notice-channels.ts";

/** What happens within this time, ms, is told together. */
const GATHER_MS = 1500;

export interface NoticesOptions {
  /** To the terminal. */
  write(text: string): void;
  env: NodeJS.ProcessEnv;
  config: NoticesConfig;
  /** ms since 1970. */
  clock(): number;
  /** A channel that does not work, said once. */
  problem?(message: string): void;
}

export interface NoticesContext {
  /** The session on screen while the screen has the focus; null when there is none. */
  watching: SessionKey | null;
  snoozed(key: SessionKey): boolean;
  /** Superseded, withdrawn or hidden by the person. */
  folded(key: SessionKey): boolean;
  /** The first reading is not over: what is found is not news. */
  scanning: boolean;
  /** The person's own name for a session. */
  name?(key: SessionKey): string | null;
}

type Sessions = ReadonlyMap<SessionKey, Snapshot>;

/** Tells the person when a session starts to need them, fails or finishes: once a turn, gathered, and not while they look at it. */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #told = new Map<SessionKey, Told>();
  /** The last status that said something, of sessions that are `unknown` now. */
  readonly #before = new Map<SessionKey, StatusName>();
  readonly #pending = new Map<SessionKey, { kind: NoticeKind; status: StatusName }>();
  readonly #broken = new Set<string>();
  #sessions: Sessions = new Map();
  #context: NoticesContext | null = null;
  #started = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Hears of every change of the sessions that lists show (joined), and of what is on screen. */
  sessions(before: Sessions, after: Sessions, context: NoticesContext): void {
    this.#sessions = after;
    this.#context = context;
    if (!this.#started) for (const snapshot of before.values()) this.#met(snapshot);
    this.#started = true;
    if (before === after) return;
    for (const [key, snapshot] of after) {
      const previous = before.get(key) ?? null;
      if (previous !== snapshot) this.#changed(previous, snapshot, context);
    }
    for (const key of before.keys()) if (!after.has(key)) this.#forget(key);
  }

  /** Nothing is told any more. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#pending.clear();
  }

  #changed(previous: Snapshot | null, snapshot: Snapshot, context: NoticesContext): void {
    const { key } = snapshot;
    const from = previous === null ? null : this.#lastKnown(previous);
    if (snapshot.status === "unknown") {
      if (from !== null) this.#before.set(key, from);
      return;
    }
    this.#before.delete(key);
    const told = this.#told.get(key) ?? {};
    const change = { before: previous, after: snapshot, from, told, now: this.#options.clock() };
    const kind = context.scanning || snapshot.hidden ? null : noticeKind(change);
    if (kind !== null) {
      this.#pending.set(key, { kind, status: snapshot.status });
      this.#timer ??= setTimeout(() => this.#tell(), GATHER_MS).unref();
    } else if (context.scanning || previous === null) this.#met(snapshot);
  }

  #met(snapshot: Snapshot): void {
    this.#told.set(snapshot.key, { ...this.#told.get(snapshot.key), ...alreadySo(snapshot) });
  }

  #lastKnown(snapshot: Snapshot): StatusName | null {
    return snapshot.status === "unknown" ? (this.#before.get(snapshot.key) ?? null) : snapshot.status;
  }

  #forget(key: SessionKey): void {
    this.#told.delete(key);
    this.#before.delete(key);
    this.#pending.delete(key);
  }

  /** What still holds after the wait, to everyone who is to hear it. */
  #tell(): void {
    this.#timer = null;
    const context = this.#context;
    const pending = [...this.#pending].flatMap(([key, { kind, status }]) => {
      const snapshot = this.#sessions.get(key);
      // What a notice says must be true when it is told: a flicker within the wait is not told.
      if (snapshot === undefined || context === null || this.#lastKnown(snapshot) !== status) return [];
      // Whoever looks at it, or asked for quiet, has been told.
      this.#told.set(key, { ...this.#told.get(key), [kind]: markOf(snapshot) });
      if (context.watching === key || context.snoozed(key) || context.folded(key)) return [];
      return [{ kind, snapshot, name: context.name?.(key) ?? null }];
    });
    this.#pending.clear();
    const told = notices(pending);
    if (told.length === 0) return;
    const { config, write } = this.#options;
    if (config.bell ?? true) write(BELL);
    for (const notice of told) this.#send(notice);
  }

  #send(notice: Notice): void {
    const { config, env, write } = this.#options;
    const sequence = terminalNotice(notice, config.terminal ?? "off", env);
    if (sequence !== null) write(sequence);
    if (config.desktop) {
      const argv = desktopNotice(notice, env);
      if (argv === null) this.#problem("desktop", "no desktop notices: notify-send (or osascript) is not on PATH");
      else startProgram(argv, env, (why) => this.#problem("desktop", `no desktop notice: ${why}`));
    }
    if (config.command) {
      startProgram(config.command, noticeEnv(notice, env), (why) =>
        this.#problem("command", `notices.command: ${why}`),
      );
    }
  }

  #problem(channel: string, message: string): void {
    if (this.#broken.has(channel)) return;
    this.#broken.add(channel);
    this.#options.problem?.(message);
  }
}
