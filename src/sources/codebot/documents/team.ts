import type { Document, Row } from "../../../session/document.ts";
import { cleanLine, cutCodePoints } from "../../../session/untrusted.ts";
import type { Beside } from "../beside.ts";
import type { MemberFacts } from "../member-transcript.ts";
import { amount, minute } from "./numbers.ts";

/** The members of a team, those that were dismissed included, each with its conversation (codebot.md §11). */
export function teamDocument(beside: Beside, facts: ReadonlyMap<string, MemberFacts | string>): Document {
  const { roster, transcripts } = beside;
  const members = roster?.members ?? [];
  const dismissed = transcripts.filter(({ name }) => !members.some((member) => member.name === name));
  const rows: Row[] = [
    ...members.map((member) =>
      rowOf(member.name, `${member.agentType || "–"}`, member.kind || "teammate", facts.get(member.name)),
    ),
    ...dismissed.map(({ name }) => rowOf(name, "–", "dismissed", facts.get(name))),
  ];
  return {
    title: "team",
    blocks: [
      {
        type: "fields",
        rows: [
          { label: "team", value: cleanLine(roster?.team ?? "") || "–" },
          { label: "about", value: cleanLine(roster?.description ?? "") || "–" },
          { label: "members", value: `${members.length}, dismissed ${dismissed.length}` },
        ],
      },
      {
        type: "table",
        columns: [
          { title: "name" },
          { title: "agent", from: 50 },
          { title: "kind", from: 60 },
          { title: "messages", align: "right" },
          { title: "input", align: "right", from: 80 },
          { title: "output", align: "right", from: 80 },
          { title: "last", from: 60 },
          { title: "doing", flexible: true, from: 60 },
        ],
        rows,
        empty: "No member.",
      },
      { type: "text", text: "Whether a member runs is not recorded: only what it wrote last is known.", tone: "faint" },
    ],
  };
}

function rowOf(name: string, agent: string, kind: string, facts: MemberFacts | string | undefined): Row {
  const open = { view: "branch", of: `member:${name}` };
  const start = [cleanLine(name), cleanLine(agent), cleanLine(kind)];
  if (typeof facts === "string")
    return { cells: [...start, "–", "–", "–", "–", cleanLine(facts)], tone: "bad", target: name };
  if (facts === undefined)
    return { cells: [...start, "0", "–", "–", "–", "no conversation yet"], tone: "faint", target: name };
  const sum = (of: "input" | "cacheRead" | "output") => facts.usage.reduce((all, { tokens }) => all + tokens[of], 0);
  const waiting = facts.openCalls > 0 ? `${facts.openCalls} calls open: ` : "";
  const torn = facts.tornTail ? " (last line unfinished)" : "";
  const said = cutCodePoints(cleanLine(facts.last?.said ?? ""), 100);
  return {
    cells: [
      ...start,
      amount(facts.messages),
      amount(Math.max(0, sum("input") - sum("cacheRead"))),
      amount(sum("output")),
      minute(facts.last?.time ?? null),
      `${waiting}${facts.last?.role ?? ""} ${said}${torn}`.trim(),
    ],
    ...(kind === "dismissed" ? { tone: "faint" as const } : facts.tornTail ? { tone: "warn" as const } : {}),
    open,
    target: name,
  };
}
