import { blankSnapshot, type Snapshot } from "../../src/session/snapshot.ts";

/** A snapshot with an id and what the test is about. */
export function sessionOf(id: string, over: Partial<Snapshot> = {}): Snapshot {
  const base = { key: `statefile:${id}`, source: "statefile", id, root: "/root", path: `/root/${id}.state` };
  return { ...blankSnapshot(base), agent: "mainplane", status: "idle", certainty: "recorded", ...over };
}
