import { join } from "node:path";
import { stateDirectory } from "../../memory/state-directory.ts";

/** Where `forktail hook` writes sessions that no questmaster started: our own directory, never questmaster's. */
export function hookRoot(env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), "hooks");
}
