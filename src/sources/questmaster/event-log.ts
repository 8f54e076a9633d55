import type { FileFold } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { parseStateEvent, type StateEvent } from "./events.ts";

/** Events kept of one log file: a log that its writer rotates holds about four thousand short ones. */
const MOST_EVENTS = 6000;

/** A line longer than this is no event. */
const MOST_LINE_BYTES = 256 * 1024;

/** What is read of a state.jsonl. Plain data. */
export interface EventLog {
  /** The newest ones, oldest first. */
  events: StateEvent[];
  /** All events of the file. */
  count: number;
  badLines: number;
  blankLines: number;
  /** Bytes behind the last LF: an event being written, or a torn end. */
  tailBytes: number;
}

/** Reads state.jsonl: blank and foreign lines are counted and passed over, an unfinished last line is held back (questmaster.md §7). */
export const eventLogFold: FileFold<EventLog> = {
  name: "questmaster/state.jsonl",
  version: 1,
  initial: () => ({ events: [], count: 0, badLines: 0, blankLines: 0, tailBytes: 0 }),
  *advance(log, bytes, from) {
    log.tailBytes = 0;
    const walk = {
      line(line: Buffer): void {
        const text = line.toString("utf8");
        if (text.trim() === "") {
          log.blankLines += 1;
          return;
        }
        const event = parseStateEvent(text);
        if (event === null) {
          log.badLines += 1;
          return;
        }
        log.count += 1;
        log.events.push(event);
        if (log.events.length > MOST_EVENTS + 1000) log.events.splice(0, log.events.length - MOST_EVENTS);
      },
      oversize(): void {
        log.badLines += 1;
      },
      tail(rest: Buffer): void {
        log.tailBytes = rest.length;
      },
    };
    return yield* walkLines(bytes, from, walk, MOST_LINE_BYTES);
  },
};
