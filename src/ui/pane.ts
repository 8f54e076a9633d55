import type { Line } from "./text/line.ts";

/** What is read on the right, or on the whole screen: a transcript or a document. Scrolling lives here, not in the store. */
export interface Pane {
  /** At most `height` lines, none wider than `width`, the one under the cursor marked. Lays out only what is visible. */
  lay(width: number, height: number): Line[];
  /** Where one is, for the edge of the screen: `42%`, `following`, `3 new`. */
  position(): string;
  /** By lines; negative is up. */
  move(lines: number): void;
  /** By parts of the visible height: 0.5 is half a page down. */
  page(parts: number): void;
  edge(which: "start" | "end"): void;
  /** To the next or previous match of the search. */
  match(direction: 1 | -1): void;
  search(text: string): void;
  /** The session changed: looks again, keeping the place. */
  refresh(): void;
  subscribe(listener: () => void): () => void;
  /** Grows with every change that is worth a frame. */
  version(): number;
  close(): void;
}

/** Listeners and a version: what every pane needs for React's external stores. */
export class Changes {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  changed(): void {
    this.#version += 1;
    for (const listener of [...this.#listeners]) listener();
  }
}
