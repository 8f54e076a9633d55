import { escapeLikeGo } from "../../files/go-json.ts";

/** state.jsonl is rotated before an append when it has this many bytes (questmaster.md §7). */
export const STATE_JSONL_MAX_SIZE = 1 << 20;

/** One line of state.jsonl (questmaster.md §7). Untrusted strings. */
export interface StateEvent {
  /** RFC 3339. */
  ts: string;
  agent: string;
  role?: string | undefined;
  action: string;
  /** Absent: the event did not change the state. */
  state?: string | undefined;
  activity?: string | undefined;
  tool?: string | undefined;
  kind?: string | undefined;
  /** What does not fit the fixed columns, by agent. */
  fields?: Record<string, unknown> | undefined;
}

/** The line of an event with its LF; empty strings are left out and the free fields sorted, as Go writes them. */
export function stateEventLine(event: StateEvent): string {
  const line: Record<string, unknown> = { ts: event.ts, agent: event.agent };
  if (event.role) line.role = event.role;
  line.action = event.action;
  if (event.state) line.state = event.state;
  if (event.activity) line.activity = event.activity;
  if (event.tool) line.tool = event.tool;
  if (event.kind) line.kind = event.kind;
  const fields = Object.entries(event.fields ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (fields.length > 0) line.fields = Object.fromEntries(fields);
  return `${escapeLikeGo(JSON.stringify(line))}\n`;
}

/** An event from a line, or null when the line is not one. Unknown columns are left out; columns of other types too. */
export function parseStateEvent(line: string): StateEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  return {
    ts: text(value.ts) ?? "",
    agent: text(value.agent) ?? "",
    role: text(value.role),
    action: text(value.action) ?? "",
    state: text(value.state),
    activity: text(value.activity),
    tool: text(value.tool),
    kind: text(value.kind),
    fields: isRecord(value.fields) ? value.fields : undefined,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
