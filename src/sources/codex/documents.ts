import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { loadPrices } from "../../usage/prices.ts";
import { usageDocument } from "../../usage/usage-document.ts";
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
  const blocks: Block[] = [
    {
      type: "tree",
      items: [
        {
          depth: 0,
          label: described.lastPrompt ?? described.title,
          note: "goes on here",
          tone: "strong",
          open: { view: "timeline" },
        },
        ...left.map((file) => ({
          depth: 1,
          label: lastPromptOf(file, lookup),
          note: `left by a revert, ${file.name.time}`,
          tone: "faint" as const,
          open: { view: "branch", of: file.name.stem },
        })),
      ],
    },
  ];
  if (left.length === 0)
    blocks.push({ type: "text", text: "Nothing was reverted: there is only this branch.", tone: "faint" });
  return { title: "branches", blocks };
}

function lastPromptOf(file: Rollout, lookup: RolloutLookup): string {
  const last = eventsOnPath(pathOf(file, lookup)).findLast(
    (one) => one.event.k === "prompt" && isShown(one.file, one.index),
  );
  const text = last?.event.k === "prompt" ? cutCodePoints(cleanLine(last.event.text), 200) : "";
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
  const row = (label: string, value: string | null | undefined): { label: string; value: string } => ({
    label,
    value: value === null || value === undefined ? "–" : cleanLine(value),
  });
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        row("id", described.thread),
        row("title from", described.titleFrom),
        ...described.files.map((file) => row(file.path === current.path ? "file" : "reverted file", file.path)),
        row("size", `${current.folded.size} bytes, ${current.folded.state.ordinals.lines} lines`),
        row("directory", `${described.cwd ?? "–"} (from ${described.cwdFrom})`),
        row("git branch", meta?.gitBranch),
        row("codex", meta?.version),
        row("started by", meta?.source),
        row("kind", described.kind),
        row("history", meta?.generation === 1 ? "first generation" : meta?.paginated === true ? "paginated" : "legacy"),
        row("belongs to", described.parent?.thread),
      ],
    },
    { type: "heading", text: `why ${snapshot.status}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
  for (const damage of snapshot.damage) {
    const where = damage.line === null ? "" : `, line ${damage.line}`;
    const size = damage.bytes === null ? "" : `, ${damage.bytes} bytes`;
    blocks.push({ type: "text", text: `${damage.kind}${where}${size}`, tone: "warn" });
  }
  return { title: "info", blocks };
}
