import { type Described, describe } from "./describe.ts";
import { lineages, type Member } from "./family.ts";
import { sessionRequests } from "./requests.ts";
import type { Candidate, ClaudeSessions } from "./sessions.ts";

/** A session with the file it is shown from. */
export interface DescribedWinner {
  winner: Candidate;
  described: Described;
}

/** Describes sessions that may be copies of one another, all at once; null: there is no such session any more. */
export function describeFamily(
  sessions: ClaudeSessions,
  family: ReadonlySet<string>,
): Map<string, DescribedWinner | null> {
  const members: Member[] = [];
  const winners = new Map<string, Candidate>();
  const found = new Map<string, DescribedWinner | null>();
  for (const id of family) {
    const winner = sessions.candidates(id)[0];
    if (winner === undefined) {
      found.set(id, null);
      continue;
    }
    winners.set(id, winner);
    const file = winner.folded.state;
    const agents = sessions.agents(id);
    members.push({ id, file, requests: () => sessionRequests(file, agents) });
  }
  const lines = lineages(members);
  for (const [id, winner] of winners) {
    const lineage = lines.get(id);
    if (lineage === undefined) continue;
    const parts = {
      id,
      main: winner.folded,
      agents: sessions.agents(id),
      customTitleFile: sessions.customTitleFile(winner, id),
      summaries: sessions.summaries(winner),
    };
    found.set(id, { winner, described: describe(parts, lineage) });
  }
  return found;
}
