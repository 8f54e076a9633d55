import { sanitizeResumeID } from "../ids.ts";
import type { PaneState } from "../session-state.ts";
import type { Change, Interpretation } from "./change.ts";
import { interpretation } from "./change.ts";
import { isObject, type Payload, textOf } from "./payload.ts";
import { pathSnippet, recentLines, snippet } from "./snippet.ts";

/** The oldest opencode whose events mean what is written here; logged with every event (questmaster.md §7). */
const MINIMUM_VERSION = "1.17.11";

/** What opencode's plugin says: its one action is `event`, the event's type decides (questmaster.md §7). */
export function openCodeHook(action: string, payload: Payload): Interpretation | null {
  if (action !== "event") return null;
  const event = isObject(payload.event) && textOf(payload.event, "type") !== "" ? payload.event : payload;
  const type = textOf(event, "type");
  if (type === "") return null;
  const properties = isObject(event.properties) ? event.properties : {};
  const status = type === "session.status" ? statusOf(properties) : "";
  const sessionID = sessionIDIn(properties, type.startsWith("session."));
  const version = textOf(payload, "version") || textOf(properties.info, "version");
  const fields: Record<string, unknown> = { minimum_version: MINIMUM_VERSION };
  const eventID = textOf(event, "id").trim();
  if (eventID !== "") fields.event_id = eventID;
  if (sessionID !== "") fields.opencode_session_id = sessionID;
  if (status !== "") fields.status = status;
  if (version !== "") fields.version = version.trim();
  const change = { ...changeOf(type, status, properties), kind: type, openCodeSessionID: sessionID };
  return interpretation(type, change, {
    fields,
    settle: (pane, settled) => settle(pane, settled, type, status, assistantMessageID(type, properties)),
  });
}

function changeOf(type: string, status: string, properties: Payload): Partial<Change> {
  switch (type) {
    case "session.created":
      return { state: "starting", activity: "Session created" };
    case "session.status":
      if (status === "busy") return { state: "working" };
      return status === "idle" ? { state: "idle", clearTool: true } : {};
    case "session.idle":
      return { state: "done", clearTool: true };
    case "session.error":
      return { state: "blocked", activity: `Error: ${errorLabel(properties)}`, clearTool: true };
    case "tool.execute.before": {
      const tool = toolLabel(properties);
      return { state: "working", tool, activity: `Tool: ${tool}` };
    }
    case "tool.execute.after":
      return { activity: `Tool done: ${toolLabel(properties)}`, clearTool: true };
    case "permission.asked":
      return { state: "blocked", activity: `Permission: ${permissionLabel(properties)}` };
    case "permission.replied":
      return { state: "working", activity: "Permission replied" };
    case "message.part.updated":
      return partChange(properties.part);
    default:
      return {};
  }
}

function settle(pane: PaneState, change: Change, type: string, status: string, assistantID: string): Change | null {
  const says =
    change.state ||
    change.activity ||
    change.tool ||
    change.clearTool ||
    change.pending ||
    change.openCodeSessionID ||
    assistantID;
  if (!says) return null;
  if (isOtherSession(pane, change, status)) return null;
  const settled = { ...change };
  const asked = pane.lastKind === "permission.asked" || pane.activity.startsWith("Permission: ");
  if (pane.state === "blocked" && asked && ["session.status", "session.idle", "tool.execute.before"].includes(type)) {
    Object.assign(settled, { state: "", activity: "", tool: "", clearTool: false, kind: pane.lastKind });
  }
  if (type === "permission.replied" && pane.state !== "blocked") settled.state = "";
  if (pane.state === "done" && status === "idle") {
    Object.assign(settled, { state: "", clearTool: false, kind: pane.lastKind });
  }
  // Only an assistant's message.updated names the buffered part as the assistant's; a prompt's part is never shown.
  if (assistantID !== "" && assistantID === pane.pendingPartMsgID) {
    settled.activity = snippet(pane.pendingPartText);
    settled.recent = recentLines(pane.pendingPartText.split("\n"));
    settled.pending = { id: "", text: "" };
  }
  return settled;
}

