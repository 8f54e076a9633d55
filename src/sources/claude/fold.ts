import type { ByteSource, FileFold } from "../../files/fold.ts";
import { foldLines } from "../jsonl/folded-lines.ts";
import { type Fields, field, numberField, objectField, parseRecord, textField, timeField } from "../jsonl/record.ts";
import { readAssistantRow, readRepeatedAssistantRow } from "./assistant-row.ts";
import { type ClaudeFile, newClaudeFile, ROW } from "./file.ts";
import { isRowId, SESSION_ID } from "./ids.ts";
import { noteUserRow, rejectPendingCommand } from "./user-fold.ts";

/** What a list needs of a string: titles and prompts are cut long before this. */
const MOST_STRING = 4096;
const MOST_TITLE = 2000;
const MOST_ROOTS = 64;

/** One transcript file of Claude Code (agents.md §1). */
export const claudeFold: FileFold<ClaudeFile> = {
  name: "claude",
  version: 4,
  initial: newClaudeFile,
  *advance(state, bytes, from) {
    return yield* advanceClaude(state, bytes, from);
  },
};

export function* advanceClaude(state: ClaudeFile, bytes: ByteSource, from: number): Generator<void, number> {
  return yield* foldLines(state, bytes, from, (line, offset) => {
    const record = parseRecord(line, MOST_STRING);
    if (record !== null) takeRecord(state, record.fields, offset);
    return record !== null;
  });
}

function takeRecord(state: ClaudeFile, fields: Fields, offset: number): void {
  const time = timeField(fields, "timestamp");
  if (time !== null) {
    if (state.startedAt === null || time < state.startedAt) state.startedAt = time;
    if (state.updatedAt === null || time > state.updatedAt) state.updatedAt = time;
  }
  const cwd = textField(fields, "cwd");
  if (cwd !== null) {
    state.cwd ??= cwd;
    state.lastCwd = cwd;
  }
  switch (textField(fields, "type")) {
    case "user":
    case "assistant":
    case "system":
    case "attachment":
      takeRow(state, fields, offset, time);
      return;
    case "summary": {
      const leaf = textField(fields, "leafUuid");
      const summary = textField(fields, "summary");
      if (leaf !== null && summary !== null && isRowId(leaf)) state.summaries[leaf] = summary.slice(0, MOST_TITLE);
      return;
    }
    case "custom-title":
      state.customTitle = textField(fields, "customTitle")?.slice(0, MOST_TITLE) ?? state.customTitle;
      return;
    case "ai-title":
      state.aiTitle = textField(fields, "aiTitle")?.slice(0, MOST_TITLE) ?? state.aiTitle;
      return;
    case "tag":
      state.tag = textField(fields, "tag")?.slice(0, MOST_TITLE) ?? state.tag;
      return;
    case "queue-operation":
      takeQueue(state, fields, offset);
      return;
    case "cost-state":
      state.reportedCost = numberField(fields, "totalCostUSD") ?? state.reportedCost;
      return;
    default:
  }
}

/** Typed-ahead prompts: dequeue takes the oldest, remove the one with that text, else the newest. */
function takeQueue(state: ClaudeFile, fields: Fields, offset: number): void {
  const content = textField(fields, "content");
  switch (textField(fields, "operation")) {
    case "enqueue":
      if (content !== null) state.queue.push({ offset, text: content.slice(0, MOST_TITLE) });
      return;
    case "dequeue":
      state.queue.shift();
      return;
    case "remove": {
      const found = content === null ? -1 : state.queue.findIndex((one) => one.text === content.slice(0, MOST_TITLE));
      state.queue.splice(found < 0 ? state.queue.length - 1 : found, 1);
      return;
    }
    case "popAll":
      state.queue = [];
      return;
    default:
  }
}

