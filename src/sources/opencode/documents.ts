import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { formatCost, formatTokens } from "../../usage/format.ts";
import type { SessionFacts } from "./session-facts.ts";

/** The view `branches`: OpenCode has one, and what was reverted until the next prompt deletes it (agents.md §4.3). */
export function branchesDocument(facts: SessionFacts, snapshot: Snapshot): Document {
  const { reverted, session } = facts;
  const current = {
    depth: 0,
    label: facts.lastPrompt ?? snapshot.title,
    note: "goes on here",
    tone: "strong" as const,
    open: { view: "timeline" },
  };
  if (session.revert === null) {
    const text = "Nothing was reverted: there is only this branch.";
    return {
      title: "branches",
      blocks: [
        { type: "tree", items: [current] },
        { type: "text", text, tone: "faint" },
      ],
    };
  }
  const item = {
    depth: 1,
    label: `reverted: ${reverted.human} prompts, ${reverted.assistant} replies`,
    note: "the next prompt deletes them",
    tone: "warn" as const,
    open: { view: "branch", of: "reverted" },
  };
  return { title: "branches", blocks: [{ type: "tree", items: [current, item] }] };
}

/** The view `team`: sub-agents' sessions. */
export function teamDocument(children: readonly Snapshot[]): Document {
  return {
    title: "team",
    blocks: [
      {
        type: "table",
        columns: [
          { title: "session", flexible: true },
          { title: "status" },
          { title: "model", from: 70 },
          { title: "output", align: "right" },
          { title: "cost", align: "right", from: 60 },
        ],
        rows: children.map((child) => ({
          cells: [
            child.title,
            child.status,
            child.models[0] ?? "–",
            child.own === null ? "–" : formatTokens(child.own.output),
            formatCost(child.own?.cost ?? null, child.own?.costBasis ?? null),
          ],
          open: { view: "branch", of: `agent:${child.id}` },
        })),
        empty: "No sub-agents.",
      },
    ],
  };
}

/** The view `info`: where it lies, what it was copied from, why this status. */
export function infoDocument(facts: SessionFacts, snapshot: Snapshot): Document {
  const { session } = facts;
  const row = (label: string, value: string | null): { label: string; value: string } => ({
    label,
    value: value === null ? "–" : cleanLine(value),
  });
  const stores = { json: "files below storage/", v1: "database, version 1", v2: "database, version 2" };
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        row("id", session.id),
        row("title from", String(snapshot.extra.titleFrom ?? "–")),
        row("store", stores[session.generation]),
        row("path", session.path),
        row("directory", session.cwd),
        row("OpenCode", session.version),
        row("agent", session.agent),
        row("messages", String(facts.messages.length)),
        row("calls", facts.toolCalls === null ? null : String(facts.toolCalls)),
        row("copied from", snapshot.parent?.relation === "fork" ? snapshot.parent.key : null),
      ],
    },
    { type: "heading", text: `why ${snapshot.status}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
  if (session.revert !== null) {
    const text = "What was reverted is hidden but was billed; the next prompt deletes it for good.";
    blocks.push({ type: "text", text, tone: "warn" });
  }
  for (const damage of snapshot.damage) blocks.push({ type: "text", text: damage.kind, tone: "warn" });
  return { title: "info", blocks };
}
