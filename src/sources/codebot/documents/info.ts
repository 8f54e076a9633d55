import type { Block, Document } from "../../../session/document.ts";
import type { Snapshot } from "../../../session/snapshot.ts";
import { cleanLine } from "../../../session/untrusted.ts";
import { contextLength, syntheticCount } from "../context-count.ts";
import { modelName } from "../facts.ts";
import type { SessionState } from "../fold.ts";
import { SESSION_VERSION } from "../payloads.ts";
import { amount } from "./numbers.ts";

/** What each kind of damage means, and what follows from it (codebot.md §14). */
const DAMAGE: Record<string, string> = {
  torn_tail: "the last line is unfinished; codebot cuts it off when it opens the session",
  malformed_line: "a line is no entry; codebot refuses to open the session",
  empty_id: "an entry has no id; codebot refuses to open the session",
  duplicate_id: "an id occurs again; the last one counts",
  missing_parent: "the chain leads to an entry that is not there; shown in file order",
  parent_cycle: "the chain runs in a circle; shown in file order",
  no_header: "the chain does not reach the header; shown in file order",
  undecodable_message: "a message cannot be decoded; codebot drops it",
  oversize_line: "a line is too long to be read",
  newer_format: "written by a newer codebot; 0.3 neither lists nor opens it",
  older_format: "written by an older codebot; 0.3 neither lists nor opens it",
  unknown_kind: "a kind of entry this format does not have",
  header_id: "the header names another session than the file's name",
  header_cwd: "the header's directory does not belong to this project directory",
};

/** What the session is, where it lies, and what is wrong with it. */
export function infoDocument(state: SessionState, snapshot: Snapshot, bytes: number): Document {
  const { chain, flat } = state;
  const isFlat = state.shape === "flat";
  const version = state.header?.version ?? 0;
  const model = isFlat ? modelName(flat.provider, flat.model) : modelName(chain.provider, chain.model);
  const context = isFlat ? flat.history.length : contextLength(chain.context);
  const synthetic = isFlat ? 0 : syntheticCount(chain.context);
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        { label: "id", value: snapshot.id },
        { label: "file", value: cleanLine(snapshot.path) },
        { label: "size", value: `${amount(bytes)} bytes, ${amount(state.lines)} lines` },
        { label: "format", value: `version ${version}${version === SESSION_VERSION ? "" : " (not codebot 0.3's)"}` },
        { label: "directory", value: cleanLine(state.header?.cwd ?? "") || "–" },
        { label: "created", value: snapshot.createdAt ?? "–" },
        { label: "updated", value: snapshot.updatedAt ?? "–" },
        { label: "status", value: `${snapshot.status} (${snapshot.native ?? "–"}, ${snapshot.certainty})` },
        { label: "why", value: snapshot.why.join("; ") },
        { label: "copied from", value: snapshot.parent?.key ?? "–" },
      ],
    },
    { type: "heading", text: "what codebot restores" },
    {
      type: "fields",
      rows: [
        { label: "messages", value: `${context}${synthetic > 0 ? `, ${synthetic} of them synthetic results` : ""}` },
        { label: "model", value: cleanLine(model) || "as configured" },
        { label: "effort", value: cleanLine(isFlat ? flat.effort : chain.effort) || "provider's default" },
        { label: "compactions", value: String(isFlat ? flat.compactions : chain.compactions) },
        ...(isFlat ? [{ label: "rewinds", value: String(flat.rewinds) }] : []),
      ],
    },
    { type: "heading", text: "messages" },
    {
      type: "fields",
      rows: Object.entries(state.byRole).map(([role, count]) => ({
        label: cleanLine(role) || "–",
        value: amount(count),
      })),
    },
  ];
  const unknown = Object.entries(state.unknownKinds);
  if (unknown.length > 0) {
    blocks.push(
      { type: "heading", text: "other kinds of entries" },
      { type: "fields", rows: unknown.map(([kind, count]) => ({ label: cleanLine(kind), value: amount(count) })) },
    );
  }
  if (snapshot.damage.length > 0) {
    blocks.push(
      { type: "heading", text: "problems" },
      {
        type: "table",
        columns: [{ title: "line", align: "right" }, { title: "kind" }, { title: "what it means", flexible: true }],
        rows: snapshot.damage.map(({ kind, line }) => ({
          cells: [line === null ? "–" : String(line), kind, DAMAGE[kind] ?? ""],
          tone: "bad",
        })),
      },
    );
  }
  return { title: "info", blocks };
}
