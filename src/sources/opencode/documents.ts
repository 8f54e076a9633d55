import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { branchesTree, damageBlocks, fieldRow, whyBlocks } from "../agents/document-blocks.ts";
import type { SessionFacts } from "./session-facts.ts";

/** The view `branches`: OpenCode has one, and what was reverted until the next prompt deletes it (agents.md §4.3). */
export function branchesDocument(facts: SessionFacts, snapshot: Snapshot): Document {
  const { reverted, session } = facts;
  const current = { label: facts.lastPrompt ?? snapshot.title };
  const item = {
    label: `reverted: ${reverted.human} prompts, ${reverted.assistant} replies`,
    note: "the next prompt deletes them",
    tone: "warn" as const,
    open: { view: "branch", of: "reverted" },
  };
  const left = session.revert === null ? [] : [item];
  return branchesTree(current, left, "Nothing was reverted: there is only this branch.");
}

/** The view `info`: where it lies, what it was copied from, why this status. */
export function infoDocument(facts: SessionFacts, snapshot: Snapshot): Document {
  const { session } = facts;
  const stores = { json: "files below storage/", v1: "database, version 1", v2: "database, version 2" };
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        fieldRow("id", session.id),
        fieldRow("title from", String(snapshot.extra.titleFrom ?? "–")),
        fieldRow("store", stores[session.generation]),
        fieldRow("path", session.path),
        fieldRow("directory", session.cwd),
        fieldRow("OpenCode", session.version),
        fieldRow("agent", session.agent),
        fieldRow("messages", String(facts.messages.length)),
        fieldRow("calls", facts.toolCalls === null ? null : String(facts.toolCalls)),
        fieldRow("copied from", snapshot.parent?.relation === "fork" ? snapshot.parent.key : null),
      ],
    },
    ...whyBlocks(snapshot),
  ];
  if (session.revert !== null) {
    const text = "What was reverted is hidden but was billed; the next prompt deletes it for good.";
    blocks.push({ type: "text", text, tone: "warn" });
  }
  blocks.push(...damageBlocks(snapshot));
  return { title: "info", blocks };
}
