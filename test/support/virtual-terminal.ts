import { createRequire } from "node:module";
import { modernWidths } from "./unicode-widths.ts";

// The package's types promise a named export that its CommonJS build hides from `import`.
const xterm: typeof import("@xterm/headless") = createRequire(import.meta.url)("@xterm/headless");

/** Ink puts every frame between this mode's beginning and end. */
const BEGIN_SYNCHRONIZED_UPDATE = 2026;

/** One cell as it would be drawn. A wide character fills two: the second has width 0 and no text. */
export interface Cell {
  text: string;
  width: number;
  /** `#rrggbb`, a palette number 0–255, or null for the terminal's own. */
  fg: string | number | null;
  bg: string | number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  strikethrough: boolean;
  hidden: boolean;
}

/** A terminal without a window: bytes in, exact cells out. Notices output that does not fit the screen. */
export class VirtualTerminal {
  readonly terminal: InstanceType<typeof xterm.Terminal>;
  /** Bytes written to it so far. */
  bytes = 0;
  #scrolled = 0;
  #resized = false;

  /** `lineDiscipline`: put a CR before each LF, which the kernel does on a real terminal and nobody does without one. */
  constructor(cols: number, rows: number, { lineDiscipline = false } = {}) {
    this.terminal = new xterm.Terminal({
      cols,
      rows,
      allowProposedApi: true,
      scrollback: 1000,
      convertEol: lineDiscipline,
    });
    this.terminal.unicode.register(modernWidths);
    this.terminal.unicode.activeVersion = modernWidths.version;
    this.terminal.onScroll(() => {
      if (this.alternate) this.#scrolled += 1;
    });
    // Entering the alternate screen reports a scroll too, just before the change.
    this.terminal.buffer.onBufferChange(() => {
      this.#scrolled = 0;
    });
    this.terminal.parser.registerCsiHandler({ prefix: "?", final: "h" }, (modes) => {
      if (this.#resized && modes.includes(BEGIN_SYNCHRONIZED_UPDATE)) this.#scrolled = 0;
      return false;
    });
  }

  get cols(): number {
    return this.terminal.cols;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  /** Is the alternate screen shown, the one that full-screen programs draw on? */
  get alternate(): boolean {
    return this.terminal.buffer.active.type === "alternate";
  }

  /** Did the program ask to have pasted text marked? */
  get bracketedPaste(): boolean {
    return this.terminal.modes.bracketedPasteMode;
  }

  /** Resolves when the bytes are on the screen. */
  write(data: string | Uint8Array): Promise<void> {
    this.bytes += typeof data === "string" ? Buffer.byteLength(data) : data.length;
    return new Promise((resolve) => this.terminal.write(data, resolve));
  }

  resize(cols: number, rows: number): void {
    this.#resized = true;
    this.terminal.resize(cols, rows);
  }

  /** The visible lines, without the blanks at their ends. */
  lines(): string[] {
    const { active } = this.terminal.buffer;
    return Array.from(
      { length: this.rows },
      (_, y) =>
        active
          .getLine(active.baseY + y)
          ?.translateToString(true)
          .trimEnd() ?? "",
    );
  }

  text(): string {
    return this.lines().join("\n");
  }

  /** Zero-based. Throws outside the screen. */
  cell(x: number, y: number): Cell {
    const { active } = this.terminal.buffer;
    const cell = active.getLine(active.baseY + y)?.getCell(x);
    if (cell === undefined) throw new Error(`no cell ${x},${y} on a screen of ${this.cols}×${this.rows}`);
    return {
      text: cell.getChars(),
      width: cell.getWidth(),
      fg: cell.isFgDefault() ? null : cell.isFgRGB() ? hex(cell.getFgColor()) : cell.getFgColor(),
      bg: cell.isBgDefault() ? null : cell.isBgRGB() ? hex(cell.getBgColor()) : cell.getBgColor(),
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      italic: cell.isItalic() !== 0,
      underline: cell.isUnderline() !== 0,
      inverse: cell.isInverse() !== 0,
      strikethrough: cell.isStrikethrough() !== 0,
      hidden: cell.isInvisible() !== 0,
    };
  }

  /** The first cell of a text on the screen, null when it is not there. */
  find(text: string): { x: number; y: number } | null {
    for (const [y, line] of this.lines().entries()) {
      const at = line.indexOf(text);
      if (at >= 0) return { x: this.#column(y, at), y };
    }
    return null;
  }

  /** Column of a position in a line's text: wide characters take two columns, emoji two code units. */
  #column(y: number, at: number): number {
    let seen = 0;
    for (let x = 0; x < this.cols; x += 1) {
      if (seen >= at && this.cell(x, y).width > 0) return x;
      seen += this.cell(x, y).width === 0 ? 0 : Math.max(1, this.cell(x, y).text.length);
    }
    return this.cols - 1;
  }

  /**
   * What on the alternate screen was larger than the screen, in words; null when everything fitted. After a resize only
   * the last frame counts, because Ink draws the old layout once more before the program hears of the new size.
   */
  misfit(): string | null {
    this.#resized = false;
    if (!this.alternate) return null;
    if (this.#scrolled > 0) return `a frame was taller than ${this.rows} rows: the alternate screen scrolled`;
    const { active } = this.terminal.buffer;
    for (let y = 0; y < this.rows; y += 1) {
      if (active.getLine(active.baseY + y)?.isWrapped)
        return `a line was wider than ${this.cols} columns: row ${y} wrapped`;
    }
    return null;
  }

  /** The screen with a frame around it, for messages of failing tests. */
  framed(): string {
    const bar = "─".repeat(this.cols);
    const { active } = this.terminal.buffer;
    const body = this.lines().map((_, y) => `│${active.getLine(active.baseY + y)?.translateToString(false) ?? ""}│`);
    return [`┌${bar}┐`, ...body, `└${bar}┘`].join("\n");
  }

  dispose(): void {
    this.terminal.dispose();
  }
}

function hex(color: number): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}
