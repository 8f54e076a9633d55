import { publicSnapshot } from "../session/snapshot.ts";
import { jsonText } from "../session/untrusted.ts";
import { openWorkplace, print, type SharedOptions } from "./context.ts";

/**
 * `forktail watch --json`: one JSON line a changed snapshot, one a session that is gone, one when a source's problems
 * became others or none, until it is stopped.
 */
export async function watch(options: SharedOptions): Promise<number> {
  const place = await openWorkplace(options);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
    process.stdout.once("error", () => resolve());
  });
  // Nothing else keeps the process alive: every timer of ours lets it end.
  const alive = setInterval(() => undefined, 60_000);
  const line = (value: unknown): void => void print(jsonText(value)).catch(() => undefined);
  const problemsOf = new Map<string, number>();
  await place.live.start({
    commit(source, delta) {
      for (const snapshot of delta.changed) {
        if (options.all || !snapshot.hidden) line({ schema: 1, session: publicSnapshot(snapshot) });
      }
      for (const key of delta.removed) line({ schema: 1, removed: key });
      const { problems } = delta;
      if (problems === null) return;
      // That there are none any more is news; that there never were any is not.
      if (problems.length > 0 || problemsOf.get(source)) line({ schema: 1, source, problems });
      problemsOf.set(source, problems.length);
    },
    trouble: (trouble) => line({ schema: 1, trouble }),
    scanned: () => line({ schema: 1, scanned: true }),
  });
  await stopped;
  clearInterval(alive);
  await place.live.close();
  return 0;
}
