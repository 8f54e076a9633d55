import { lstatSync } from "node:fs";
import { join } from "node:path";
import { numberField } from "../jsonl/record.ts";
import { readSmallJson } from "../jsonl/small-json.ts";
import type { Root } from "../source.ts";

const USUAL_DAYS = 30;
const DAY = 86_400_000;

/**
 * How long Claude Code keeps transcripts that nobody writes to: `cleanupPeriodDays` of a root's settings (agents.md §1.1).
 * Of the settings only that number is kept: they may hold secrets.
 */
export class Retention {
  readonly #roots: readonly Root[];
  readonly #days = new Map<string, { mark: string; days: number }>();

  constructor(roots: readonly Root[]) {
    this.#roots = roots;
  }

  /** Reads the settings that were written to since the last time; says whether a root's number is another one now. */
  refresh(): boolean {
    let changed = false;
    for (const { path: root } of this.#roots) {
      const path = join(root, "settings.json");
      const stat = lstatSync(path, { throwIfNoEntry: false });
      const mark = stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
      const before = this.#days.get(root);
      if (before?.mark === mark) continue;
      const days = mark === "" ? USUAL_DAYS : daysIn(path);
      changed ||= before?.days !== days;
      this.#days.set(root, { mark, days });
    }
    return changed;
  }

  /** When a transcript that was last written to at `mtimeMs` may be deleted, ISO; null when that is no date. */
  expiresAt(root: string, mtimeMs: number): string | null {
    const at = mtimeMs + (this.#days.get(root)?.days ?? USUAL_DAYS) * DAY;
    return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : null;
  }
}

function daysIn(settings: string): number {
  const days = numberField(readSmallJson(settings), "cleanupPeriodDays");
  return days === null || days < 0 ? USUAL_DAYS : days;
}
