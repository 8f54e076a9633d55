/** The sizes every feature is used at: a narrow pane, a plain terminal, a wide screen. */
export const SIZES = [
  { cols: 40, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 160, rows: 50 },
] as const;

/** What is on the screen as one text, however it was broken into rows. */
export function words(lines: readonly string[]): string {
  return lines.join(" ").replace(/\s+/gu, " ");
}
