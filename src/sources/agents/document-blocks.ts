import type { Block, Document, TreeItem } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { formatCost, formatTokens } from "../../usage/format.ts";

const MOST_LABEL = 200;

/** A field of the view `info`; a dash where nothing is known. */
export function fieldRow(label: string, value: string | null | undefined): { label: string; value: string } {
  return { label, value: value === null || value === undefined ? "–" : cleanLine(value) };
}

/** Why a session has its status, in the view `info`. */
export function whyBlocks(snapshot: Snapshot): Block[] {
  return [
    { type: "heading", text: `why ${snapshot.status}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
}

/** What of a session's files could not be read, in the view `info`. */
export function damageBlocks({ damage }: Snapshot): Block[] {
  return damage.map(({ kind, bytes, line }) => {
    const where = line === null ? "" : `, line ${line}`;
    const size = bytes === null ? "" : `, ${bytes} bytes`;
    return { type: "text", text: `${kind}${where}${size}`, tone: "warn" };
  });
}

/** The name of a branch: a prompt, cut. */
export function promptLabel(text: string): string {
  return cutCodePoints(cleanLine(text), MOST_LABEL);
}

/** `2026-11-20 09:00` in UTC of ms since 1970, empty for 0 or nothing. */
export function minuteOf(time: number | null | undefined): string {
  return time ? new Date(time).toISOString().slice(0, 16).replace("T", " ") : "";
}

/** The view `branches`: the branch that goes on, and those that were left. `none` is said when there are none. */
export function branchesTree(
  current: { label: string; note?: string },
  left: readonly Omit<TreeItem, "depth">[],
  none: string,
): Document {
  const here: TreeItem = {
    ...{ depth: 0, label: current.label, note: current.note ?? "goes on here" },
    ...{ tone: "strong", open: { view: "timeline" } },
  };
  const others = left.map((item): TreeItem => ({ depth: 1, tone: "faint", ...item }));
  const blocks: Block[] = [{ type: "tree", items: [here, ...others] }];
  if (left.length === 0) blocks.push({ type: "text", text: none, tone: "faint" });
  return { title: "branches", blocks };
}

/** The view `team`: sessions that this one started; `word` is what the tool's are called. */
export function startedDocument(word: string, children: readonly Snapshot[]): Document {
  return {
    title: "team",
    blocks: [
      {
        type: "table",
        columns: [
          { title: word, flexible: true },
          { title: "status" },
          { title: "model", from: 70 },
          { title: "output", align: "right" },
          { title: "cost", align: "right", from: 60 },
        ],
        rows: children.map(({ id, title, status, models, own }) => ({
          cells: [
            title,
            status,
            models[0] ?? "–",
            own === null ? "–" : formatTokens(own.output),
            formatCost(own?.cost ?? null, own?.costBasis ?? null),
          ],
          open: { view: "branch", of: `agent:${id}` },
        })),
        empty: "No sub-agents.",
      },
    ],
  };
}
