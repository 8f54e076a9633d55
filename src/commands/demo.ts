import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Demo, startDemo } from "../demo/play.ts";
import { openScreen, printOnce } from "./browse.ts";
import { openWorkplace, type SharedOptions } from "./context.ts";

/**
 * `forktail demo`: bundled sessions played live into a temporary directory, with a memory of their own, and the screen on
 * them. Nothing of the machine's real sessions is read or shown; everything is removed at the end.
 */
export async function demo(options: SharedOptions): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "forktail-demo-"));
  let playing: Demo | null = null;
  try {
    playing = await startDemo({ dir: join(directory, "sessions") });
    const env = { ...process.env, ...playing.env, FORKTAIL_STATE_DIR: join(directory, "memory") };
    const place = await openWorkplace(options, { env, roots: playing.roots, only: true });
    if (!process.stdout.isTTY || !process.stdin.isTTY) return await printOnce(place, options);
    const code = await openScreen(
      place,
      "a demo: these sessions are played, nothing of yours is read. ? shows the keys",
    );
    return code;
  } finally {
    // Waited for: what is being written just now would make its directory again.
    await playing?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
