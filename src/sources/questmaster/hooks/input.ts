import type { Readable } from "node:stream";

/** What is read of a hook's input: more is never needed, and would only cost its agent time. */
export const MOST_INPUT_BYTES = 64 * 1024;

/**
 * Longest silence on an input that nobody closes, ms. Agents close theirs at once, which ends the wait; on a busy
 * machine they may be late, and what comes behind the silence is lost. They kill a hook only after 5 s (questmaster.md §9).
 */
const SILENCE_MS = 1000;

/**
 * At most 64 KiB of an agent's input as text; empty at once when it is a terminal. Waits no longer than until the input
 * is closed or the JSON in it is whole, never for long, and never fails.
 */
export function readInput(input: Readable & { isTTY?: boolean }): Promise<string> {
  if (input.isTTY) return Promise.resolve("");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let timer: NodeJS.Timeout;
    const text = (): string => Buffer.concat(chunks).subarray(0, MOST_INPUT_BYTES).toString("utf8");
    const end = (): void => {
      clearTimeout(timer);
      input.removeAllListeners("data");
      // An agent that keeps its end open must not keep us running.
      input.destroy();
      resolve(text());
    };
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
    };
    timer = setTimeout(end, SILENCE_MS);
    input.on("data", (chunk: Buffer | string) => {
      const piece = Buffer.from(chunk);
      chunks.push(piece);
      bytes += piece.length;
      if (bytes >= MOST_INPUT_BYTES || isWholeObject(text())) end();
      else wait();
    });
    input.once("end", end);
    input.once("error", end);
  });
}

/** Nothing can follow a JSON object but white space, so that there is no more to wait for. */
function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
