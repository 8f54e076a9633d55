import { claudeSource } from "./claude/source.ts";
import { codebotSource } from "./codebot/source.ts";
import { codexSource } from "./codex/source.ts";
import { geminiSource } from "./gemini/source.ts";
import { herrscherSource } from "./herrscher/source.ts";
import { opencodeSource } from "./opencode/source.ts";
import { piSource } from "./pi/source.ts";
import { questmasterSource } from "./questmaster/source.ts";
import type { Source } from "./source.ts";
import { statefileSource } from "./statefile/source.ts";

/** All sources, one line a tool. */
export const SOURCES: readonly Source[] = [
  statefileSource,
  codebotSource,
  herrscherSource,
  questmasterSource,
  claudeSource,
  codexSource,
  piSource,
  opencodeSource,
  geminiSource,
];
