import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import type { Cell, VirtualTerminal } from "./virtual-terminal.ts";

/** Colours of a terminal: its own two, its cursor-less frame, and the sixteen that programs call by number. */
export interface Palette {
  background: string;
  foreground: string;
  frame: string;
  /** Around the window. */
  page: string;
  ansi: readonly string[];
}

export const DARK: Palette = {
  background: "#16181d",
  foreground: "#d6dae2",
  frame: "#2b2f38",
  page: "none",
  ansi: [
    ...["#2b303b", "#f0616d", "#7fc77f", "#e5b567", "#6ca8f0", "#c792ea", "#5fc9c9", "#c5cad3"],
    ...["#69707d", "#ff7b86", "#98dd98", "#f5cb84", "#8cbefb", "#d9adf5", "#80dede", "#ffffff"],
  ],
};

export const LIGHT: Palette = {
  background: "#fbfbf9",
  foreground: "#2a2e37",
  frame: "#d8d9d4",
  page: "none",
  ansi: [
    ...["#2a2e37", "#c4313f", "#2c7d32", "#976300", "#1f63b8", "#8338a8", "#10757a", "#8f949d"],
    ...["#6d737e", "#d9404e", "#388e3c", "#ab7300", "#2f74cb", "#964abb", "#168489", "#ffffff"],
  ],
};

const CELL = { width: 8.43, height: 17.6, font: 14, baseline: 13.2 };
const PADDING = 14;
const BAR = 30;
const RADIUS = 9;

export interface PictureOptions {
  palette?: Palette;
  title?: string;
}

