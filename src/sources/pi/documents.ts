import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { formatCost, formatTokens } from "../../usage/format.ts";
import { kindOf, type PiFile, ROW } from "./file.ts";
import type { Candidate } from "./sessions.ts";
import { activePath, type LeftBranch, leftBranches, pathTo } from "./tree.ts";

/** The view `branches`: the one that goes on, and those that were left, with labels. */
export function branchesDocument(file: PiFile): Document {
  const left = leftBranches(file);
  const path = activePath(file);
  const on = new Set(path);
  const last = file.prompts.findLast((prompt) => on.has(prompt.row));
  const current = {
    depth: 0,
    label: last === undefined ? "this conversation" : shown(last.text),
    note: `goes on here${timeOf(file, path.at(-1) ?? -1)}`,
    tone: "strong" as const,
    open: { view: "timeline" },
  };
  const items = left.map((branch) => ({
    depth: 1,
    label: promptAfter(file, branch, on),
    note: timeOf(file, branch.leaf).replace(/^, /u, ""),
    tone: "faint" as const,
    open: { view: "branch", of: file.ids[branch.leaf] ?? "" },
  }));
  const blocks: Block[] = [{ type: "tree", items: [current, ...items] }];
  if (left.length === 0) blocks.push({ type: "text", text: "There is only this branch.", tone: "faint" });
  const labels = Object.entries(file.labels).filter(([id]) => Object.hasOwn(file.rows, id));
  if (labels.length > 0) {
    blocks.push(
      { type: "heading", text: "labels" },
      {
        type: "table",
        columns: [{ title: "label", flexible: true }, { title: "entry" }],
        rows: labels.map(([id, label]) => ({
          cells: [shown(label), id],
          open: on.has(file.rows[id] ?? -1) ? { view: "timeline", ref: id } : { view: "branch", of: id },
        })),
      },
    );
  }
  return { title: "branches", blocks };
}

/** What was asked where the branch left the one that goes on. */
function promptAfter(file: PiFile, branch: LeftBranch, on: ReadonlySet<number>): string {
  const first = pathTo(file, branch.leaf).find((row) => !on.has(row) && (kindOf(file, row) & ROW.user) !== 0);
  const text = file.prompts.find((prompt) => prompt.row === first)?.text ?? "";
  return text === "" ? "(a reply that was taken again)" : shown(text);
}

function shown(text: string): string {
  return cutCodePoints(cleanLine(text), 200);
}

function timeOf(file: PiFile, row: number): string {
  const time = file.times[row] ?? 0;
  return time === 0 ? "" : `, ${new Date(time).toISOString().slice(0, 16).replace("T", " ")}`;
}

/** The view `team`: sessions that this one started. */
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

/** The view `info`: paths, what it was copied from, why this status, damage. */
export function infoDocument(snapshot: Snapshot, candidate: Candidate, copies: readonly Candidate[]): Document {
  const { folded, header } = candidate;
  const file = folded.state;
  const row = (label: string, value: string | null): { label: string; value: string } => ({
    label,
    value: value === null ? "–" : cleanLine(value),
  });
  const missing = snapshot.extra.forkOfMissing === true ? " (gone)" : "";
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        row("id", header.id),
        row("title from", String(snapshot.extra.titleFrom ?? "–")),
        row("file", folded.path),
        row("size", `${folded.size} bytes, ${file.lines.lines} lines`),
        row("format", `version ${header.version}`),
        row("directory", header.cwd),
        row("copied from", header.parentSession === null ? null : `${header.parentSession}${missing}`),
        row("compactions", String(file.compactions.length)),
      ],
    },
    { type: "heading", text: `why ${snapshot.status}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
  for (const copy of copies.filter((one) => one !== candidate)) {
    blocks.push({ type: "text", text: `also in ${cleanLine(copy.folded.path)}, written to earlier`, tone: "warn" });
  }
  for (const damage of snapshot.damage) {
    const where = damage.line === null ? "" : `, line ${damage.line}`;
    const size = damage.bytes === null ? "" : `, ${damage.bytes} bytes`;
    blocks.push({ type: "text", text: `${damage.kind}${where}${size}`, tone: "warn" });
  }
  return { title: "info", blocks };
}
