import type { Source } from "../source.ts";
import { opencodeRoots } from "./places.ts";
import { OpencodeReader } from "./reader.ts";

/** OpenCode's files and databases (agents.md §4). Its rows are written in place: what was read of them is no fold over bytes. */
export const opencodeSource: Source = {
  name: "opencode",
  title: "OpenCode",
  probes: ["processes", "tmux"],
  defaultRoots: opencodeRoots,
  open: (roots, services) => new OpencodeReader(roots, services),
};
