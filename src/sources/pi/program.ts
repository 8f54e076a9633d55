import { basename, resolve } from "node:path";
import { argvOption } from "../../probe/argv-option.ts";
import type { Process } from "../../probe/processes.ts";
import { scriptOf } from "../by-process/script.ts";
import type { Program, Seat } from "../by-process/seats.ts";
import { idOfName } from "./ids.ts";

const SCRIPT = /(?:^|\/)(?:pi|pi-coding-agent\/dist\/cli\.[cm]?js)$/u;

/** pi sets its title to `pi`; before that it is node with pi's script (agents.md §3.3). */
export const piProgram: Program = {
  isProgram({ comm, argv }: Process): boolean {
    if (comm === "pi") return true;
    const [program] = argv;
    if (program !== undefined && basename(program) === "pi") return true;
    return SCRIPT.test(scriptOf(argv)?.script ?? "");
  },
  named({ argv, cwd }, seats) {
    const asked = argvOption(argv, "--session");
    if (asked !== null) return seatOf(asked, cwd, seats);
    // It writes nowhere, or into a new file of a session that is yet to come.
    return argv.includes("--no-session") ? "other" : null;
  },
};

/** A path names a file, whatever that is called; an id may be cut short as long as it is one session's. */
function seatOf(asked: string, cwd: string | null, seats: ReadonlyMap<string, Seat>): { id: string } | "other" {
  const isPath = asked.includes("/") || asked.endsWith(".jsonl");
  if (isPath) {
    const path = resolve(cwd ?? "/", asked);
    for (const seat of seats.values()) if (seat.path === path) return { id: seat.id };
  }
  const id = isPath ? idOfName(asked) : asked;
  if (id === null) return "other";
  if (seats.has(id)) return { id };
  const begins = [...seats.keys()].filter((one) => one.startsWith(id));
  return begins.length === 1 && begins[0] !== undefined ? { id: begins[0] } : "other";
}
