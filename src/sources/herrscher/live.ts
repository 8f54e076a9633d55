import { connect, type Socket } from "node:net";
import { type DaemonEvent, parseEvent } from "./events.ts";
import { socketFile } from "./sockets.ts";

/** How the connection to the events socket stands, for statuses to say. */
export interface FeedState {
  connected: boolean;
  why: string;
}

export interface FeedOptions {
  /** Where the socket is now; null when there can be none. */
  path(): string | null;
  /** Asks who is behind it before anything is believed. `wait`: not now, a nudge will come when something changes. */
  verify(): Promise<"go" | "later" | "wait">;
  event(event: DaemonEvent): void;
  /** The connection came, went or is refused. What was live is void once it is not connected. */
  state(state: FeedState): void;
  times?: Partial<FeedTimes>;
}

export interface FeedTimes {
  connectMs: number;
  /** A line that is not finished after this long: the daemon has stopped. */
  stallMs: number;
  /** First and longest wait between two attempts. */
  leastWaitMs: number;
  mostWaitMs: number;
}

// The daemon itself gives a write 2 s before it drops the reader: a line takes no longer (herrscher.md §6).
const TIMES: FeedTimes = { connectMs: 500, stallMs: 2000, leastWaitMs: 250, mostWaitMs: 15_000 };
/** The official client's cap of a line (herrscher.md §6). */
const MOST_LINE_BYTES = 8 * 1024 * 1024;

/** Listens to a daemon's events and comes back when it does. Writes nothing into the socket. */
export class EventFeed {
  readonly #options: FeedOptions;
  readonly #times: FeedTimes;
  #socket: Socket | null = null;
  #timer: NodeJS.Timeout | null = null;
  #waitMs: number;
  #attempting = false;
  /** Nudged during an attempt, which may have looked too early. */
  #again = false;
  #closed = false;
  #state: FeedState = { connected: false, why: "not connected yet" };

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#times = { ...TIMES, ...options.times };
    this.#waitMs = this.#times.leastWaitMs;
  }

  get state(): FeedState {
    return this.#state;
  }

  /** Tries now unless connected: at the start, and when lock or socket changed. */
  nudge(): void {
    if (this.#closed || this.#socket !== null) return;
    if (this.#attempting) {
      this.#again = true;
      return;
    }
    this.#waitMs = this.#times.leastWaitMs;
    void this.#attempt();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #attempt(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#attempting = true;
    try {
      const path = this.#options.path();
      if (path === null || socketFile(path) !== "ours") {
        this.#say({ connected: false, why: `no events socket of this user at ${path ?? "any path"}` });
        return; // Its appearance is noticed, and then nudges.
      }
      const answer = await this.#options.verify();
      if (this.#closed || answer === "wait") return;
      if (answer === "later") return this.#later();
      this.#connect(path);
    } finally {
      this.#attempting = false;
      const again = this.#again;
      this.#again = false;
      if (again) this.nudge();
    }
  }

  #later(): void {
    if (this.#closed || this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.#attempt(), this.#waitMs);
    this.#timer.unref();
    this.#waitMs = Math.min(this.#waitMs * 2, this.#times.mostWaitMs);
  }

  #connect(path: string): void {
    const socket = connect(path);
    this.#socket = socket;
    let partial: Buffer[] = [];
    let held = 0;
    let timer: NodeJS.Timeout | null = null;
    const watch = (ms: number, why: string): void => {
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => lose(why), ms);
      timer.unref();
    };
    const lose = (why: string): void => {
      if (timer !== null) clearTimeout(timer);
      socket.destroy();
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#say({ connected: false, why });
      this.#later();
    };
    watch(this.#times.connectMs, `the events socket did not accept within ${this.#times.connectMs} ms`);
    socket.on("connect", () => {
      if (timer !== null) clearTimeout(timer);
      this.#say({ connected: true, why: `listening at ${path}` });
    });
    socket.on("data", (piece: Buffer) => {
      let start = 0;
      for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, start)) {
        partial.push(piece.subarray(start, end));
        this.#take(Buffer.concat(partial).toString("utf8"));
        partial = [];
        held = 0;
        start = end + 1;
      }
      if (start < piece.length) {
        partial.push(piece.subarray(start));
        held += piece.length - start;
      }
      if (held > MOST_LINE_BYTES) lose("a line of the events socket is longer than any event");
      else if (held > 0) {
        watch(this.#times.stallMs, `the daemon stopped in the middle of a line (${this.#times.stallMs / 1000} s)`);
      } else if (timer !== null) clearTimeout(timer);
    });
    socket.on("error", (error) => lose(`the events socket failed (${"code" in error ? error.code : error.message})`));
    socket.on("close", () => lose("the daemon closed the events socket"));
  }

  #take(line: string): void {
    const event = parseEvent(line);
    if (event === null || this.#closed) return;
    // One that speaks is there: the next attempt after a loss may come at once.
    this.#waitMs = this.#times.leastWaitMs;
    this.#options.event(event);
  }

  #say(state: FeedState): void {
    if (this.#closed || (state.connected === this.#state.connected && state.why === this.#state.why)) return;
    this.#state = state;
    this.#options.state(state);
  }
}
