import type { Snapshot } from "../session/snapshot.ts";
import type { UsageSession } from "../usage/ledger.ts";
import type { Live } from "./live.ts";

/** Sessions with the requests behind their numbers. One whose requests cannot be had counts with none. */
export async function usageSessions(live: Live, sessions: Iterable<Snapshot>): Promise<UsageSession[]> {
  const found: UsageSession[] = [];
  for (const snapshot of sessions) {
    if (snapshot.usage === null) continue;
    const requests = await live
      .reader(snapshot.key)
      .requests(snapshot.key)
      .catch(() => []);
    found.push({ snapshot, requests });
  }
  return found;
}
