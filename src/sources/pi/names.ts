import type { PiFile } from "./file.ts";

const MOST_NAME = 200;

/** Index of a provider's or model's name in the file's table. */
export function nameIndex(file: PiFile, name: string): number {
  const cut = name.slice(0, MOST_NAME);
  const at = file.names.indexOf(cut);
  return at >= 0 ? at : file.names.push(cut) - 1;
}

export function nameAt(file: PiFile, index: number): string | null {
  return file.names[index] ?? null;
}
