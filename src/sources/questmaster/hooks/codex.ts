import { basename } from "node:path";
import { sanitizeResumeID } from "../ids.ts";
import type { Change, Interpretation } from "./change.ts";
import { interpretation } from "./change.ts";
import { lastWords } from "./claude.ts";
import { firstQuestion, isObject, type Payload, textOf } from "./payload.ts";
import { pathSnippet, snippet } from "./snippet.ts";

/** Codex's hook events, each with the action it calls (questmaster.md §7). */
export const CODEX_EVENTS: Record<string, string> = {
  SessionStart: "starting",
  UserPromptSubmit: "working",
  PreToolUse: "tool_start",
  PostToolUse: "tool_end",
  Stop: "done",
  PermissionRequest: "permission",
};

/** What a hook of Codex says; null for an action we do not know. */
export function codexHook(action: string, payload: Payload): Interpretation | null {
  const change = changeOf(action, payload);
  if (change === null) return null;
  return interpretation(action, change, {
    settle: (pane, settled) => {
      const answered = action === "tool_end" && asksPerson(pane.tool) && pane.activity.startsWith("Question: ");
      return answered ? { ...settled, clearActivity: true } : settled;
    },
  });
}

function changeOf(action: string, payload: Payload): Partial<Change> | null {
  switch (action) {
    case "starting":
      return { state: "starting", activity: "started", kind: "SessionStart" };
    case "working":
      return { state: "working", activity: `You: ${snippet(textOf(payload, "prompt"))}`, kind: "UserPromptSubmit" };
    case "tool_start": {
      const tool = textOf(payload, "tool_name");
      if (asksPerson(tool)) return { state: "blocked", activity: question(payload), tool, kind: "PreToolUse" };
      return { state: "working", activity: toolActivity(tool, payload.tool_input), tool, kind: "PreToolUse" };
    }
    case "tool_end":
      return { state: "working", clearTool: true, kind: "PostToolUse" };
    case "permission":
      return { state: "blocked", activity: permission(payload), kind: "PermissionRequest" };
    case "done":
      return { state: "done", activity: lastWords(payload), kind: "Stop" };
    default:
      return null;
  }
}

function asksPerson(tool: string): boolean {
  return /(?:^|\.)request_user_input$/u.test(tool.trim().toLowerCase());
}

function question(payload: Payload): string {
  const text = firstQuestion(payload.tool_input) || textOf(payload, "message", "prompt").trim();
  return `Question: ${snippet(text || "User input requested")}`;
}

function permission(payload: Payload): string {
  const text =
    textOf(payload, "message") || commandOf(payload.tool_input) || commandOf(payload) || textOf(payload, "permission");
  return `Permission: ${snippet(text.trim() || "Permission required")}`;
}

function toolActivity(tool: string, input: unknown): string {
  switch (tool) {
    case "Edit":
    case "Write":
    case "MultiEdit":
    case "NotebookEdit":
    case "apply_patch":
      return `Edit: ${pathSnippet(textOf(input, "file_path", "path").trim())}`;
    case "Read":
      return `Read: ${pathSnippet(textOf(input, "file_path", "path").trim())}`;
    case "Bash":
    case "Shell":
    case "shell":
      return `Bash: ${snippet(commandOf(input).trim())}`;
    case "Task":
      return `Agent: ${snippet(textOf(input, "description", "prompt").trim())}`;
    case "Grep":
    case "Glob":
    case "Search":
    case "rg":
      return `Search: ${snippet(textOf(input, "pattern", "query").trim())}`;
    default:
      return tool;
  }
}

/** The command a tool runs, whether Codex gives it as one text or as a list of words; empty when there is none. */
function commandOf(input: unknown): string {
  if (!isObject(input)) return "";
  const oneText = (value: unknown): unknown => {
    return Array.isArray(value) ? value.filter((word) => typeof word === "string").join(" ") : value;
  };
  return textOf({ command: oneText(input.command), cmd: oneText(input.cmd) }, "command", "cmd");
}

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/iu;

/** The thread a Codex hook belongs to: environment, payload, else the UUID in its transcript's name (questmaster.md §10). */
export function codexThreadID(payload: Payload, env: NodeJS.ProcessEnv): string {
  const named = (key: string): string => UUID.exec(basename(textOf(payload, key).trim()))?.[0] ?? "";
  const candidates = [
    env.CODEX_THREAD_ID ?? "",
    textOf(payload, "thread_id"),
    textOf(payload, "session_id"),
    textOf(payload, "conversation_id"),
    named("transcript_path"),
    named("agent_transcript_path"),
  ];
  for (const one of candidates) {
    const id = sanitizeResumeID(one.trim());
    if (id !== "") return id;
  }
  return "";
}
