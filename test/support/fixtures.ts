import { cpSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "./temp.ts";

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), "..", "fixtures");

/** Path of a fixture, to read only. Anything that writes works on a copy. */
export function fixture(...parts: string[]): string {
  return join(FIXTURES, ...parts);
}

export function readFixture<T>(...parts: string[]): T {
  return JSON.parse(readFileSync(fixture(...parts), "utf8")) as T;
}

/** A copy of a fixture tree that is gone when the test is over. */
export function copyOfFixture(...parts: string[]): string {
  const to = join(temporaryDirectory(), "copy");
  cpSync(fixture(...parts), to, { recursive: true, verbatimSymlinks: true });
  return to;
}
