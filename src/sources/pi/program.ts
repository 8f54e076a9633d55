import { basename } from "node:path";
import { argvOption } from "../../probe/argv-option.ts";
import type { Process } from "../../probe/processes.ts";
import type { Program, Seat } from "../by-process/seats.ts";
import { idOfName } from "./ids.ts";

/** pi sets its title to `pi`; before that it is node with pi's script (agents.md §3.3). */
export const piProgram: Program = {
  isProgram(process: Process): boolean {
    if (process.comm === "pi") return true;
    const [program, script] = process.argv;
    if (program !== undefined && basename(program) === "pi") return true;
    return script !== undefined && /(?:^|\/)(?:pi|pi-coding-agent\/dist\/cli\.[cm]?js)$/u.test(script);
  },
  named(process, seats) {
    const asked = argvOption(process.argv, "--session");
    if (asked !== null) return seatOf(asked, seats);
    // It writes nowhere, or into a new file of a session that is yet to come.
    return process.argv.includes("--no-session") ? "other" : null;
  },
};

/** A path names a file, an id may be cut short as long as it is one session's. */
function seatOf(asked: string, seats: ReadonlyMap<string, Seat>): { id: string } | "other" {
  const id = asked.includes("/") || asked.endsWith(".jsonl") ? idOfName(asked) : asked;
  if (id === null) return "other";
  if (seats.has(id)) return { id };
  const begins = [...seats.keys()].filter((one) => one.startsWith(id));
  return begins.length === 1 && begins[0] !== undefined ? { id: begins[0] } : "other";
}