/** Events of another conversation are dropped, unless this one rests and the other says that it is busy (questmaster.md §7). */
function isOtherSession(pane: PaneState, change: Change, status: string): boolean {
  const { openCodeSessionID: theirs } = change;
  if (theirs === "" || pane.openCodeSessionID === "" || pane.openCodeSessionID === theirs) return false;
  const resting = pane.state === "idle" || pane.state === "done";
  // A straggler of a sub-agent's conversation works too: only being busy begins a turn.
  return !(resting && status === "busy");
}

function partChange(part: unknown): Partial<Change> {
  if (!isObject(part)) return {};
  const type = textOf(part, "type");
  if (type === "reasoning") {
    const text = textOf(part, "text");
    return text === "" ? {} : { state: "working", activity: `Thinking: ${snippet(text)}` };
  }
  if (type === "tool") return toolPart(part);
  if (type !== "" && type !== "text") return {};
  const id = textOf(part, "messageID", "messageId", "message_id").trim();
  const text = textOf(part, "text").trim();
  return id === "" || text === "" ? {} : { pending: { id, text } };
}

function toolPart(part: Payload): Partial<Change> {
  const tool = textOf(part, "tool").trim() || "tool";
  const state = isObject(part.state) ? part.state : {};
  const label = toolPartLabel(tool, state);
  if (state.status === "completed") return { state: "working", activity: `Done: ${label}`, clearTool: true };
  return { state: "working", activity: label, tool };
}

function toolPartLabel(tool: string, state: Payload): string {
  const labels: Record<string, [string, string]> = {
    bash: ["Bash", textOf(state.input, "command")],
    read: ["Read", textOf(state.input, "filePath")],
    glob: ["Glob", textOf(state.input, "pattern")],
    grep: ["Grep", textOf(state.input, "pattern")],
    websearch: ["Web", textOf(state.input, "query")],
    web_search: ["Web", textOf(state.input, "query")],
  };
  const [label, detail] = (Object.hasOwn(labels, tool) ? labels[tool] : undefined) ?? ["", ""];
  if (detail !== "") return `${label}: ${label === "Read" ? pathSnippet(detail) : snippet(detail)}`;
  return `Tool: ${snippet(textOf(state, "title") || tool)}`;
}

function toolLabel(properties: Payload): string {
  const name =
    textOf(properties, "tool", "name") ||
    textOf(properties.call, "tool", "name") ||
    textOf(properties.toolCall, "tool", "name");
  return name === "" ? "tool" : snippet(name);
}

function permissionLabel(properties: Payload): string {
  const keys = ["id", "type", "tool", "name", "action"];
  const label =
    textOf(properties.permission, ...keys) ||
    textOf(properties.request, ...keys) ||
    textOf(properties, "tool", "id", "type");
  return label === "" ? "permission" : snippet(label);
}

function errorLabel(properties: Payload): string {
  const { error } = properties;
  const data = isObject(error) ? error.data : null;
  const label = textOf(data, "message") || textOf(error, "message") || textOf(properties, "message", "error");
  return label === "" ? "session.error" : snippet(label);
}

function statusOf(properties: Payload): string {
  const { status } = properties;
  const text = typeof status === "string" ? status : textOf(status, "type");
  return text.trim().toLowerCase();
}

function assistantMessageID(type: string, properties: Payload): string {
  if (type !== "message.updated" || textOf(properties.info, "role").trim() !== "assistant") return "";
  return textOf(properties.info, "id").trim();
}

const MOST_DEPTH = 8;

/** The conversation an event names, nearest to the top. `info.id` is a conversation's only in events about one. */
function sessionIDIn(value: unknown, infoIsSession: boolean, depth = 0): string {
  if (!isObject(value) || depth > MOST_DEPTH) return "";
  const own = [
    textOf(value, "sessionID"),
    textOf(value, "sessionId"),
    textOf(value, "session_id"),
    infoIsSession ? textOf(value.info, "id") : "",
    textOf(value.session, "id"),
  ];
  for (const one of own) {
    const id = sanitizeResumeID(one.trim());
    if (id !== "") return id;
  }
  for (const child of Object.values(value)) {
    const id = sessionIDIn(child, infoIsSession, depth + 1);
    if (id !== "") return id;
  }
  return "";
}
