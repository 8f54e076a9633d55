import { basename } from "node:path";
import { argvOption } from "../../probe/argv-option.ts";
import type { Program } from "../by-process/seats.ts";
import { SESSION_ID } from "./ids.ts";

/** Gemini runs as node with its script (agents.md §5.2). */
export const geminiProgram: Program = {
  isProgram({ comm, argv }) {
    if (comm === "gemini") return true;
    const [program, ...rest] = argv;
    if (program !== undefined && basename(program) === "gemini") return true;
    const script = rest.find((arg) => !arg.startsWith("-"));
    if (program === undefined || script === undefined || !/^(?:node|bun)/u.test(basename(program))) return false;
    return /(?:^|\/)(?:gemini|gemini-cli\/(?:dist|bundle)\/[\w./-]+\.[cm]?js)$/u.test(script);
  },
  named({ argv }, seats) {
    const asked = argvOption(argv, "--resume", "-r");
    // An index or `latest` says nothing that the folder does not.
    if (asked === null || !SESSION_ID.test(asked)) return null;
    return seats.has(asked) ? { id: asked } : "other";
  },
};
