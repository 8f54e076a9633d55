import type { Source } from "../source.ts";
import { piRoots } from "./locate.ts";
import { PiReader } from "./reader.ts";

/** pi's session files (agents.md §3). */
export const piSource: Source = {
  name: "pi",
  title: "pi",
  probes: ["processes", "tmux"],
  defaultRoots: piRoots,
  open: (roots, services) => new PiReader(roots, services),
};
