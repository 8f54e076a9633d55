import { ASCII_ELLIPSIS, ELLIPSIS } from "./width.ts";

/** The few signs of our own that layouts draw, all one column wide. */
export interface Glyphs {
  /** Beside what the person wrote. */
  bar: string;
  /** Beside what the tool wrote in the person's place. */
  injectedBar: string;
  /** Before a call and before its result. */
  call: string;
  result: string;
  ok: string;
  bad: string;
  waiting: string;
  folded: string;
  opened: string;
  thinking: string;
  step: string;
  marker: string;
  /** In the margin of what the model does not see. */
  outside: string;
  ellipsis: string;
  bullet: string;
  checked: string;
  unchecked: string;
  /** Beside code and quotations; `corner` begins a block of code. */
  gutter: string;
  corner: string;
  quote: string;
  rule: string;
  cross: string;
  dot: string;
  filled: string;
  hollow: string;
  branch: string;
  lastBranch: string;
  trunk: string;
}

const UNICODE: Glyphs = {
  bar: "▌",
  injectedBar: "▏",
  call: "→",
  result: "└",
  ok: "✓",
  bad: "✗",
  waiting: "◌",
  folded: "▸",
  opened: "▾",
  thinking: "∴",
  step: "·",
  marker: "◦",
  outside: "┊",
  ellipsis: ELLIPSIS,
  bullet: "•",
  checked: "☑",
  unchecked: "☐",
  gutter: "│",
  corner: "┌",
  quote: "▎",
  rule: "─",
  cross: "┼",
  dot: "·",
  filled: "█",
  hollow: "░",
  branch: "├",
  lastBranch: "└",
  trunk: "│",
};

const ASCII: Glyphs = {
  bar: "|",
  injectedBar: ":",
  call: ">",
  result: "\\",
  ok: "+",
  bad: "x",
  waiting: "~",
  folded: "+",
  opened: "-",
  thinking: "?",
  step: ".",
  marker: "*",
  outside: "!",
  ellipsis: ASCII_ELLIPSIS,
  bullet: "*",
  checked: "x",
  unchecked: "o",
  gutter: "|",
  corner: "|",
  quote: ">",
  rule: "-",
  cross: "+",
  dot: ".",
  filled: "#",
  hollow: "-",
  branch: "|",
  lastBranch: "`",
  trunk: "|",
};

export function glyphs(ascii: boolean): Glyphs {
  return ascii ? ASCII : UNICODE;
}
