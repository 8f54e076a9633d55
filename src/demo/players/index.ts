import { claudePlayer } from "./claude.ts";
import { codebotPlayer } from "./codebot.ts";
import { codexPlayer } from "./codex.ts";
import { herrscherPlayer } from "./herrscher.ts";
import type { Player } from "./player.ts";
import { questmasterPlayer } from "./questmaster.ts";
import { statefilePlayer } from "./statefile.ts";

/** One line a tool. */
export const PLAYERS: readonly Player[] = [
  statefilePlayer,
  codebotPlayer,
  herrscherPlayer,
  questmasterPlayer,
  claudePlayer,
  codexPlayer,
];
