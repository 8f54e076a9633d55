import type { Cell, VirtualTerminal } from "../../support/virtual-terminal.ts";

/** Letters for the looks of a frame, in the order in which they first appear. */
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MARKS = ["bold", "dim", "italic", "underline", "inverse", "strikethrough"] as const;

/** A frame in words: what is drawn, how its cells look, and what each look is. */
export interface Frame {
  text: string;
  /** For each row the runs of cells that look alike, as a letter and a count (`a4 b12`); `.` is the terminal's own look. */
  looks: string;
  /** `a = #8ab4f8 bold` */
  legend: string;
}

export function frameOf(terminal: VirtualTerminal): Frame {
  const letters = new Map<string, string>([["", "."]]);
  const letterOf = (look: string): string => {
    const letter = letters.get(look) ?? LETTERS.charAt(letters.size - 1);
    letters.set(look, letter);
    return letter;
  };
  const rows: string[] = [];
  for (let y = 0; y < terminal.rows; y += 1) {
    const runs: { letter: string; cells: number }[] = [];
    for (let x = 0; x < terminal.cols; x += 1) {
      const look = lookOf(terminal.cell(x, y));
      const last = runs.at(-1);
      // A blank that nothing is drawn behind looks like whatever stands before it.
      const letter = look === null ? (last?.letter ?? ".") : letterOf(look);
      if (last?.letter === letter) last.cells += 1;
      else runs.push({ letter, cells: 1 });
    }
    rows.push(`${runs.map(({ letter, cells }) => `${letter}${cells}`).join(" ")}\n`);
  }
  letters.delete("");
  return {
    text: terminal
      .lines()
      .map((line) => `|${line}\n`)
      .join(""),
    looks: rows.join(""),
    legend: [...letters].map(([look, letter]) => `${letter} = ${look}\n`).join(""),
  };
}

/** null: nothing can be seen of it. */
function lookOf(cell: Cell): string | null {
  const seen = cell.bg !== null || cell.inverse || cell.underline || cell.strikethrough;
  if (cell.text.trim() === "" && !seen) return null;
  const marks = MARKS.filter((mark) => cell[mark]);
  return [cell.fg ?? "", cell.bg === null ? "" : `on ${cell.bg}`, ...marks].filter((part) => part !== "").join(" ");
}
