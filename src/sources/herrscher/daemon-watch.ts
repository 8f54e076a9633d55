import { now } from "../../probe/clock.ts";
import type { Evidence } from "../../probe/evidence.ts";
import type { CommandTimes } from "./command.ts";
import { askWorld, type Daemon, judgeDaemon, type SocketAnswer } from "./daemon.ts";
import { type LiveSession, type LiveSessions, takeEvent } from "./events.ts";
import { EventFeed, type FeedState } from "./live.ts";
import { type LockFile, type LockState, lockFileInode, lockState, readLockFile } from "./lock-file.ts";
import type { Session } from "./session.ts";
import { type SocketPaths, socketFile, socketInode, socketPaths } from "./sockets.ts";
import type { StateRow } from "./state-file.ts";

export interface DaemonWatchOptions {
  statePath: string;
  env: NodeJS.ProcessEnv;
  instanceID(): string;
  /** The rows of the state file as they are now. */
  rows(): readonly StateRow[];
  /** Something live has changed; calls are few, however many events come. */
  changed(): void;
}

/** Events come in bursts: the screen is told at most this often, ms. */
const GATHER_MS = 60;

/** Watches the daemon of one root: its lock, who is behind its socket, and what its events say. */
export class DaemonWatch {
  readonly #options: DaemonWatchOptions;
  #lockFile: LockFile | null = null;
  #lock: LockState = { held: false, pid: null, pidAlive: null };
  /** null: the socket is being asked, or must be. */
  #answer: SocketAnswer | null = null;
  /** What the answer depends on: it is asked for again when this changes, never by the clock. */
  #identity = "";
  #asking: Promise<SocketAnswer> | null = null;
  #feed: EventFeed | null = null;
  readonly #live: LiveSessions = new Map();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: DaemonWatchOptions) {
    this.#options = options;
  }

  now(): number {
    return now(this.#options.env);
  }

  /** null while its socket is being asked. */
  get daemon(): Daemon | null {
    if (this.#lock.held === true && this.#answer === null) {
      const unasked: SocketAnswer = { world: "none", why: "its socket is being asked", listed: [] };
      return judgeDaemon(this.#lock, this.#lockFile !== null, unasked);
    }
    return this.#answer === null ? null : judgeDaemon(this.#lock, this.#lockFile !== null, this.#answer);
  }

  /** How far a lead's delegates are, as the daemon last told. */
  get listed(): SocketAnswer["listed"] {
    return this.#answer?.listed ?? [];
  }

  sockets(): SocketPaths | null {
    return socketPaths(this.#options.env, this.#options.instanceID());
  }

  /** Looks at lock and socket files; cheap, opens no connection. When they changed, the socket must be asked anew. */
  look(evidence: Evidence): void {
    this.#lockFile = readLockFile(this.#options.statePath);
    this.#lock = lockState(this.#lockFile, evidence.locks, evidence.processes);
    const paths = this.sockets();
    const sockets = paths === null ? [] : [socketInode(paths.command), socketInode(paths.events)];
    const identity = JSON.stringify([paths, sockets, this.#lock.held, lockFileInode(this.#options.statePath)]);
    if (identity === this.#identity) return;
    this.#identity = identity;
    this.#answer = null;
    if (paths === null || socketFile(paths.command) === "absent") {
      const where = paths === null ? "the instance id is not one" : `no socket at ${paths.command}`;
      this.#answer = { world: "none", why: where, listed: [] };
    }
    if (this.#answer === null) void this.ask();
    this.#feed?.nudge();
  }

  get mustAsk(): boolean {
    return this.#answer === null;
  }

  /** Asks who is behind the socket; calls that come meanwhile share the answer. Never throws, ends in a few seconds. */
  ask(times?: CommandTimes): Promise<SocketAnswer> {
    if (this.#asking !== null) return this.#asking;
    const identity = this.#identity;
    const asking = askWorld(this.sockets()?.command ?? null, this.#options.rows, times).then(
      (answer): SocketAnswer | Promise<SocketAnswer> => {
        this.#asking = null;
        if (this.#closed) return answer;
        // Lock or sockets changed meanwhile: this answer is of another daemon.
        if (identity !== this.#identity) return this.#answer ?? this.ask();
        this.#answer = answer;
        this.#tell();
        return answer;
      },
    );
    this.#asking = asking;
    return asking;
  }

  /** Begins to listen to events; from then on changes are told. */
  listen(): void {
    if (this.#feed !== null || this.#closed) return;
    this.#feed = new EventFeed({
      path: () => this.sockets()?.events ?? null,
      verify: async () => {
        const answer = await this.ask();
        if (answer.world === "ours" || (answer.world === "untold" && this.daemon?.state === "up")) return "go";
        return answer.world === "silent" || answer.world === "refused" ? "later" : "wait";
      },
      event: (event) => {
        takeEvent(this.#live, event, this.now());
        this.#tell();
      },
      state: (state) => {
        // Without the connection nothing is known any more: what was busy may long be over.
        if (!state.connected) this.#live.clear();
        if (!state.connected && this.#answer?.world === "ours") this.#answer = null;
        if (this.#answer === null) void this.ask();
        this.#tell();
      },
    });
    // Before the first look it is not known which sockets are meant; that look nudges.
    if (this.#identity !== "") this.#feed.nudge();
  }

  feedState(): FeedState | null {
    return this.#feed?.state ?? null;
  }

  /** What events say of this very session: the same name with another incarnation is another one. */
  liveOf(session: Session): LiveSession | null {
    const live = this.#live.get(session.name);
    if (live === undefined) return null;
    return live.incarnation === "" || live.incarnation === session.incarnation ? live : null;
  }

  /** The daemon's directory, from which relative ones are meant; stored nowhere, but the system may show it. */
  cwd(evidence: Evidence | null): string | null {
    if (this.#lock.held !== true || this.#lock.pid === null) return null;
    return evidence?.processes?.byPid.get(this.#lock.pid)?.cwd ?? null;
  }

  /** The tmux pane whose terminal the daemon has: its own screen with all its live sessions. */
  pane(evidence: Evidence): string | null {
    if (this.#lock.held !== true || this.#lock.pid === null) return null;
    const tty = evidence.processes?.byPid.get(this.#lock.pid)?.tty ?? null;
    if (tty === null) return null;
    return evidence.tmux?.panes.find((pane) => pane.tty === tty && !pane.dead)?.id ?? null;
  }

  #tell(): void {
    if (this.#feed === null || this.#timer !== null || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.#closed) this.#options.changed();
    }, GATHER_MS);
    this.#timer.unref();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#feed?.close();
    this.#live.clear();
  }
}
