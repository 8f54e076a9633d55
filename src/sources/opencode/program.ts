import { basename } from "node:path";
import type { Process } from "../../probe/processes.ts";
import type { Program } from "../by-process/seats.ts";

const NAME = /^opencode2?$/u;

/** OpenCode's title is `opencode`, version 2's may be `opencode2` (agents.md §4.4). */
export const opencodeProgram: Program = {
  isProgram(process) {
    if (NAME.test(process.comm)) return true;
    const [program, script] = process.argv;
    if (program !== undefined && NAME.test(basename(program))) return true;
    return script !== undefined && NAME.test(basename(script));
  },
  named({ argv }, seats) {
    const id = sessionOf(argv);
    if (id === null) return null;
    // A fork goes on under an id nobody has seen yet.
    return seats.has(id) && !argv.includes("--fork") ? { id } : "other";
  },
  stores: (process) => (programName(process) === "opencode2" ? "v2" : null),
};

function programName({ comm, argv }: Process): string {
  return NAME.test(comm) ? comm : basename(argv[0] ?? "");
}

function sessionOf(argv: readonly string[]): string | null {
  for (const [i, arg] of argv.entries()) {
    if (arg === "-s" || arg === "--session") return argv[i + 1] ?? null;
    const joined = /^--session=(.+)$/su.exec(arg)?.[1];
    if (joined !== undefined) return joined;
  }
  return null;
}
