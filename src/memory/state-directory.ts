import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where our own memory lies (design §7.2): `FORKTAIL_STATE_DIR`, else `$XDG_STATE_HOME/forktail`, else `~/.local/state/forktail`. */
export function stateDirectory(env: NodeJS.ProcessEnv): string {
  if (env.FORKTAIL_STATE_DIR) return env.FORKTAIL_STATE_DIR;
  const home = env.HOME || homedir();
  return join(env.XDG_STATE_HOME || join(home, ".local", "state"), "forktail");
}

/** Where, in our state directory, the index of what was read lies. */
export function foldsDirectory(directory: string): string {
  return join(directory, "folds");
}

/** Nothing was read yet with this state directory: a start reads everything. */
export function isFirstStart(directory: string): boolean {
  return !existsSync(foldsDirectory(directory));
}

/** Where the config file lies: `FORKTAIL_CONFIG`, else `$XDG_CONFIG_HOME/forktail/config.json`, else under `~/.config`. */
export function configFile(env: NodeJS.ProcessEnv): string {
  if (env.FORKTAIL_CONFIG) return env.FORKTAIL_CONFIG;
  const home = env.HOME || homedir();
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "forktail", "config.json");
}
