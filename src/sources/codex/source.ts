import type { Source } from "../source.ts";
import { CodexReader } from "./reader.ts";
import { codexRoots } from "./roots.ts";

/** Codex's rollouts (agents.md §2). */
export const codexSource: Source = {
  name: "codex",
  title: "Codex",
  probes: ["processes", "locks", "tmux"],
  defaultRoots: codexRoots,
  open: (roots, services) => new CodexReader(roots, services),
};
