import { join } from "node:path";
import type { Source } from "../source.ts";
import { CodebotReader } from "./reader.ts";

/** codebot's sessions under `~/.codebot` (codebot.md §1). The tool has no variable of its own for that place. */
export const codebotSource: Source = {
  name: "codebot",
  title: "codebot",
  probes: ["tmux", "processes"],
  defaultRoots: (env) => (env.HOME ? [join(env.HOME, ".codebot")] : []),
  open: (roots, services) => new CodebotReader(roots, services),
};
