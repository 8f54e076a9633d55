import type { ByteSource, FileFold } from "../../files/fold.ts";
import { foldLines } from "../jsonl/folded-lines.ts";
import { type Fields, field, numberField, parseRecord, textField, timeField } from "../jsonl/record.ts";
import { newPiFile, type PiFile, ROW } from "./file.ts";
import { isEntryId, madeUpId, SESSION_ID } from "./ids.ts";
import { takeMessage } from "./message-fold.ts";
import { nameIndex } from "./names.ts";
import { takeUsage } from "./usage-fold.ts";

const MOST_STRING = 4096;

/** One session file of pi (agents.md §3.2). */
export const piFold: FileFold<PiFile> = {
  name: "pi",
  version: 3,
  initial: newPiFile,
  *advance(state, bytes, from) {
    return yield* advancePi(state, bytes, from);
  },
};

export function* advancePi(state: PiFile, bytes: ByteSource, from: number): Generator<void, number> {
  return yield* foldLines(state, bytes, from, (line, offset) => {
    const first = state.ordinals.lines === 0;
    // Of a file that does not begin with a header nothing is kept: it is another program's (agents.md §3.1).
    if (!first && state.header === null) return true;
    const fields = parseRecord(line, MOST_STRING)?.fields ?? null;
    if (first) state.header = headerOf(fields);
    else if (fields !== null) takeEntry(state, fields, offset);
    return first || fields !== null;
  });
}

function headerOf(fields: Fields | null): PiFile["header"] {
  const id = textField(fields, "id");
  if (textField(fields, "type") !== "session" || id === null || !SESSION_ID.test(id)) return null;
  return {
    id,
    version: numberField(fields, "version") ?? 1,
    startedAt: timeField(fields, "timestamp"),
    cwd: textField(fields, "cwd"),
    parentSession: textField(fields, "parentSession"),
  };
}

function takeEntry(state: PiFile, fields: Fields, offset: number): void {
  const type = textField(fields, "type");
  if (type === null || type === "session") return;
  const row = newRow(state, fields, offset);
  if (row < 0) return;
  switch (type) {
    case "message":
      takeMessage(state, fields, row);
      return;
    case "model_change":
      setModel(state, row, textField(fields, "provider"), textField(fields, "modelId"));
      return;
    case "usage":
      takeUsage(state, row, fields, { provider: textField(fields, "provider"), model: textField(fields, "model") });
      return;
    case "compaction":
      state.kinds[row] = ROW.compaction;
      state.compactions.push({ row, kept: keptOf(state, fields) });
      takeUsage(state, row, fields, null);
      return;
    case "branch_summary":
      state.kinds[row] = ROW.summary;
      takeUsage(state, row, fields, null);
      return;
    case "custom_message":
      state.kinds[row] = ROW.injected;
      return;
    case "context_edit": {
      const target = textField(fields, "targetId");
      state.kinds[row] = ROW.edit;
      if (target !== null) state.edits.push({ row, target, omits: field(fields, "replacement") === null });
      return;
    }
    case "label":
      takeLabel(state, fields);
      return;
    case "session_info":
      state.name = textField(fields, "name")?.slice(0, 2000) ?? null;
      return;
    default:
  }
}

/** Version 1 counts the file's lines from 0, the header among them. */
function keptOf(state: PiFile, fields: Fields): string | null {
  const index = numberField(fields, "firstKeptEntryIndex");
  return textField(fields, "firstKeptEntryId") ?? (index === null ? null : (state.ids[index - 1] ?? null));
}

function newRow(state: PiFile, fields: Fields, offset: number): number {
  const row = state.ids.length;
  const given = textField(fields, "id");
  const linear = given === null && (state.header?.version ?? 1) < 2;
  const id = linear ? madeUpId(state.header?.id ?? "", offset) : given;
  if (id === null || !isEntryId(id) || Object.hasOwn(state.rows, id)) return -1;
  const parent = linear ? row - 1 : parentRow(state, fields, row);
  const time = timeField(fields, "timestamp");
  state.rows[id] = row;
  state.ids.push(id);
  state.parents.push(parent);
  state.offsets.push(offset);
  state.kinds.push(0);
  state.times.push(time ?? 0);
  state.providers.push(state.providers[parent] ?? -1);
  state.models.push(state.models[parent] ?? -1);
  if (time !== null && (state.updatedAt === null || time > state.updatedAt)) state.updatedAt = time;
  return row;
}

function parentRow(state: PiFile, fields: Fields, row: number): number {
  const parent = textField(fields, "parentId");
  if (parent === null) return -1;
  if (Object.hasOwn(state.rows, parent)) return state.rows[parent] ?? -1;
  if (isEntryId(parent)) state.loose.push([row, parent]);
  return -1;
}

function takeLabel(state: PiFile, fields: Fields): void {
  const target = textField(fields, "targetId");
  if (target === null || !isEntryId(target)) return;
  const label = textField(fields, "label");
  if (label === null || label === "") delete state.labels[target];
  else state.labels[target] = label.slice(0, 200);
}

/** The model in force from this row on, down its branches. */
function setModel(state: PiFile, row: number, provider: string | null, model: string | null): void {
  if (provider !== null) state.providers[row] = nameIndex(state, provider);
  if (model !== null) state.models[row] = nameIndex(state, model);
}
