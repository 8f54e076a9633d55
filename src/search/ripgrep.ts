import { spawn } from "node:child_process";
import { lstatSync } from "node:fs";

const TIMEOUT_MS = 30_000;
const MOST_ANSWER = 64 * 1024 * 1024;

/** No configuration, no ignore files, no guess at encodings or binary files: every byte of every file that is named. */
const OPTIONS = [
  "--no-config",
  "--no-ignore",
  "--hidden",
  "--no-messages",
  "--text",
  "--encoding=none",
  "--color=never",
  "--files-with-matches",
  "--fixed-strings",
  "--ignore-case",
  "--null",
];

/**
 * The files that hold one of the texts, by ripgrep. null when its answer cannot be relied on: it failed, was not in
 * time, or could not read a file. Links and special files are not handed to it; they are left out of the answer.
 */
export function ripgrep(
  program: string,
  texts: readonly string[],
  files: readonly string[],
  signal: AbortSignal,
): Promise<string[] | null> {
  const regular = files.filter(isRegular);
  if (regular.length === 0) return Promise.resolve([]);
  const args = [...OPTIONS, ...texts.flatMap((text) => ["-e", text]), "--", ...regular];
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], timeout: TIMEOUT_MS, signal });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_ANSWER) child.kill();
      else chunks.push(chunk);
    });
    child.on("error", () => resolve(null));
    child.on("close", (code) => {
      // 1: nothing found. Everything else is no answer.
      if (code !== 0 && code !== 1) return resolve(null);
      const named = Buffer.concat(chunks).toString().split("\0");
      const asked = new Set(regular);
      const passing = named.filter((name) => name !== "");
      resolve(passing.every((name) => asked.has(name)) ? passing : null);
    });
  });
}

function isRegular(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
