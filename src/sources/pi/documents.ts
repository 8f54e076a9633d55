import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { branchesTree, damageBlocks, fieldRow, minuteOf, promptLabel, whyBlocks } from "../agents/document-blocks.ts";
import { kindOf, type PiFile, ROW } from "./file.ts";
import type { Candidate } from "./sessions.ts";
import { activePath, type LeftBranch, leftBranches, pathTo } from "./tree.ts";

/** The view `branches`: the one that goes on, and those that were left, with labels. */
export function branchesDocument(file: PiFile): Document {
  const path = activePath(file);
  const on = new Set(path);
  const last = file.prompts.findLast((prompt) => on.has(prompt.row));
  const since = timeOf(file, path.at(-1) ?? -1);
  const current = {
    label: last === undefined ? "this conversation" : promptLabel(last.text),
    note: `goes on here${since === "" ? "" : `, ${since}`}`,
  };
  const left = leftBranches(file).map((branch) => ({
    label: promptAfter(file, branch, on),
    note: timeOf(file, branch.leaf),
    open: { view: "branch", of: file.ids[branch.leaf] ?? "" },
  }));
  const document = branchesTree(current, left, "There is only this branch.");
  const labels = Object.entries(file.labels).filter(([id]) => Object.hasOwn(file.rows, id));
  if (labels.length > 0) {
    document.blocks.push(
      { type: "heading", text: "labels" },
      {
        type: "table",
        columns: [{ title: "label", flexible: true }, { title: "entry" }],
        rows: labels.map(([id, label]) => ({
          cells: [promptLabel(label), id],
          open: on.has(file.rows[id] ?? -1) ? { view: "timeline", ref: id } : { view: "branch", of: id },
        })),
      },
    );
  }
  return document;
}

/** What was asked where the branch left the one that goes on. */
function promptAfter(file: PiFile, branch: LeftBranch, on: ReadonlySet<number>): string {
  const first = pathTo(file, branch.leaf).find((row) => !on.has(row) && (kindOf(file, row) & ROW.user) !== 0);
  const text = file.prompts.find((prompt) => prompt.row === first)?.text ?? "";
  return text === "" ? "(a reply that was taken again)" : promptLabel(text);
}

function timeOf(file: PiFile, row: number): string {
  return minuteOf(file.times[row]);
}

/** The view `info`: paths, what it was copied from, why this status, damage. */
export function infoDocument(snapshot: Snapshot, candidate: Candidate, copies: readonly Candidate[]): Document {
  const { folded, header } = candidate;
  const file = folded.state;
  const missing = snapshot.extra.forkOfMissing === true ? " (gone)" : "";
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        fieldRow("id", header.id),
        fieldRow("title from", String(snapshot.extra.titleFrom ?? "–")),
        fieldRow("file", folded.path),
        fieldRow("size", `${folded.size} bytes, ${file.ordinals.lines} lines`),
        fieldRow("format", `version ${header.version}`),
        fieldRow("directory", header.cwd),
        fieldRow("copied from", header.parentSession === null ? null : `${header.parentSession}${missing}`),
        fieldRow("compactions", String(file.compactions.length)),
      ],
    },
    ...whyBlocks(snapshot),
  ];
  for (const copy of copies.filter((one) => one !== candidate)) {
    blocks.push({ type: "text", text: `also in ${cleanLine(copy.folded.path)}, written to earlier`, tone: "warn" });
  }
  blocks.push(...damageBlocks(snapshot));
  return { title: "info", blocks };
}
