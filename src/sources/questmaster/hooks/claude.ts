import type { Change, Interpretation } from "./change.ts";
import { interpretation } from "./change.ts";
import { firstQuestion, type Payload, textOf } from "./payload.ts";
import { pathSnippet, snippet } from "./snippet.ts";
import { lastAssistantText } from "./transcript-tail.ts";

/** Claude Code's hook events, each with the action it calls (questmaster.md §7). */
export const CLAUDE_EVENTS: Record<string, string> = {
  SessionStart: "starting",
  UserPromptSubmit: "working",
  PreToolUse: "tool_start",
  PostToolUse: "tool_end",
  Stop: "done",
  SubagentStop: "subagent_stop",
  Notification: "blocked",
  SessionEnd: "stopped",
};

const ASK = "AskUserQuestion";

/** What a hook of Claude Code says; null for an action we do not know. A sub-agent (`agent_id`) never changes the state. */
export function claudeHook(action: string, payload: Payload): Interpretation | null {
  const bySubagent = textOf(payload, "agent_id") !== "";
  const change = changeOf(action, payload, bySubagent);
  if (change === null) return null;
  if (bySubagent && ["working", "tool_start", "tool_end", "done"].includes(action)) change.state = "";
  return interpretation(action, change, {
    settle: (pane, settled) => {
      if (action === "tool_end") return { ...settled, clearActivity: pane.activity.startsWith("Notification: ") };
      // The question itself says more than the notification that follows it.
      const asking = action === "blocked" && pane.tool === ASK && pane.activity.startsWith("Question: ");
      return asking ? { ...settled, state: "", activity: "" } : settled;
    },
  });
}

function changeOf(action: string, payload: Payload, bySubagent: boolean): Partial<Change> | null {
  switch (action) {
    case "starting":
      return { state: "starting", activity: "started", kind: "SessionStart" };
    case "working":
      return { state: "working", activity: `You: ${snippet(textOf(payload, "prompt"))}`, kind: "UserPromptSubmit" };
    case "tool_start":
      return toolStart(payload);
    case "tool_end":
      return { state: "working", clearTool: true, kind: "PostToolUse" };
    case "done":
      return { state: "done", activity: bySubagent ? "" : lastWords(payload), kind: "Stop" };
    case "subagent_stop": {
      const result = textOf(payload, "result", "text").trim();
      return { activity: result === "" ? "" : `Subagent: ${snippet(result)}`, kind: "SubagentStop" };
    }
    case "blocked": {
      const message = textOf(payload, "message", "text");
      if (/^\s*claude is waiting/iu.test(message)) return { kind: "Notification" };
      return { state: "blocked", activity: `Notification: ${snippet(message)}`, kind: "Notification" };
    }
    case "stopped":
      return { state: "stopped", kind: "SessionEnd" };
    default:
      return null;
  }
}

function toolStart(payload: Payload): Partial<Change> {
  const tool = textOf(payload, "tool_name");
  const question = tool === ASK ? firstQuestion(payload.tool_input) : "";
  return {
    state: tool === ASK ? "blocked" : "working",
    activity: question === "" ? toolActivity(tool, payload.tool_input) : `Question: ${snippet(question)}`,
    tool,
    kind: "PreToolUse",
  };
}

function toolActivity(tool: string, input: unknown): string {
  switch (tool) {
    case "Edit":
    case "Write":
    case "MultiEdit":
    case "NotebookEdit":
      return `Edit: ${pathSnippet(textOf(input, "file_path"))}`;
    case "Read":
      return `Read: ${pathSnippet(textOf(input, "file_path"))}`;
    case "Bash":
      return `Bash: ${snippet(textOf(input, "command"))}`;
    case "Task":
      return `Agent: ${snippet(textOf(input, "description"))}`;
    case "Grep":
    case "Glob":
      return `Search: ${snippet(textOf(input, "pattern"))}`;
    default:
      return tool;
  }
}

/** What the agent said last: from the payload, else from the end of its transcript. */
export function lastWords(payload: Payload): string {
  const said = textOf(payload, "last_assistant_message") || lastAssistantText(textOf(payload, "transcript_path"));
  return snippet(said);
}
