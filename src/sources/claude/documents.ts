import type { Block, Document } from "../../session/document.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { loadPrices } from "../../usage/prices.ts";
import { usageDocument } from "../../usage/usage-document.ts";
import { branchesTree, damageBlocks, fieldRow, minuteOf, promptLabel, whyBlocks } from "../agents/document-blocks.ts";
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
  const others = left.map((branch) => ({
    label: promptAfter(file, branch),
    note: minuteOf(file.times[branch.leaf]),
    open: { view: "branch", of: uuids[branch.leaf] ?? "" },
  }));
  const last = file.prompts.findLast((prompt) => activeBranch(file)[prompt.row] === 1);
  const since = minuteOf(file.times[file.leaf]);
  const current = {
    label: last === undefined ? "this conversation" : promptLabel(last.text),
    note: `goes on here${since === "" ? "" : `, ${since}`}`,
  };
  return branchesTree(current, others, "Nothing was rewound: there is only this branch.");
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
  return text === "" ? "(a reply that was taken again)" : promptLabel(text);
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
  const reported =
    file.reportedCost === null ? null : `$${file.reportedCost.toFixed(4)} for its last process, hidden calls included`;
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        fieldRow("id", held.id),
        fieldRow("title from", held.described.title.from),
        fieldRow("file", winner.folded.path),
        fieldRow("size", `${winner.folded.size} bytes, ${file.ordinals.lines} lines`),
        fieldRow("directory", file.cwd),
        ...(file.lastCwd === file.cwd ? [] : [fieldRow("last directory", file.lastCwd)]),
        fieldRow("git branch", file.gitBranch),
        fieldRow("Claude Code", file.version),
        fieldRow("started by", file.entrypoint),
        fieldRow("copied from", held.described.lineage.forkOf),
        fieldRow("reported by Claude", reported),
      ],
    },
    ...whyBlocks(snapshot),
  ];
  const others = copies.filter((copy) => copy.folded.path !== winner.folded.path);
  for (const copy of others)
    blocks.push({ type: "text", text: `also in ${cleanLine(copy.folded.path)}, shorter`, tone: "warn" });
  for (const agent of agents)
    blocks.push({ type: "text", text: `sub-agent file ${cleanLine(agent.path)}`, tone: "faint" });
  blocks.push(...damageBlocks(snapshot));
  return { title: "info", blocks };
}
