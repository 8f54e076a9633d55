import { PassThrough, Writable } from "node:stream";
import { type Instance, render } from "ink";
import type { ReactElement } from "react";
import { onTestFinished } from "vitest";
import { keyBytes } from "./keys.ts";
import { has } from "./seen.ts";
import { until } from "./until.ts";
import { type Cell, VirtualTerminal } from "./virtual-terminal.ts";

/** Ink waits this long for the rest of an escape sequence before a lone ESC is the Escape key, ms. */
const ESCAPE_PAUSE = 20;

interface RobotOptions {
  cols?: number;
  rows?: number;
}

class FakeInput extends PassThrough {
  readonly isTTY = true;
  raw = false;

  setRawMode(raw: boolean): this {
    this.raw = raw;
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

class FakeOutput extends Writable {
  readonly isTTY = true;
  columns: number;
  rows: number;
  readonly #terminal: VirtualTerminal;

  constructor(terminal: VirtualTerminal) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
    this.columns = terminal.cols;
    this.rows = terminal.rows;
  }

  override _write(chunk: string | Uint8Array, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#terminal.write(chunk).then(() => done());
  }

  /** Resolves when everything written so far is on the screen. */
  drained(): Promise<void> {
    return new Promise((resolve) => this.write("", () => resolve()));
  }
}

/**
 * Sits at a terminal and uses a screen like a person: presses, types, looks, resizes. Everything it sees are the exact
 * cells that Ink's bytes produce. After each step it fails when a frame was taller or wider than the terminal.
 */
export class Robot {
  readonly terminal: VirtualTerminal;
  /** Frames that were drawn; an idle screen draws none. */
  frames = 0;
  readonly #input = new FakeInput();
  readonly #output: FakeOutput;
  readonly #ink: Instance;
  #drawn = 0;
  /** What ended the screen by itself. */
  #crash: Error | null = null;

  constructor(element: ReactElement, { cols = 80, rows = 24 }: RobotOptions = {}) {
    this.terminal = new VirtualTerminal(cols, rows, { lineDiscipline: true });
    this.#output = new FakeOutput(this.terminal);
    this.#ink = render(element, {
      stdout: this.#output,
      stdin: this.#input,
      stderr: new PassThrough(),
      alternateScreen: true,
      incrementalRendering: true,
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: 60,
      onRender: () => {
        if (this.#output.writableLength + this.bytes > this.#drawn) this.frames += 1;
        this.#drawn = this.#output.writableLength + this.bytes;
      },
    });
    this.#ink.waitUntilExit().catch((error: unknown) => {
      this.#crash = error instanceof Error ? error : new Error(String(error));
    });
  }

  /** Bytes that reached the terminal. */
  get bytes(): number {
    return this.terminal.bytes;
  }

  /** Presses keys one after another, by name: `"j"`, `"Enter"`, `"ctrl+d"`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      this.#input.write(keyBytes(key));
      if (key === "Escape") await this.#escaped();
      await this.settle();
    }
  }

  /** Types text as one burst, as a fast person or a terminal that does not mark pastes does. */
  async type(text: string): Promise<void> {
    this.#input.write(text);
    await this.settle();
  }

  /** Pastes text as a terminal does that was asked to mark it. */
  async paste(text: string): Promise<void> {
    if (!this.terminal.bracketedPaste) throw new Error("the program did not ask for pasted text to be marked");
    await this.type(`\x1b[200~${text}\x1b[201~`);
  }

  async resize(cols: number, rows: number): Promise<void> {
    this.terminal.resize(cols, rows);
    this.#output.columns = cols;
    this.#output.rows = rows;
    this.#output.emit("resize");
    await this.settle();
  }

  async rerender(element: ReactElement): Promise<void> {
    this.#ink.rerender(element);
    await this.settle();
  }

  /** Waits until a text is on the screen; fails with a picture of what was there instead. */
  async see(text: string | RegExp, mostMs = 5000): Promise<void> {
    await this.#look(`to see ${text}`, () => has(this.terminal.text(), text), mostMs);
  }

  /** Waits until a text is gone from the screen. */
  async seeNo(text: string | RegExp, mostMs = 5000): Promise<void> {
    await this.#look(`to see no ${text}`, () => !has(this.terminal.text(), text), mostMs);
  }

  /** The visible lines, without the blanks at their ends. */
  screen(): string[] {
    return this.terminal.lines();
  }

  cell(x: number, y: number): Cell {
    return this.terminal.cell(x, y);
  }

  /** The first cell of a text that is on the screen now. */
  cellOf(text: string): Cell {
    const at = this.terminal.find(text);
    if (at === null) throw new Error(`${JSON.stringify(text)} is not on the screen:\n${this.terminal.framed()}`);
    return this.cell(at.x, at.y);
  }

  /** Resolves when the program has taken in what it was given and the frame for it is on the screen. */
  async settle(): Promise<void> {
    // Two turns: one for the stream to hand over the key, one for what its handler scheduled.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await this.#ink.waitUntilRenderFlush();
    await this.#output.drained();
    this.#mustFit();
  }

  async unmount(): Promise<void> {
    this.#ink.unmount();
    await this.#output.drained();
  }

  /** Waits until Ink has taken a lone ESC for the Escape key; what is written before is taken for the rest of a sequence. */
  async #escaped(): Promise<void> {
    // Ink starts to wait when it reads the key. Only a longer wait that begins after that is sure to end after it.
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#input.readableLength > 0);
    await new Promise((resolve) => setTimeout(resolve, ESCAPE_PAUSE + 5));
  }

  async #look(what: string, ok: () => boolean, mostMs: number): Promise<void> {
    try {
      await until(ok, Boolean, mostMs);
    } catch {
      throw new Error(`waited ${mostMs} ms ${what}:\n${this.terminal.framed()}`);
    }
    this.#mustFit();
  }

  #mustFit(): void {
    if (this.#crash) throw this.#crash;
    const misfit = this.terminal.misfit();
    if (misfit !== null) throw new Error(`${misfit}:\n${this.terminal.framed()}`);
  }
}

/** A robot at a new screen, which is taken down when the test is over. */
export async function robotAt(element: ReactElement, options: RobotOptions = {}): Promise<Robot> {
  const robot = new Robot(element, options);
  onTestFinished(() => robot.unmount());
  await robot.settle();
  return robot;
}
