import type { Source } from "../source.ts";
import { geminiRoots } from "./places.ts";
import { GeminiReader } from "./reader.ts";

/** Gemini CLI's chats (agents.md §5). */
export const geminiSource: Source = {
  name: "gemini",
  title: "Gemini CLI",
  probes: ["processes", "tmux"],
  needsDirectories: true,
  defaultRoots: geminiRoots,
  open: (roots, services) => new GeminiReader(roots, services),
};
