import { isStale, type KnownCounts, readCounts } from "../memory/counts-file.ts";
import { stateDirectory } from "../memory/state-directory.ts";
import { now } from "../probe/clock.ts";
import { countedStatuses, countsLine } from "../session/counts.ts";
import { STATUS_NAMES, STATUSES, type StatusTone } from "../session/status.ts";

export interface StatusOptions {
  json?: boolean;
  format?: "tmux" | "plain";
  ascii?: boolean;
}

/**
 * `forktail status [--json] [--format tmux|plain] [--ascii]`: one short line for a status bar, from what a running forktail
 * keeps in its state directory. Asked every few seconds, so nothing here may import a reader. Always 0.
 */
export async function status(options: StatusOptions): Promise<number> {
  const known = readCounts(stateDirectory(process.env));
  const at = now();
  const text = options.json ? statusJson(known, at) : statusLine(known, at, options);
  process.stdout.write(`${text}\n`);
  return 0;
}

/** `▲2 ✗1 ●3 ✓1`, with `?` after it when nobody has kept it fresh; empty when nothing is known. */
export function statusLine(known: KnownCounts | null, at: number, options: StatusOptions): string {
  if (known === null) return "";
  const line = options.format === "tmux" ? tmuxLine(known, options) : countsLine(known.counts, options);
  return isStale(known, at) ? `${line}?` : line;
}

/** What each tone is in a tmux status bar: names of the 16 colours, which every theme of a terminal keeps readable. */
const TMUX_STYLES: Partial<Record<StatusTone, string>> = {
  alert: "fg=red,bold",
  error: "fg=red",
  active: "fg=yellow",
  good: "fg=green",
};

function tmuxLine({ counts }: KnownCounts, { ascii }: StatusOptions): string {
  return countedStatuses(counts)
    .map(({ status: name, count }) => {
      const { glyph, ascii: letter, tone } = STATUSES[name];
      const text = `${ascii ? letter : glyph}${count}`;
      const style = TMUX_STYLES[tone];
      return style === undefined ? text : `#[${style}]${text}#[default]`;
    })
    .join(" ");
}

function statusJson(known: KnownCounts | null, at: number): string {
  const counts = Object.fromEntries(STATUS_NAMES.map((name) => [name, known?.counts[name] ?? 0]));
  return JSON.stringify({
    schema: 1,
    at: known === null ? null : new Date(known.at).toISOString(),
    stale: known === null || isStale(known, at),
    counts: known === null ? null : counts,
  });
}
