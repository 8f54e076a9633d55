import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { branchesTree, damageBlocks, fieldRow, minuteOf, promptLabel, whyBlocks } from "../agents/document-blocks.ts";
import { type GeminiFile, messagesOf } from "./file.ts";
import type { Candidate } from "./sessions.ts";

/** The view `branches`: the conversation as it is now, and what rewinds took away. */
export function branchesDocument(file: GeminiFile, snapshot: Snapshot): Document {
  const last = messagesOf(file, file.active).findLast((one) => one.prompt);
  const label = last === undefined ? snapshot.title : promptLabel(last.text);
  const left = file.rewinds.toReversed().map((dropped) => {
    const messages = messagesOf(file, dropped);
    const first = messages.find((one) => one.prompt);
    const time = minuteOf(messages[0]?.time);
    return {
      label: first === undefined ? "(a reply that was taken again)" : promptLabel(first.text),
      note: time === "" ? "rewound" : `rewound, ${time}`,
      open: { view: "branch", of: dropped[0] ?? "" },
    };
  });
  return branchesTree({ label }, left, "Nothing was rewound: there is only this branch.");
}

/** The view `info`: paths, where the directory is known from, why this status, damage. */
export function infoDocument(snapshot: Snapshot, candidate: Candidate, copies: readonly Candidate[]): Document {
  const { folded } = candidate;
  const file = folded.state;
  const from = snapshot.extra.cwdFrom;
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        fieldRow("id", candidate.id),
        fieldRow("title from", String(snapshot.extra.titleFrom ?? "–")),
        fieldRow("file", folded.path),
        fieldRow("size", `${folded.size} bytes, ${file.seen.length} messages`),
        fieldRow("directory", snapshot.cwd),
        fieldRow("known from", typeof from === "string" ? from : "nothing hashes to its folder's name"),
        fieldRow("copied from", snapshot.parent?.relation === "fork" ? snapshot.parent.key : null),
      ],
    },
    ...whyBlocks(snapshot),
  ];
  for (const copy of copies.filter((one) => one !== candidate)) {
    blocks.push({ type: "text", text: `also in ${cleanLine(copy.folded.path)}, updated earlier`, tone: "warn" });
  }
  blocks.push(...damageBlocks(snapshot));
  return { title: "info", blocks };
}
