import { claudePlayer } from "./claude.ts";
import { codexPlayer } from "./codex.ts";
import type { Player } from "./player.ts";
import { statefilePlayer } from "./statefile.ts";

/** One line a tool. */
export const PLAYERS: readonly Player[] = [statefilePlayer, claudePlayer, codexPlayer];