function takeRow(state: ClaudeFile, fields: Fields, offset: number, time: number | null): void {
  const uuid = textField(fields, "uuid");
  if (uuid === null || !isRowId(uuid)) return;
  const session = textField(fields, "sessionId");
  state.sessionId ??= session;
  // Some versions write rows again after a compaction or a branch: the first copy wins (agents.md §1.3).
  if (Object.hasOwn(state.rows, uuid)) {
    if (textField(fields, "type") === "assistant") readRepeatedAssistantRow(state, fields, state.rows[uuid] ?? -1);
    return;
  }
  const row = state.parents.length;
  const side = field(fields, "isSidechain") === true;
  state.rows[uuid] = row;
  const parent = parentRow(state, fields, row);
  state.parents.push(parent);
  if (parent < 0 && state.roots.length < MOST_ROOTS) state.roots.push(uuid);
  state.offsets.push(offset);
  state.times.push(time ?? 0);
  state.messages.push(-1);
  state.kinds.push(baseKind(fields) + (side ? ROW.sidechain : 0));
  notePlace(state, fields, session, row);
  if (side) noteSide(state, fields, uuid, row);
  else state.leaf = row;
  switch (textField(fields, "type")) {
    case "user":
      noteUserRow(state, fields, row, time, side);
      return;
    case "assistant":
      readAssistantRow(state, fields, row, uuid, time, side);
      return;
    case "system":
      takeSystemRow(state, fields, row, time, side);
      return;
    default:
  }
}

function baseKind(fields: Fields): number {
  switch (textField(fields, "type")) {
    case "user":
      return ROW.user;
    case "assistant":
      return ROW.assistant;
    case "system":
      return ROW.system;
    default:
      return ROW.attachment;
  }
}

function parentRow(state: ClaudeFile, fields: Fields, row: number): number {
  const parent = textField(fields, "parentUuid") ?? textField(fields, "logicalParentUuid");
  if (parent === null) return -1;
  const known = Object.hasOwn(state.rows, parent) ? state.rows[parent] : undefined;
  if (known !== undefined && known !== row) return known;
  if (isRowId(parent)) state.loose.push([row, parent]);
  return -1;
}

function notePlace(state: ClaudeFile, fields: Fields, session: string | null, row: number): void {
  state.gitBranch = textField(fields, "gitBranch") ?? state.gitBranch;
  state.version = textField(fields, "version") ?? state.version;
  state.entrypoint = textField(fields, "entrypoint") ?? state.entrypoint;
  state.agentId ??= textField(fields, "agentId");
  const from = textField(objectField(fields, "forkedFrom"), "sessionId");
  if (from !== null) state.forkedFrom = { session: from, row };
  if (session !== null && SESSION_ID.test(session)) state.sessionRows[session] = row;
}

function noteSide(state: ClaudeFile, fields: Fields, uuid: string, row: number): void {
  state.sideLeaf = row;
  const parent = state.parents[row] ?? -1;
  const name = textField(fields, "agentId") ?? state.sides[parent] ?? uuid;
  state.sides[row] = name;
}

function takeSystemRow(state: ClaudeFile, fields: Fields, row: number, time: number | null, side: boolean): void {
  const subtype = textField(fields, "subtype");
  // What a command of the program's own printed: it was none for the model.
  if (subtype === "local_command" && !side) rejectPendingCommand(state);
  if (subtype === "compact_boundary") {
    state.kinds[row] = (state.kinds[row] ?? 0) + ROW.boundary;
    const about = objectField(fields, "compactMetadata");
    const kept = objectField(about, "preservedSegment");
    state.boundaries.push({
      row,
      post: numberField(about, "postTokens"),
      head: textField(kept, "headUuid"),
      tail: textField(kept, "tailUuid"),
    });
    // A person's /compact ends a turn of its own; an automatic one lies inside a turn.
    if (!side && textField(about, "trigger") === "manual" && state.tail.state === "open") {
      state.tail = { ...state.tail, state: "over", evidence: "compacted by hand", time };
    }
  }
  if (subtype === "turn_duration" && !side && state.tail.state === "open") {
    state.tail = {
      state: "over",
      evidence: "the last record says how long the turn took",
      text: null,
      time,
      calls: [],
    };
  }
}
