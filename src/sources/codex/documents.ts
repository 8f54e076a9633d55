import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { loadPrices } from "../../usage/prices.ts";
import { usageDocument } from "../../usage/usage-document.ts";
import { branchesTree, damageBlocks, fieldRow, promptLabel, whyBlocks } from "../agents/document-blocks.ts";
import type { ViewName } from "../source.ts";
import { eventsOnPath, isShown, pathOf } from "./path.ts";
import type { HeldThread } from "./reader.ts";
import { metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";

/** The views of a thread that are no transcript. */
export async function codexDocument(
  view: ViewName,
  held: HeldThread,
  children: readonly (Snapshot | undefined)[],
  lookup: RolloutLookup,
): Promise<Document> {
  switch (view) {
    case "branches":
      return branchesDocument(held, lookup);
    case "usage":
      return usageDocument(held.snapshot, held.described.requests(), await loadPrices());
    case "team":
      return teamDocument(children.filter((child) => child !== undefined).filter((child) => child.hidden));
    case "info":
      return infoDocument(held);
    default:
      throw new Error(`Codex threads have no view ${view}`);
  }
}

function branchesDocument(held: HeldThread, lookup: RolloutLookup): Document {
  const { current, described } = held;
  const left = described.files.filter((file) => file !== current && file.path !== current.path).reverse();
  const others = left.map((file) => ({
    label: lastPromptOf(file, lookup),
    note: `left by a revert, ${file.name.time}`,
    open: { view: "branch", of: file.name.stem },
  }));
  const here = { label: described.lastPrompt ?? described.title };
  return branchesTree(here, others, "Nothing was reverted: there is only this branch.");
}

function lastPromptOf(file: Rollout, lookup: RolloutLookup): string {
  const last = eventsOnPath(pathOf(file, lookup)).findLast(
    (one) => one.event.k === "prompt" && isShown(one.file, one.index),
  );
  const text = last?.event.k === "prompt" ? promptLabel(last.event.text) : "";
  return text === "" ? file.name.stem : text;
}

function teamDocument(children: readonly Snapshot[]): Document {
  return {
    title: "team",
    blocks: [
      {
        type: "table",
        columns: [
          { title: "agent", flexible: true },
          { title: "kind" },
          { title: "status" },
          { title: "model", from: 70 },
          { title: "requests", align: "right" },
        ],
        rows: children.map((child) => ({
          cells: [
            child.title,
            String(child.extra.agentName ?? child.extra.kind ?? "–"),
            child.status,
            child.models.at(-1) ?? "–",
            child.own === null ? "–" : String(child.own.requests),
          ],
          open: { view: "branch", of: `agent:${child.id}` },
        })),
        empty: "No sub-agents.",
      },
    ],
  };
}

function infoDocument(held: HeldThread): Document {
  const { snapshot, described, current } = held;
  const meta = metaOf(current);
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        fieldRow("id", described.thread),
        fieldRow("title from", described.titleFrom),
        ...described.files.map((file) => fieldRow(file.path === current.path ? "file" : "reverted file", file.path)),
        fieldRow("size", `${current.folded.size} bytes, ${current.folded.state.ordinals.lines} lines`),
        fieldRow("directory", `${described.cwd ?? "–"} (from ${described.cwdFrom})`),
        fieldRow("git branch", meta?.gitBranch),
        fieldRow("codex", meta?.version),
        fieldRow("started by", meta?.source),
        fieldRow("kind", described.kind),
        fieldRow(
          "history",
          meta?.generation === 1 ? "first generation" : meta?.paginated === true ? "paginated" : "legacy",
        ),
        fieldRow("belongs to", described.parent?.thread),
      ],
    },
    ...whyBlocks(snapshot),
  ];
  blocks.push(...damageBlocks(snapshot));
  return { title: "info", blocks };
}
