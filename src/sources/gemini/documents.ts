import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { formatCost, formatTokens } from "../../usage/format.ts";
import { type GeminiFile, messagesOf } from "./file.ts";
import type { Candidate } from "./sessions.ts";

/** The view `branches`: the conversation as it is now, and what rewinds took away. */
export function branchesDocument(file: GeminiFile, snapshot: Snapshot): Document {
  const last = messagesOf(file, file.active).findLast((one) => one.prompt);
  const current = {
    depth: 0,
    label: last === undefined ? snapshot.title : shown(last.text),
    note: "goes on here",
    tone: "strong" as const,
    open: { view: "timeline" },
  };
  const items = file.rewinds.toReversed().map((dropped) => {
    const messages = messagesOf(file, dropped);
    const first = messages.find((one) => one.prompt);
    const time = messages[0]?.time ?? 0;
    return {
      depth: 1,
      label: first === undefined ? "(a reply that was taken again)" : shown(first.text),
      note: time === 0 ? "rewound" : `rewound, ${new Date(time).toISOString().slice(0, 16).replace("T", " ")}`,
      tone: "faint" as const,
      open: { view: "branch", of: dropped[0] ?? "" },
    };
  });
  const blocks: Block[] = [{ type: "tree", items: [current, ...items] }];
  if (items.length === 0)
    blocks.push({ type: "text", text: "Nothing was rewound: there is only this branch.", tone: "faint" });
  return { title: "branches", blocks };
}

function shown(text: string): string {
  return cutCodePoints(cleanLine(text), 200);
}

/** The view `team`: sub-agents' chats. */
export function teamDocument(children: readonly Snapshot[]): Document {
  return {
    title: "team",
    blocks: [
      {
        type: "table",
        columns: [
          { title: "chat", flexible: true },
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

/** The view `info`: paths, where the directory is known from, why this status, damage. */
export function infoDocument(snapshot: Snapshot, candidate: Candidate, copies: readonly Candidate[]): Document {
  const { folded } = candidate;
  const file = folded.state;
  const row = (label: string, value: string | null): { label: string; value: string } => ({
    label,
    value: value === null ? "–" : cleanLine(value),
  });
  const from = snapshot.extra.cwdFrom;
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        row("id", candidate.id),
        row("title from", String(snapshot.extra.titleFrom ?? "–")),
        row("file", folded.path),
        row("size", `${folded.size} bytes, ${file.seen.length} messages`),
        row("directory", snapshot.cwd),
        row("known from", typeof from === "string" ? from : "nothing hashes to its folder's name"),
        row("copied from", snapshot.parent?.relation === "fork" ? snapshot.parent.key : null),
      ],
    },
    { type: "heading", text: `why ${snapshot.status}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
  for (const copy of copies.filter((one) => one !== candidate)) {
    blocks.push({ type: "text", text: `also in ${cleanLine(copy.folded.path)}, updated earlier`, tone: "warn" });
  }
  for (const damage of snapshot.damage) {
    const where = damage.line === null ? "" : `, line ${damage.line}`;
    const size = damage.bytes === null ? "" : `, ${damage.bytes} bytes`;
    blocks.push({ type: "text", text: `${damage.kind}${where}${size}`, tone: "warn" });
  }
  return { title: "info", blocks };
}
