import type { Writable } from "node:stream";
import { cleanLine, cutCodePoints } from "../session/untrusted.ts";

/** What is switched on in the terminal while the screen is up, and off again in every way out. */
export class TerminalModes {
  readonly #output: Writable;
  readonly #mouse: boolean;
  #on = false;
  #title = "";

  constructor(output: Writable, mouse: boolean) {
    this.#output = output;
    this.#mouse = mouse;
  }

  /**
   * Lines never wrap by themselves: one that this terminal draws wider than we think must not push the screen up.
   * Focus reports always (they cost nothing), the mouse only when it was asked for: it takes text selection away.
   */
  enter(): void {
    if (this.#on) return;
    this.#on = true;
    this.#output.write(`\u001b[22;0t\u001b[?7l\u001b[?1004h${this.#mouse ? "\u001b[?1000h\u001b[?1006h" : ""}`);
    if (this.#title !== "") this.#writeTitle();
  }

  leave(): void {
    if (!this.#on) return;
    this.#on = false;
    this.#output.write(`${this.#mouse ? "\u001b[?1006l\u001b[?1000l" : ""}\u001b[?1004l\u001b[?7h\u001b[23;0t`);
  }

  /** The window's or pane's title; written only when it changed. */
  title(text: string): void {
    const title = cutCodePoints(cleanLine(text), 80);
    if (title === this.#title) return;
    this.#title = title;
    if (this.#on) this.#writeTitle();
  }

  #writeTitle(): void {
    this.#output.write(`\u001b]2;${this.#title}\u0007`);
  }
}
