import type { Change, Interpretation } from "./change.ts";
import { interpretation } from "./change.ts";
import { isObject, type Payload, textOf } from "./payload.ts";
import { pathSnippet, recentLines, snippet } from "./snippet.ts";

/** What pi's extension says (questmaster.md §7, §10); null for an action we do not know. The kind is the action. */
export function piHook(action: string, payload: Payload): Interpretation | null {
  const change = changeOf(action, payload);
  if (change === null) return null;
  const recent = recentOf(action, payload);
  const sessionFile = textOf(payload, "session_file").trim();
  const piSessionID = textOf(payload, "pi_session_id").trim();
  const fields: Record<string, unknown> = {};
  if (sessionFile !== "") fields.session_file = sessionFile;
  if (piSessionID !== "") fields.pi_session_id = piSessionID;
  if (recent !== null) fields.recent_count = recent.length;
  const whole = { ...change, kind: action, recent, sessionFile, piSessionID };
  return interpretation(action, whole, {
    fields,
    settle: (pane, settled) => {
      const asked = pane.lastKind === "waiting_for_user";
      if (action === "tool_execution_start" && asked && pane.state === "blocked") {
        return { ...settled, state: "", activity: "", tool: "", kind: pane.lastKind };
      }
      const answered = action === "tool_execution_end" && asked && pane.activity.startsWith("Question: ");
      return answered ? { ...settled, clearActivity: true } : settled;
    },
  });
}

function changeOf(action: string, payload: Payload): Partial<Change> | null {
  switch (action) {
    case "session_start":
    case "before_agent_start":
    case "agent_start": {
      const prompt = textOf(payload, "prompt", "text");
      return { state: "starting", activity: prompt === "" ? "started" : `You: ${snippet(prompt)}` };
    }
    case "message_update":
    case "message_end":
      return { state: "working", activity: snippet(lastText(payload)) || "Replying…" };
    case "tool_execution_start":
      return { state: "working", tool: toolName(payload), activity: toolActivity(payload) };
    case "tool_execution_end":
      return { state: "working", clearTool: true };
    case "waiting_for_user": {
      const asked = textOf(payload, "prompt") || textOf(payload.tool, "summary") || textOf(payload, "text", "snippet");
      return { state: "blocked", tool: toolName(payload), activity: `Question: ${snippet(asked)}` };
    }
    case "agent_end":
      return { state: "done", clearTool: true, activity: snippet(lastText(payload)) };
    case "session_shutdown":
      return { state: "stopped", clearTool: true };
    default:
      return null;
  }
}

function recentOf(action: string, payload: Payload): string[] | null {
  if (Array.isArray(payload.recent)) return recentLines(payload.recent);
  if (action !== "message_end" && action !== "agent_end") return null;
  const text = lastText(payload);
  return text === "" ? null : recentLines(text.split("\n"));
}

/** What pi said last, wherever its version puts it. */
function lastText(payload: Payload): string {
  const messages = Array.isArray(payload.messages) ? payload.messages : [];
  for (const message of [...messages].reverse()) {
    const text = messageText(message);
    if (text !== "") return text;
  }
  const event = isObject(payload.assistantMessageEvent) ? payload.assistantMessageEvent : {};
  return (
    messageText(payload.message) ||
    contentText(event.content) ||
    textOf(event, "delta") ||
    textOf(payload, "snippet") ||
    (Array.isArray(payload.recent) ? (recentLines(payload.recent).at(-1) ?? "") : "") ||
    textOf(payload, "text", "prompt")
  );
}

function messageText(message: unknown): string {
  if (typeof message === "string") return message;
  if (!isObject(message)) return "";
  const role = textOf(message, "role");
  if (role !== "" && role !== "assistant") return "";
  return contentText(message.content) || textOf(message, "text");
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const parts = content.flatMap((block) => {
    const kind = textOf(block, "type");
    const text = kind === "" || kind === "text" ? textOf(block, "text") : "";
    return text === "" ? [] : [text];
  });
  return parts.join("\n");
}

function toolName(payload: Payload): string {
  return (
    textOf(payload, "toolName", "tool_name", "name") || textOf(payload.tool, "toolName", "tool_name", "name")
  ).trim();
}

const KINDS: Record<string, string> = Object.fromEntries([
  ...["edit", "write", "multiedit", "multi_edit", "notebookedit", "notebook_edit", "apply_patch"].map((n) => [
    n,
    "Edit",
  ]),
  ...["read", "read_file"].map((n) => [n, "Read"]),
  ...["bash", "shell", "sh"].map((n) => [n, "Bash"]),
  ...["task", "agent"].map((n) => [n, "Agent"]),
  ...["grep", "glob", "search", "rg", "ripgrep", "find"].map((n) => [n, "Search"]),
]);

const ARGUMENTS: Record<string, string[]> = {
  Edit: ["file_path", "path", "filePath"],
  Read: ["file_path", "path", "filePath"],
  Bash: ["command", "cmd"],
  Agent: ["description", "prompt"],
  Search: ["pattern", "query", "path"],
};

function toolActivity(payload: Payload): string {
  const name = toolName(payload);
  const args = toolArguments(payload);
  const summary = textOf(payload.tool, "summary").trim();
  if (name === "") return anyArgument(args) || snippet(summary);
  const key = name.toLowerCase();
  const kind = Object.hasOwn(KINDS, key) ? (KINDS[key] ?? "") : "";
  if (kind === "") return name;
  const detail = argument(args, ARGUMENTS[kind] ?? []) || afterColon(summary);
  if (detail === "" && summary !== "") return snippet(summary);
  return `${kind}: ${kind === "Edit" || kind === "Read" ? pathSnippet(detail) : snippet(detail)}`;
}

function toolArguments(payload: Payload): unknown {
  const tool = isObject(payload.tool) ? payload.tool : {};
  return payload.args ?? payload.arguments ?? payload.input ?? tool.args ?? tool.arguments ?? tool.input ?? null;
}

function argument(args: unknown, keys: string[]): string {
  if (typeof args !== "string") return textOf(args, ...keys).trim();
  try {
    const parsed: unknown = JSON.parse(args);
    if (isObject(parsed)) return textOf(parsed, ...keys).trim();
  } catch {
    // Not JSON: the text itself is the argument.
  }
  return args.trim();
}

function anyArgument(args: unknown): string {
  if (args === null || args === undefined) return "";
  if (typeof args === "string") return snippet(args);
  const keys = ["command", "cmd", "path", "file_path", "pattern", "query", "description", "prompt", "text"];
  return snippet(textOf(args, ...keys) || JSON.stringify(args));
}

function afterColon(summary: string): string {
  const at = summary.indexOf(":");
  return at < 0 ? "" : summary.slice(at + 1).trim();
}
