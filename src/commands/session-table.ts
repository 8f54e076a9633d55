import type { Problem } from "../session/problem.ts";
import type { Snapshot } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import { age, tokens } from "../ui/text/amounts.ts";
import { cut, padEnd, textWidth } from "../ui/text/width.ts";

interface TableFacts {
  problems: readonly Problem[];
  hidden: { internal: number; superseded: number };
  /** ms since 1970. */
  now: number;
  columns: number;
}

/** The sessions as plain lines: no colour, no box, one session a line, fit for pipes and screen readers. */
export function sessionTable(sessions: readonly Snapshot[], facts: TableFacts): string {
  // A key is what other commands take: it is never cut.
  const keyWidth = Math.max(0, ...sessions.map((one) => textWidth(cleanLine(one.key))));
  const lines = sessions.map((one) => row(one, keyWidth, facts));
  if (sessions.length === 0)
    lines.push("No sessions. forktail doctor says where it looked; forktail demo shows it at work.");
  const left: string[] = [];
  if (facts.hidden.internal > 0) left.push(`${facts.hidden.internal} sub-agents and internal sessions`);
  if (facts.hidden.superseded > 0) left.push(`${facts.hidden.superseded} superseded by a revert`);
  if (left.length > 0) lines.push(`Not listed: ${left.join(", ")}; --all lists them.`);
  for (const problem of facts.problems) lines.push(`problem: ${cleanLine(problem.message)}`);
  return lines.join("\n");
}

function row(one: Snapshot, keyWidth: number, facts: TableFacts): string {
  const mark = one.certainty === "guess" ? `${one.status}?` : one.status;
  const when = one.updatedAt === null ? "–" : age(facts.now - Date.parse(one.updatedAt));
  const spent =
    one.usage === null ? "–" : tokens(one.usage.input + one.usage.cacheRead + one.usage.cacheWrite + one.usage.output);
  const left = `${padEnd(mark, 13)} ${padEnd(when, 4)} ${padEnd(spent, 6)} ${padEnd(cleanLine(one.key), keyWidth)} `;
  return cut(`${left}${cleanLine(one.title)}`, Math.max(40 + keyWidth, facts.columns));
}
