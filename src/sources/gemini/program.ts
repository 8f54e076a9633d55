import { basename } from "node:path";
import { argvOption } from "../../probe/argv-option.ts";
import { scriptOf } from "../by-process/script.ts";
import type { Program } from "../by-process/seats.ts";
import { SESSION_ID } from "./ids.ts";

const SCRIPT = /(?:^|\/)(?:gemini|gemini-cli\/(?:dist|bundle)\/[\w./-]+\.[cm]?js)$/u;

/** Gemini runs as node with its script (agents.md §5.2). */
export const geminiProgram: Program = {
  isProgram({ comm, argv }) {
    if (comm === "gemini") return true;
    const [program] = argv;
    if (program !== undefined && basename(program) === "gemini") return true;
    return SCRIPT.test(scriptOf(argv)?.script ?? "");
  },
  named({ argv }, seats) {
    const asked = argvOption(argv, "--resume", "-r");
    // An index or `latest` says nothing that the folder does not.
    if (asked === null || !SESSION_ID.test(asked)) return null;
    return seats.has(asked) ? { id: asked } : "other";
  },
};
