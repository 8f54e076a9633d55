import type { Document } from "../../session/document.ts";
import { Changes, type Pane } from "../pane.ts";
import { type DocumentLayout, layoutDocument, type Target } from "../text/document.ts";
import { highlight, type Line, lineText, span } from "../text/line.ts";
import { wrapSpans } from "../text/wrap.ts";

export interface DocumentPaneOptions {
  read(): Promise<Document>;
  ascii: boolean;
  failed(message: string): void;
}

/** A document that scrolls, with a cursor on its lines. Laid out once per width. */
export class DocumentPane implements Pane {
  readonly #options: DocumentPaneOptions;
  readonly #changes = new Changes();
  readonly subscribe = this.#changes.subscribe;
  readonly version = this.#changes.version;
  #document: Document | null = null;
  #layout: (DocumentLayout & { width: number }) | null = null;
  #error: string | null = null;
  #cursor = 0;
  #top = 0;
  #height = 0;
  #search = "";
  #reads = 0;
  #closed = false;

  constructor(options: DocumentPaneOptions) {
    this.#options = options;
    this.refresh();
  }

  /** What the line under the cursor opens or can be acted on, null when nothing. */
  target(): Target | null {
    return this.#layout?.targets[this.#cursor] ?? null;
  }

  lay(width: number, height: number): Line[] {
    this.#height = height;
    if (this.#error !== null) return wrapSpans([span(this.#error, "bad")], width).slice(0, height);
    if (this.#document === null) return [[span("reading …", "faint")]];
    if (this.#layout?.width !== width) {
      this.#layout = { ...layoutDocument(this.#document, Math.max(1, width - 1), this.#options.ascii), width };
    }
    const { lines } = this.#layout;
    this.#cursor = Math.min(Math.max(0, this.#cursor), Math.max(0, lines.length - 1));
    this.#top = Math.min(Math.max(0, this.#top), Math.max(0, lines.length - height));
    if (this.#cursor < this.#top) this.#top = this.#cursor;
    if (this.#cursor >= this.#top + height) this.#top = this.#cursor - height + 1;
    return lines.slice(this.#top, this.#top + height).map((line, row) => {
      const here = this.#top + row === this.#cursor;
      const mark = here ? (this.#options.ascii ? ">" : "❯") : " ";
      return [span(mark, here ? "accent" : "text"), ...(this.#search === "" ? line : highlight(line, this.#search))];
    });
  }

  position(): string {
    const total = this.#layout?.lines.length ?? 0;
    if (total <= this.#height) return "";
    return `${Math.round(((this.#top + this.#height) / total) * 100)}%`;
  }

  move(lines: number): void {
    const last = Math.max(0, (this.#layout?.lines.length ?? 1) - 1);
    this.#cursor = Math.min(Math.max(0, this.#cursor + lines), last);
    this.#show();
  }

  page(parts: number): void {
    const lines = Math.trunc(parts * this.#height) || Math.sign(parts);
    this.#top += lines;
    this.move(lines);
  }

  edge(which: "start" | "end"): void {
    this.#cursor = which === "start" ? 0 : (this.#layout?.lines.length ?? 1) - 1;
    this.#show();
  }

  match(direction: 1 | -1): void {
    const text = this.#search.toLowerCase();
    const lines = this.#layout?.lines ?? [];
    for (let at = this.#cursor + direction; at >= 0 && at < lines.length; at += direction) {
      if (
        !lineText(lines[at] ?? [])
          .toLowerCase()
          .includes(text)
      )
        continue;
      this.#cursor = at;
      this.#show();
      return;
    }
    this.#options.failed(`no ${direction === 1 ? "later" : "earlier"} match of ${this.#search}`);
  }

  search(text: string): void {
    this.#search = text;
    if (text === "") this.#show();
    else this.match(1);
  }

  refresh(): void {
    this.#reads += 1;
    const turn = this.#reads;
    this.#options.read().then(
      (document) => {
        // A later one may have been quicker.
        if (turn !== this.#reads) return;
        this.#document = document;
        this.#layout = null;
        this.#error = null;
        this.#show();
      },
      (error: unknown) => {
        if (turn !== this.#reads) return;
        this.#error = `This cannot be read: ${error instanceof Error ? error.message : String(error)}`;
        this.#show();
      },
    );
  }

  close(): void {
    this.#closed = true;
  }

  #show(): void {
    if (!this.#closed) this.#changes.changed();
  }
}
