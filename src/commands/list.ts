import { publicSnapshot } from "../session/snapshot.ts";
import { jsonText } from "../session/untrusted.ts";
import { listed, openWorkplace, print, readEverything, type SharedOptions } from "./context.ts";
import { sessionTable } from "./session-table.ts";

/** `forktail list [--json] [--all]` (design §4). */
export async function list(options: SharedOptions): Promise<number> {
  const place = await openWorkplace(options);
  const { sessions, problems } = await readEverything(place);
  const { sessions: shown, hidden } = listed(sessions, place.memory, options.all ?? false);
  if (options.json) {
    await print(jsonText({ schema: 1, sessions: shown.map(publicSnapshot), problems, hidden }, 2));
  } else {
    await print(
      sessionTable(shown, {
        problems,
        hidden,
        now: place.live.evidence.now,
        columns: process.stdout.columns ?? Number.POSITIVE_INFINITY,
      }),
    );
  }
  await place.live.close();
  return 0;
}
