import { CannotOpen, openRegular } from "../../files/open.ts";
import { type Fields, fieldsOf } from "./record.ts";

const MOST_BYTES = 1024 * 1024;

/** A small JSON file beside the transcripts as an object; null when it is gone, too big, half written or something else. */
export function readSmallJson(path: string): Fields | null {
  const text = readSmallText(path, MOST_BYTES);
  if (text === null) return null;
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A small text file, null when it is gone, no regular file or bigger than `most` bytes. */
export function readSmallText(path: string, most: number): string | null {
  try {
    using file = openRegular(path);
    return file.size > most ? null : file.read(0, file.size).toString("utf8");
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}
