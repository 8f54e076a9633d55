import { openRegular } from "../../files/open.ts";

/** Larger than any manifest or state.json that a program writes. */
const MOST_BYTES = 4 * 1024 * 1024;

export class TooLarge extends Error {
  override name = "TooLarge";
}

/** The text of one of questmaster's whole files. Throws `CannotOpen`, or `TooLarge` before anything is allocated. */
export function readSmallFile(path: string): { text: string; mtimeMs: number; size: number } {
  using file = openRegular(path);
  if (file.size > MOST_BYTES) throw new TooLarge(`larger than ${MOST_BYTES} bytes: not read`);
  return { text: file.read(0, file.size).toString("utf8"), mtimeMs: file.stat.mtimeMs, size: file.size };
}
