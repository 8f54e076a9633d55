import type { FileFold } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { parseStateEvent } from "./events.ts";

/** Is a state.jsonl whole? Kept for every session, so it holds no event. */
export interface LogHealth {
  lines: number;
  /** 1-based numbers of the first lines that are no event. */
  badLines: number[];
  tailBytes: number;
}

const MOST_NAMED = 20;
const MOST_LINE_BYTES = 256 * 1024;

/** A log longer than this is only read when somebody opens its events. */
export const MOST_HEALTH_BYTES = 128 * 1024;

export const logHealthFold: FileFold<LogHealth> = {
  name: "questmaster/log-health",
  version: 1,
  initial: () => ({ lines: 0, badLines: [], tailBytes: 0 }),
  *advance(health, bytes, from) {
    health.tailBytes = 0;
    const bad = (): void => {
      if (health.badLines.length < MOST_NAMED) health.badLines.push(health.lines);
    };
    const walk = {
      line(line: Buffer): void {
        health.lines += 1;
        const text = line.toString("utf8");
        if (text.trim() !== "" && parseStateEvent(text) === null) bad();
      },
      oversize(): void {
        health.lines += 1;
        bad();
      },
      tail(rest: Buffer): void {
        health.tailBytes = rest.length;
      },
    };
    return yield* walkLines(bytes, from, walk, MOST_LINE_BYTES);
  },
};
