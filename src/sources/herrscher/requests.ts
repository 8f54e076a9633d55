import type { ModelRequest } from "../../usage/request.ts";
import type { RowFacts } from "./row.ts";
import { timeOf } from "./snapshot.ts";
import { refName, usageOf } from "./timeline.ts";
import { readTranscript } from "./transcript.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";

export interface Turn {
  entry: TranscriptEntry;
  /** The entry's name in the timeline. */
  ref: string;
}

/** All entries with their refs; a transcript that cannot be read has none. */
export async function turnsOf(path: string): Promise<Turn[]> {
  let entries: TranscriptEntry[];
  try {
    entries = readTranscript(path);
  } catch {
    return [];
  }
  const seen = new Map<string, number>();
  return entries.map((entry) => ({ entry, ref: refName(entry, seen) }));
}

/** Who bills what a vendor's program asks for, by the price table's names. */
const PROVIDERS = new Map([
  ["claude", "anthropic"],
  ["codex", "openai"],
]);

/** One request a reply. Of which model it was is known of the present one only: a switch leaves no trace in the file. */
export function requestsOf(facts: RowFacts, turns: readonly Turn[]): ModelRequest[] {
  const { incarnation, name } = facts.session;
  const { model, vendor } = facts.invocation;
  const replies = turns.filter(({ entry }) => entry.role === "assistant");
  return replies.map(({ entry, ref }) => ({
    key: `herrscher/${incarnation || name}/${ref}`,
    time: timeOf(entry.ts),
    provider: PROVIDERS.get(vendor ?? "") ?? null,
    model,
    by: null,
    ...usageOf(entry),
  }));
}
