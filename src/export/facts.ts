import type { Snapshot } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";

/** What a document says of its session at the top: label and one cleaned line each. */
export function sessionFacts(snapshot: Snapshot): [label: string, value: string][] {
  const { usage } = snapshot;
  const cost = usage?.cost ?? null;
  const sign = usage?.costBasis === "partial" ? "≥ " : usage?.costBasis === "estimated" ? "about " : "";
  const facts: [string, string | null][] = [
    ["Session", snapshot.key],
    ["Agent", snapshot.agent],
    ["Models", snapshot.models.join(", ")],
    ["Directory", snapshot.cwd],
    ["Created", snapshot.createdAt],
    ["Updated", snapshot.updatedAt],
    ["Status", `${snapshot.status}${snapshot.certainty === "guess" ? " (a guess)" : ""}`],
    ["Tokens", usage && `${usage.input + usage.cacheRead + usage.cacheWrite} in, ${usage.output} out`],
    ["Cost", cost === null ? null : `${sign}$${cost.toFixed(2)}`],
  ];
  return facts.flatMap(([label, value]) => (value ? [[label, cleanLine(value)]] : []));
}
