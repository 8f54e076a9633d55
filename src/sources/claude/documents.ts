import type { Block, Document } from "../../session/document.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { loadPrices } from "../../usage/prices.ts";
import { usageDocument } from "../../usage/usage-document.ts";
import type { ViewName } from "../source.ts";
import { type ClaudeFile, kindOf, ROW } from "./file.ts";
import type { HeldSession } from "./reader.ts";
import type { AgentFile } from "./requests.ts";
import type { Candidate } from "./sessions.ts";
import { activeBranch, type LeftBranch, leftBranches, parentOf } from "./tree.ts";

/** The views of a session that are no transcript. */
export async function claudeDocument(
  view: ViewName,
  held: HeldSession,
  agents: readonly AgentFile[],
  copies: readonly Candidate[],
): Promise<Document> {
  switch (view) {
    case "branches":
      return branchesDocument(held.winner.folded.state);
    case "usage":
      return usageDocument(held.snapshot, held.described.requests(), await loadPrices());
    case "team":
      return teamDocument(held);
    case "info":
      return infoDocument(held, agents, copies);
    default:
      throw new Error(`Claude Code sessions have no view ${view}`);
  }
}

function branchesDocument(file: ClaudeFile): Document {
  const uuids: string[] = [];
  for (const [uuid, row] of Object.entries(file.rows)) uuids[row] = uuid;
  const left = leftBranches(file);
  const items = left.map((branch) => ({
    depth: 1,
    label: promptAfter(file, branch),
    note: timeOf(file, branch.leaf),
    tone: "faint" as const,
    open: { view: "branch", of: uuids[branch.leaf] ?? "" },
  }));
  const last = file.prompts.findLast((prompt) => activeBranch(file)[prompt.row] === 1);
  const current = {
    depth: 0,
    label: last === undefined ? "this conversation" : shown(last.text),
    note: `goes on here${timeOf(file, file.leaf) === "" ? "" : `, ${timeOf(file, file.leaf)}`}`,
    tone: "strong" as const,
    open: { view: "timeline" },
  };
  const blocks: Block[] = [{ type: "tree", items: [current, ...items] }];
  if (left.length === 0)
    blocks.push({ type: "text", text: "Nothing was rewound: there is only this branch.", tone: "faint" });
  return { title: "branches", blocks };
}

/** What was asked where the branch left the one that goes on. */
function promptAfter(file: ClaudeFile, branch: LeftBranch): string {
  let first: number | null = null;
  const seen = new Set<number>();
  for (let row = branch.leaf; row >= 0 && row !== branch.leaves && !seen.has(row); row = parentOf(file, row)) {
    seen.add(row);
    if ((kindOf(file, row) & ROW.prompt) !== 0) first = row;
  }
  const text = file.prompts.find((prompt) => prompt.row === first)?.text ?? "";
  return text === "" ? "(a reply that was taken again)" : shown(text);
}

function shown(text: string): string {
  return cutCodePoints(cleanLine(text), 200);
}

function timeOf(file: ClaudeFile, row: number): string {
  const time = file.times[row] ?? 0;
  return time === 0 ? "" : new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

function teamDocument(held: HeldSession): Document {
  return {
    title: "team",
    blocks: [
      {
        type: "table",
        columns: [
          { title: "agent", flexible: true },
          { title: "type" },
          { title: "model", from: 70 },
          { title: "requests", align: "right" },
        ],
        rows: held.described.subagents.map((agent) => ({
          cells: [agent.description ?? agent.agentId, agent.type ?? "–", agent.model ?? "–", String(agent.calls)],
          open: { view: "branch", of: `agent:${agent.agentId}` },
        })),
        empty: "No sub-agents.",
      },
    ],
  };
}

function infoDocument(held: HeldSession, agents: readonly AgentFile[], copies: readonly Candidate[]): Document {
  const { snapshot, winner } = held;
  const file = winner.folded.state;
  const row = (label: string, value: string | null): { label: string; value: string } => ({
    label,
    value: value === null ? "–" : cleanLine(value),
  });
  const reported =
    file.reportedCost === null ? null : `$${file.reportedCost.toFixed(4)} for its last process, hidden calls included`;
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        row("id", held.id),
        row("title from", held.described.title.from),
        row("file", winner.folded.path),
        row("size", `${winner.folded.size} bytes, ${file.ordinals.lines} lines`),
        row("directory", file.cwd),
        ...(file.lastCwd === file.cwd ? [] : [row("last directory", file.lastCwd)]),
        row("git branch", file.gitBranch),
        row("Claude Code", file.version),
        row("started by", file.entrypoint),
        row("copied from", held.described.lineage.forkOf),
        row("reported by Claude", reported),
      ],
    },
    { type: "heading", text: `why ${snapshot.status}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
  const others = copies.filter((copy) => copy.folded.path !== winner.folded.path);
  for (const copy of others)
    blocks.push({ type: "text", text: `also in ${cleanLine(copy.folded.path)}, shorter`, tone: "warn" });
  for (const agent of agents)
    blocks.push({ type: "text", text: `sub-agent file ${cleanLine(agent.path)}`, tone: "faint" });
  for (const damage of snapshot.damage) {
    const where = damage.line === null ? "" : `, line ${damage.line}`;
    const size = damage.bytes === null ? "" : `, ${damage.bytes} bytes`;
    blocks.push({ type: "text", text: `${damage.kind}${where}${size}`, tone: "warn" });
  }
  return { title: "info", blocks };
}
