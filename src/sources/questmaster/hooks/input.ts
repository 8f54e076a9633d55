import type { Readable } from "node:stream";

/** What is read of a hook's input: more is never needed, and would only cost its agent time. */
export const MOST_INPUT_BYTES = 64 * 1024;

/** Longest silence on an input that nobody closes, ms. */
const SILENCE_MS = 80;

/** At most 64 KiB of an agent's input as text; empty at once when it is a terminal. Never waits for long, never fails. */
export function readInput(input: Readable & { isTTY?: boolean }): Promise<string> {
  if (input.isTTY) return Promise.resolve("");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let timer: NodeJS.Timeout;
    const end = (): void => {
      clearTimeout(timer);
      input.removeAllListeners("data");
      // An agent that keeps its end open must not keep us running.
      input.destroy();
      resolve(Buffer.concat(chunks).subarray(0, MOST_INPUT_BYTES).toString("utf8"));
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
      if (bytes >= MOST_INPUT_BYTES) end();
      else wait();
    });
    input.once("end", end);
    input.once("error", end);
  });
}
