import type { Folded } from "../../files/fold.ts";
import { lastEditedOf } from "../../session/edited-files.ts";
import type { Damage, Usage } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints, lineOrNull } from "../../session/untrusted.ts";
import type { PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import type { Tail } from "../by-process/tail.ts";
import { lineDamage } from "../jsonl/folded-lines.ts";
import type { Lineage } from "./family.ts";
import { type ClaudeFile, kindOf, ROW } from "./file.ts";
import { type AgentFile, agentRequests, modelRequest, sessionRequests } from "./requests.ts";
import { ownUsage } from "./sums.ts";
import { type Title, titleOf } from "./titles.ts";
import { activeBranch, type BranchCounts, branchCounts, contextUsed } from "./tree.ts";

/** One session as its files say, before statuses and prices. Holds on to no file's state: those are many, and large. */
export interface Described {
  id: string;
  title: Title;
  firstPrompt: string | null;
  lastPrompt: string | null;
  models: string[];
  counts: BranchCounts;
  abandoned: BranchCounts;
  /** Made anew each time: what is kept of a request is its row in the file's state. */
  requests(): ModelRequest[];
  /** The sum where nothing was copied, null where something was. */
  ownSum(prices: PriceBook | null): Usage | null;
  context: { used: number; model: string | null } | null;
  subagents: {
    agentId: string;
    type: string | null;
    description: string | null;
    model: string | null;
    calls: number;
  }[];
  damage: Damage[];
  /** Files that it and its sub-agents edited within the last hour of it. */
  edits: string[];
  programmatic: boolean;
  lineage: Lineage;
  tail: Tail;
  cwd: string | null;
  /** ms. */
  updatedAt: number | null;
}

export interface SessionParts {
  id: string;
  main: Folded<ClaudeFile>;
  agents: readonly AgentFile[];
  customTitleFile: string | null;
  /** Text by the row's uuid it names, from files of the same folder. */
  summaries: ReadonlyMap<string, string>;
}

/** Is there a conversation in it? A file of titles and settings alone is no session (agents.md §1.1). */
export function isSession(file: ClaudeFile): boolean {
  return file.kinds.some((kind) => (kind & (ROW.user | ROW.assistant)) !== 0 && (kind & ROW.sidechain) === 0);
}

export function describe(parts: SessionParts, lineage: Lineage): Described {
  const file = parts.main.state;
  const branch = activeBranch(file);
  const onBranch = file.prompts.filter((prompt) => branch[prompt.row] === 1);
  const typed = onBranch.filter((prompt) => !prompt.command);
  const commands = onBranch.filter((prompt) => prompt.command);
  const expanded = commands.find((prompt) => (kindOf(file, prompt.row) & ROW.prompt) !== 0) ?? commands[0];
  const firstPrompt = lineOrNull(typed.find((prompt) => lineOrNull(prompt.text) !== null)?.text);
  const { active, abandoned } = branchCounts(file);
  return {
    id: parts.id,
    title: titleOf({
      customTitle: file.customTitle,
      customTitleFile: parts.customTitleFile,
      aiTitle: file.aiTitle,
      summary: summaryOf(file, parts.summaries, lineage),
      firstPrompt,
      command: expanded?.text ?? null,
      id: parts.id,
    }),
    firstPrompt,
    lastPrompt: lineOrNull(typed.at(-1)?.text),
    models: distinct([...file.models, ...file.sideModels, ...parts.agents.flatMap((agent) => agentModels(agent))]),
    counts: active,
    abandoned,
    ...billed(parts, lineage),
    context: contextUsed(file),
    subagents: subagentsOf(file, parts.agents),
    damage: lineDamage(file),
    edits: editsOf(file, parts.agents),
    programmatic: file.entrypoint?.startsWith("sdk") ?? false,
    lineage,
    tail: file.tail,
    cwd: file.cwd,
    updatedAt: file.updatedAt,
  };
}

/** Apart, because functions made in one place keep alive all that any of them uses: a whole file's state. */
function billed({ main, agents }: SessionParts, { copied }: Lineage): Pick<Described, "requests" | "ownSum"> {
  return {
    requests: () => sessionRequests(main.state, agents).map((one) => modelRequest(one, copied.has(one.request.id))),
    ownSum: (prices) => (copied.size === 0 ? ownUsage(main.state, agents, prices) : null),
  };
}

function editsOf(file: ClaudeFile, agents: readonly AgentFile[]): string[] {
  const files = [file, ...agents.map((agent) => agent.file)];
  const updatedAt = Math.max(...files.map((one) => one.updatedAt ?? 0));
  return lastEditedOf(
    files.map((one) => one.edits),
    updatedAt,
  );
}

function distinct(models: readonly string[]): string[] {
  return [...new Set(models.map((model) => cutCodePoints(cleanLine(model), 120)))];
}

function agentModels(agent: AgentFile): string[] {
  return [...agent.file.models, ...agent.file.sideModels];
}

/** A summary names a leaf, usually in another file; a copied row's belongs to the original while that is there (agents.md §1.4). */
function summaryOf(file: ClaudeFile, summaries: ReadonlyMap<string, string>, lineage: Lineage): string | null {
  const { forkPoint, hasOriginal } = lineage;
  const copiedUpTo = forkPoint === null || !hasOriginal ? -1 : (file.rows[forkPoint] ?? -1);
  let last: { row: number; text: string } | null = null;
  for (const [leaf, text] of summaries) {
    if (!Object.hasOwn(file.rows, leaf)) continue;
    const row = file.rows[leaf] ?? -1;
    if (row > copiedUpTo && (last === null || row > last.row)) last = { row, text };
  }
  return last?.text ?? null;
}

function subagentsOf(file: ClaudeFile, agents: readonly AgentFile[]): Described["subagents"] {
  const calls = new Map<string, number>();
  const count = (by: string | null): void => {
    if (by !== null) calls.set(by, (calls.get(by) ?? 0) + 1);
  };
  for (const { by } of agentRequests(file, agents)) count(by);
  const sides = new Set(Object.values(file.sides));
  if (sides.size > 0) for (const request of file.requests) if (request.counted) count(request.side);
  const found = agents.map((agent) => ({
    agentId: agent.id,
    type: agent.type,
    description: agent.description,
    model: agentModels(agent)[0] ?? agent.model,
    calls: calls.get(agent.id) ?? 0,
  }));
  for (const side of sides) {
    const model = file.requests.find((request) => request.side === side)?.model ?? null;
    found.push({ agentId: side, type: null, description: null, model, calls: calls.get(side) ?? 0 });
  }
  return found;
}
