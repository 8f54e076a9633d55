import type { Source } from "../source.ts";
import { ClaudeReader } from "./reader.ts";
import { claudeRoots } from "./roots.ts";

/** Claude Code's transcripts (agents.md §1). */
export const claudeSource: Source = {
  name: "claude",
  title: "Claude Code",
  probes: ["processes", "tmux"],
  defaultRoots: claudeRoots,
  open: (roots, services) => new ClaudeReader(roots, services),
};
