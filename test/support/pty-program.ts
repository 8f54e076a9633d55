import { type IPty, spawn } from "@lydell/node-pty";
import { keyBytes } from "./keys.ts";
import { has } from "./seen.ts";
import { until } from "./until.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

export interface PtyOptions {
  cols?: number;
  rows?: number;
  /** The whole environment of the program: nothing of ours leaks in. */
  env: Record<string, string>;
  cwd?: string;
}

/** What the operating system says of an ended program. */
export interface Ending {
  code: number;
  /** 0 when it was not a signal. */
  signal: number;
}

/** A program on a pseudo-terminal: for signals, exit codes and what is left on the screen. */
export class Pty {
  readonly terminal: VirtualTerminal;
  readonly process: IPty;
  /** Resolves when the program has ended and its last bytes are on the screen. */
  readonly ending: Promise<Ending>;
  /** Called with every piece of output, before it is on the screen. */
  onData: ((data: string) => void) | null = null;
  /** Called when a piece of output is on the screen. */
  onScreen: (() => void) | null = null;
  #written: Promise<void> = Promise.resolve();

  constructor(argv: readonly [string, ...string[]], { cols = 80, rows = 24, env, cwd = "/" }: PtyOptions) {
    this.terminal = new VirtualTerminal(cols, rows);
    const [file, ...args] = argv;
    this.process = spawn(file, args, { name: "xterm-256color", cols, rows, cwd, env });
    this.process.onData((data) => {
      this.onData?.(data);
      this.#written = this.terminal.write(data).then(() => this.onScreen?.());
    });
    // A program may ask the terminal something (cursor position, colours): the emulator's answers go back to it.
    this.terminal.terminal.onData((answer) => this.process.write(answer));
    this.ending = new Promise((resolve) => {
      this.process.onExit(({ exitCode, signal }) => {
        this.#written.then(() => resolve({ code: exitCode, signal: signal ?? 0 }));
      });
    });
  }

  press(...keys: string[]): void {
    for (const key of keys) this.process.write(keyBytes(key));
  }

  type(text: string): void {
    this.process.write(text);
  }

  resize(cols: number, rows: number): void {
    this.terminal.resize(cols, rows);
    this.process.resize(cols, rows);
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.process.pid, signal);
  }

  screen(): string[] {
    return this.terminal.lines();
  }

  /** Waits until a text is on the screen; fails with a picture of what was there instead. */
  async see(text: string | RegExp, mostMs = 10_000): Promise<void> {
    await until(() => has(this.terminal.text(), text), Boolean, mostMs).catch(() => {
      throw new Error(`waited ${mostMs} ms to see ${text}:\n${this.terminal.framed()}`);
    });
  }
}
