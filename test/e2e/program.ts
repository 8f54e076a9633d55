import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BEGINNING, finished, turn, writeSession } from "../support/state-writer.ts";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";

const BUILT = fileURLToPath(new URL("../../dist/forktail.js", import.meta.url));

/** The built program over sessions of its own, with a home, a memory and a PATH of its own. */
export interface Program {
  argv: [string, ...string[]];
  env: Record<string, string>;
  sessions: string;
  /** Where the fake `mainplane` writes down how it was called. */
  calls: string;
}

/**
 * Three sessions, newest first: `aaaaaaaa` of 20 turns, `bbbbbbbb` and `cccccccc` of one. With a fake `mainplane` on PATH that
 * says how it was called and waits for Enter.
 */
export function program(...args: string[]): Program {
  if (!existsSync(BUILT)) throw new Error("there is no dist/forktail.js: npm run build makes it");
  const home = temporaryDirectory();
  const sessions = join(home, "sessions");
  const long = Array.from({ length: 20 }, (_, n) => turn(3 + n * 3, `question ${n + 1}`, `answer ${n + 1}`)).flat();
  writeSession(sessions, "aaaaaaaa", [...BEGINNING, ...long], 3600);
  writeSession(sessions, "bbbbbbbb", finished("Reindex the archive", "It is reindexed."), 7200);
  writeSession(sessions, "cccccccc", finished("Run the linter", "No problems."), 10_800);
  const bin = makeDirectory(home, "bin");
  const calls = join(home, "calls");
  // The trap comes first: who sees the greeting may press Ctrl-C at once.
  const fake = ["#!/bin/sh", `echo "$*" >> '${calls}'`, "trap 'echo interrupted' INT", 'echo "mainplane here: $*"'];
  writeFileSync(
    join(bin, "mainplane"),
    [...fake, "until read answer; do :; done", 'echo "heard $answer"', ""].join("\n"),
  );
  chmodSync(join(bin, "mainplane"), 0o755);
  return {
    argv: [process.execPath, BUILT, "--root", `statefile=${sessions}`, ...args],
    env: {
      HOME: home,
      FORKTAIL_STATE_DIR: join(home, "memory"),
      PATH: `${bin}:/usr/bin:/bin`,
      LANG: "C.UTF-8",
      COLORTERM: "truecolor",
      TZ: "UTC",
    },
    sessions,
    calls,
  };
}
