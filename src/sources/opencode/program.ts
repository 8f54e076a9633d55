import { basename } from "node:path";
import { argvOption } from "../../probe/argv-option.ts";
import type { Process } from "../../probe/processes.ts";
import type { Program } from "../by-process/seats.ts";

const NAME = /^opencode2?$/u;
/** What runs a script under its name; an editor with a file of that name is no agent. */
const RUNTIME = /^(?:node|bun|deno)(?:js)?(?:[-.\d]*)$/u;

/** OpenCode's title is `opencode`, version 2's may be `opencode2` (agents.md §4.4). */
export const opencodeProgram: Program = {
  isProgram(process) {
    if (NAME.test(process.comm)) return true;
    const [program, ...rest] = process.argv;
    if (program === undefined) return false;
    if (NAME.test(basename(program))) return true;
    const script = rest.find((arg) => !arg.startsWith("-"));
    return RUNTIME.test(basename(program)) && script !== undefined && NAME.test(basename(script));
  },
  named({ argv }, seats) {
    const id = argvOption(argv, "-s", "--session");
    if (id === null) return null;
    // A fork goes on under an id nobody has seen yet.
    return seats.has(id) && !argv.includes("--fork") ? { id } : "other";
  },
  stores: (process) => (programName(process) === "opencode2" ? "v2" : null),
};

function programName({ comm, argv }: Process): string {
  return NAME.test(comm) ? comm : basename(argv[0] ?? "");
}