/** A drawing of a screen as it is now: a window with a frame, and every cell at its place. */
export function svgOf(terminal: VirtualTerminal, { palette = DARK, title = "" }: PictureOptions = {}): string {
  const inner = { width: terminal.cols * CELL.width, height: terminal.rows * CELL.height };
  const width = Math.ceil(inner.width + 2 * PADDING);
  const height = Math.ceil(inner.height + BAR + PADDING);
  const backs: string[] = [];
  const texts: string[] = [];
  for (let y = 0; y < terminal.rows; y += 1) {
    for (const run of runsOf(terminal, y)) draw(run, y, palette, backs, texts);
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    palette.page === "none" ? "" : `<rect width="${width}" height="${height}" fill="${palette.page}"/>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="${RADIUS}" fill="${palette.background}" stroke="${palette.frame}"/>`,
    ...["#ee6a5f", "#f5bd4f", "#61c454"].map(
      (fill, i) => `<circle cx="${PADDING + 6 + i * 18}" cy="${BAR / 2}" r="5" fill="${fill}"/>`,
    ),
    `<text x="${width / 2}" y="${BAR / 2 + 4}" text-anchor="middle" font-family="DejaVu Sans, sans-serif" font-size="11.5" fill="${palette.ansi[8]}">${escaped(title)}</text>`,
    `<g transform="translate(${PADDING} ${BAR})" font-family="DejaVu Sans Mono, Noto Sans Mono CJK JP, WenQuanYi Micro Hei Mono, Symbola, monospace" font-size="${CELL.font}" xml:space="preserve">`,
    // Backgrounds touch each other exactly; anti-aliased edges would draw hairlines between them.
    `<g shape-rendering="crispEdges">${backs.join("")}</g>`,
    ...texts,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** The drawing as a PNG. `zoom` 2 is sharp on dense screens. */
export function pngOf(svg: string, zoom = 2): Buffer {
  const picture = new Resvg(svg, {
    fitTo: { mode: "zoom", value: zoom },
    font: {
      fontFiles: fontFiles(),
      loadSystemFonts: true,
      defaultFontFamily: "DejaVu Sans Mono",
      monospaceFamily: "DejaVu Sans Mono",
    },
  });
  return picture.render().asPng();
}

function fontFiles(): string[] {
  const folder = join(dirname(createRequire(import.meta.url).resolve("dejavu-fonts-ttf/package.json")), "ttf");
  return readdirSync(folder)
    .filter((name) => /^DejaVuSans(Mono)?(-Bold|-Oblique|-BoldOblique)?\.ttf$/u.test(name))
    .map((name) => join(folder, name));
}

interface Run {
  x: number;
  cells: number;
  text: string;
  style: Cell;
}

/** Neighbours that look alike, together. A wide character and each part of a drawing stand alone, so that they stay in their cells. */
function runsOf(terminal: VirtualTerminal, y: number): Run[] {
  const runs: Run[] = [];
  for (let x = 0; x < terminal.cols; x += 1) {
    const cell = terminal.cell(x, y);
    if (cell.width === 0) continue;
    const text = cell.text === "" ? " " : cell.text;
    const last = runs.at(-1);
    const joins =
      last !== undefined && last.x + last.cells === x && isPlain(text) && isPlain(last.text) && alike(last.style, cell);
    if (joins) {
      last.text += text;
      last.cells += 1;
    } else runs.push({ x, cells: cell.width, text, style: cell });
  }
  return runs;
}

function isPlain(text: string): boolean {
  return /^[\u0020-\u007e]+$/u.test(text);
}

const LOOKS = ["fg", "bg", "bold", "dim", "italic", "underline", "inverse", "strikethrough", "hidden"] as const;

function alike(a: Cell, b: Cell): boolean {
  return LOOKS.every((look) => a[look] === b[look]);
}

function draw({ x, cells, text, style }: Run, y: number, palette: Palette, backs: string[], texts: string[]): void {
  const own = { fg: colour(style.fg, palette, style.bold) ?? palette.foreground, bg: colour(style.bg, palette, false) };
  const [fg, bg] = style.inverse ? [own.bg ?? palette.background, own.fg] : [own.fg, own.bg];
  const left = round(x * CELL.width);
  const top = round(y * CELL.height);
  const width = round(cells * CELL.width);
  if (bg !== null) backs.push(`<rect x="${left}" y="${top}" width="${width}" height="${CELL.height}" fill="${bg}"/>`);
  if (style.hidden) return;
  const faint = style.dim ? ' opacity="0.6"' : "";
  const shape = blockShape(text, left, top);
  if (shape !== null) {
    texts.push(
      `<path d="${shape.path}" ${shape.stroke ? `stroke="${fg}" fill="none" stroke-width="1.2"` : `fill="${fg}" shape-rendering="crispEdges"`}${faint}/>`,
    );
    return;
  }
  if (text.trim() === "" && !style.underline && !style.strikethrough) return;
  const marks = [style.underline ? "underline" : "", style.strikethrough ? "line-through" : ""].filter(Boolean);
  const shown = marks.length === 0 && isPlain(text) ? text.trimEnd() : text;
  const attributes = [
    `x="${left}" y="${round(top + CELL.baseline)}" fill="${fg}"`,
    // The font's advance is not exactly a cell; long runs would drift.
    isPlain(shown) && shown.length > 1 ? ` textLength="${round(shown.length * CELL.width)}"` : "",
    style.bold ? ' font-weight="bold"' : "",
    style.italic ? ' font-style="italic"' : "",
    marks.length === 0 ? "" : ` text-decoration="${marks.join(" ")}"`,
    faint,
  ];
  texts.push(`<text ${attributes.join("")}>${escaped(shown)}</text>`);
}

/** Lines, corners and blocks as shapes: glyphs of a font leave gaps between rows. null for everything else. */
function blockShape(text: string, left: number, top: number): { path: string; stroke: boolean } | null {
  const { width: w, height: h } = CELL;
  const [cx, cy] = [round(left + w / 2), round(top + h / 2)];
  const [right, bottom] = [round(left + w), round(top + h)];
  const r = 4;
  const lines: Record<string, string> = {
    "─": `M${left} ${cy}H${right}`,
    "│": `M${cx} ${top}V${bottom}`,
    "┌": `M${right} ${cy}H${cx}V${bottom}`,
    "┐": `M${left} ${cy}H${cx}V${bottom}`,
    "└": `M${right} ${cy}H${cx}V${top}`,
    "┘": `M${left} ${cy}H${cx}V${top}`,
    "╭": `M${right} ${cy}H${cx + r}Q${cx} ${cy} ${cx} ${cy + r}V${bottom}`,
    "╮": `M${left} ${cy}H${cx - r}Q${cx} ${cy} ${cx} ${cy + r}V${bottom}`,
    "╰": `M${right} ${cy}H${cx + r}Q${cx} ${cy} ${cx} ${cy - r}V${top}`,
    "╯": `M${left} ${cy}H${cx - r}Q${cx} ${cy} ${cx} ${cy - r}V${top}`,
    "├": `M${cx} ${top}V${bottom}M${cx} ${cy}H${right}`,
    "┤": `M${cx} ${top}V${bottom}M${cx} ${cy}H${left}`,
    "┬": `M${left} ${cy}H${right}M${cx} ${cy}V${bottom}`,
    "┴": `M${left} ${cy}H${right}M${cx} ${cy}V${top}`,
    "┼": `M${left} ${cy}H${right}M${cx} ${top}V${bottom}`,
  };
  const line = lines[text];
  if (line !== undefined) return { path: line, stroke: true };
  const code = text.codePointAt(0) ?? 0;
  const box = (x: number, y: number, width: number, height: number) => ({
    path: `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`,
    stroke: false,
  });
  if (text === "▀") return box(left, top, w, h / 2);
  if (text === "▐") return box(left + w / 2, top, w / 2, h);
  if (code >= 0x2581 && code <= 0x2588)
    return box(left, top + h * (1 - (code - 0x2580) / 8), w, (h * (code - 0x2580)) / 8);
  if (code >= 0x2589 && code <= 0x258f) return box(left, top, (w * (0x2590 - code)) / 8, h);
  return null;
}

/** `#rrggbb` of a cell's colour, null for the terminal's own. The 256 are xterm's. */
function colour(of: string | number | null, palette: Palette, bold: boolean): string | null {
  if (of === null || typeof of === "string") return of;
  if (of < 16) return palette.ansi[bold && of < 8 ? of + 8 : of] ?? null;
  if (of >= 232) return hex(Array(3).fill(8 + (of - 232) * 10));
  const cube = of - 16;
  return hex(
    [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => (part === 0 ? 0 : 55 + part * 40)),
  );
}

function hex(parts: number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
