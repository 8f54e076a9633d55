import { goJson } from "../../files/go-json.ts";
import { type GoTime, isGoTime, UNSET_TIME } from "./go-time.ts";
import { isObject, type JsonObject } from "./json.ts";

export const ENTRY_HEADER = "header";
export const ENTRY_MESSAGE = "message";
export const ENTRY_MODEL_CHANGE = "model_change";
export const ENTRY_COMPACTION = "compaction";
export const ENTRY_REASONING_EFFORT_CHANGE = "reasoning_effort_change";
export const ENTRY_SESSION_INFO = "session_info";
export const ENTRY_PLAN_STATE = "plan_state";
export const ENTRY_GOAL_STATE = "goal_state";
export const ENTRY_LLM_CALL = "llm_call";

/** The nine kinds of version 3 (codebot.md §4). Others are legal, kept in the chain and ignored. */
export const ENTRY_KINDS = [
  ENTRY_HEADER,
  ENTRY_MESSAGE,
  ENTRY_MODEL_CHANGE,
  ENTRY_COMPACTION,
  ENTRY_REASONING_EFFORT_CHANGE,
  ENTRY_SESSION_INFO,
  ENTRY_PLAN_STATE,
  ENTRY_GOAL_STATE,
  ENTRY_LLM_CALL,
] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** One line of a session file. */
export interface Entry {
  /** One of `ENTRY_KINDS`, or a word we do not know. */
  kind: string;
  /** `h0` for the header, else eight hex digits. */
  id: string;
  /** `""` only on the header. */
  parentId: string;
  /** RFC 3339; year 1 when the line has none. */
  timestamp: GoTime;
  data: unknown;
}

/** The entry a line spells; null when Go could not decode it (codebot.md §14). An empty id is for the caller to judge. */
export function parseEntry(line: string): Entry | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  return isObject(value) ? readEntry(value) : null;
}

function readEntry(value: JsonObject): Entry | null {
  const { kind = "", id = "", parent_id: parentId = "", timestamp = UNSET_TIME } = value;
  if (typeof kind !== "string" || typeof id !== "string" || typeof parentId !== "string") return null;
  if (!isGoTime(timestamp)) return null;
  return { kind, id, parentId, timestamp, data: value.data ?? null };
}

/** The line of an entry with its LF, keys in Go's order. */
export function formatEntry(entry: Entry): string {
  const { kind, id, parentId, timestamp, data } = entry;
  const line = parentId === "" ? { kind, id, timestamp, data } : { kind, id, parent_id: parentId, timestamp, data };
  return `${goJson(line)}\n`;
}
