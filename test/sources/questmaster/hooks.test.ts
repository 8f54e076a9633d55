import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runHook } from "../../../src/commands/hook.ts";
import { processesFromProc, processTable } from "../../../src/probe/processes.ts";
import { MOST_INPUT_BYTES, readInput } from "../../../src/sources/questmaster/hooks/input.ts";
import { parsePayload } from "../../../src/sources/questmaster/hooks/payload.ts";
import { pathSnippet, recentLines, snippet } from "../../../src/sources/questmaster/hooks/snippet.ts";
import {
  extraString,
  loadSessionState,
  manifestText,
  newManifest,
  newPaneState,
  newSessionState,
  openStore,
  type PaneState,
  parseStateEvent,
  saveSessionState,
  sessionStateLockPath,
  sessionStateLogPath,
  sessionStatePath,
  UNSET_TIME,
} from "../../../src/sources/questmaster/index.ts";
import { HOOKED } from "../../../src/sources/questmaster/liveness.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { evidenceOf, Reading } from "./reading.ts";

const ID = "qm-1784547000";
const NOW = "2026-07-20T12:00:00Z";

interface Hooked {
  root: string;
  env: NodeJS.ProcessEnv;
  log: string[];
}

function hooked(): Hooked {
  const root = temporaryDirectory();
  const env = {
    PATH: process.env.PATH,
    QUESTMASTER_STATE_ROOT: root,
    QUESTMASTER_SESSION: ID,
    FORKTAIL_STATE_DIR: temporaryDirectory(),
    FORKTAIL_NOW: NOW,
  };
  return { root, env, log: [] };
}

async function hook({ env, log }: Hooked, agent: string, action: string, payload: unknown): Promise<void> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  await runHook(agent, action, Readable.from([text]), env, { log: (line) => log.push(line) });
}

async function paneOf({ root }: Hooked): Promise<PaneState> {
  const pane = (await loadSessionState(ID, { root }))?.panes.get("primary");
  if (!pane) throw new Error("no primary pane");
  return pane;
}

const eventsOf = ({ root }: Hooked) => {
  const path = sessionStateLogPath(root, ID);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => parseStateEvent(line));
};

type Before = Partial<PaneState>;
type After = [state: string, activity: string, tool: string, kind: string];

const bash = { tool_name: "Bash", tool_input: { command: "make all\nrm x" } };
const ask = (question: string) => ({ questions: [{ question, options: [] }, { question: "second" }] });
const oc = (type: string, properties: object = {}) => ({ event: { type, properties } });
const part = (fields: object) => oc("message.part.updated", { part: fields });
const asked: Before = { state: "blocked", activity: "Question: which?", tool: "ask", lastKind: "waiting_for_user" };
const permission: Before = { state: "blocked", activity: "Permission: bash", tool: "", lastKind: "permission.asked" };

/** The hook table (questmaster.md §7), each row and each exception: what a pane was, what is said, what it becomes. */
const ROWS: [agent: string, action: string, payload: unknown, before: Before, after: After][] = [
  ["claude", "starting", {}, {}, ["starting", "started", "", "SessionStart"]],
  ["claude", "working", { prompt: "KEY=1 fix it\nplease" }, {}, ["working", "You: fix it", "", "UserPromptSubmit"]],
  ["claude", "tool_start", bash, {}, ["working", "Bash: make all", "Bash", "PreToolUse"]],
  [
    "claude",
    "tool_start",
    { tool_name: "Edit", tool_input: { file_path: "/a/b.ts" } },
    {},
    ["working", "Edit: b.ts", "Edit", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "Write", tool_input: { file_path: "/a/b.ts" } },
    {},
    ["working", "Edit: b.ts", "Write", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "MultiEdit", tool_input: { file_path: "c" } },
    {},
    ["working", "Edit: c", "MultiEdit", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "Read", tool_input: { file_path: "/a/b.ts" } },
    {},
    ["working", "Read: b.ts", "Read", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "Task", tool_input: { description: "look" } },
    {},
    ["working", "Agent: look", "Task", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "Grep", tool_input: { pattern: "a|b" } },
    {},
    ["working", "Search: a|b", "Grep", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "Glob", tool_input: { pattern: "*" } },
    {},
    ["working", "Search: *", "Glob", "PreToolUse"],
  ],
  ["claude", "tool_start", { tool_name: "WebSearch" }, {}, ["working", "WebSearch", "WebSearch", "PreToolUse"]],
  [
    "claude",
    "tool_start",
    { tool_name: "AskUserQuestion", tool_input: ask("Which?") },
    {},
    ["blocked", "Question: Which?", "AskUserQuestion", "PreToolUse"],
  ],
  [
    "claude",
    "tool_start",
    { tool_name: "AskUserQuestion" },
    {},
    ["blocked", "AskUserQuestion", "AskUserQuestion", "PreToolUse"],
  ],
  [
    "claude",
    "tool_end",
    {},
    { state: "working", activity: "Bash: x", tool: "Bash" },
    ["working", "Bash: x", "", "PostToolUse"],
  ],
  [
    "claude",
    "tool_end",
    {},
    { state: "blocked", activity: "Notification: may I", tool: "Bash" },
    ["working", "", "", "PostToolUse"],
  ],
  [
    "claude",
    "done",
    { last_assistant_message: "All done.\nReally." },
    { state: "working", tool: "" },
    ["done", "All done.", "", "Stop"],
  ],
  ["claude", "done", {}, { state: "working", activity: "kept" }, ["done", "kept", "", "Stop"]],
  [
    "claude",
    "subagent_stop",
    { result: "found 3" },
    { state: "working", tool: "Task" },
    ["working", "Subagent: found 3", "Task", "SubagentStop"],
  ],
  [
    "claude",
    "blocked",
    { message: "Claude needs your permission" },
    { state: "working", tool: "Bash" },
    ["blocked", "Notification: Claude needs your permission", "Bash", "Notification"],
  ],
  [
    "claude",
    "blocked",
    { message: "CLAUDE is waiting for your input" },
    { state: "done", activity: "said" },
    ["done", "said", "", "Notification"],
  ],
  [
    "claude",
    "blocked",
    { message: "may I?" },
    { state: "blocked", activity: "Question: which?", tool: "AskUserQuestion" },
    ["blocked", "Question: which?", "AskUserQuestion", "Notification"],
  ],
  ["claude", "stopped", {}, { state: "done", activity: "said" }, ["stopped", "said", "", "SessionEnd"]],
  // Sub-agents change what is shown, never the state.
  [
    "claude",
    "working",
    { agent_id: "a", prompt: "sub" },
    { state: "blocked" },
    ["blocked", "You: sub", "", "UserPromptSubmit"],
  ],
  [
    "claude",
    "tool_start",
    { agent_id: "a", ...bash },
    { state: "done" },
    ["done", "Bash: make all", "Bash", "PreToolUse"],
  ],
  ["claude", "tool_end", { agent_id: "a" }, { state: "blocked", tool: "Bash" }, ["blocked", "", "", "PostToolUse"]],
  [
    "claude",
    "done",
    { agent_id: "a", last_assistant_message: "sub" },
    { state: "working", activity: "mine" },
    ["working", "mine", "", "Stop"],
  ],

  ["codex", "starting", {}, {}, ["starting", "started", "", "SessionStart"]],
  ["codex", "working", { prompt: "go" }, {}, ["working", "You: go", "", "UserPromptSubmit"]],
  [
    "codex",
    "tool_start",
    { tool_name: "apply_patch", tool_input: { path: "/x/y.go" } },
    {},
    ["working", "Edit: y.go", "apply_patch", "PreToolUse"],
  ],
  [
    "codex",
    "tool_start",
    { tool_name: "shell", tool_input: { cmd: "ls" } },
    {},
    ["working", "Bash: ls", "shell", "PreToolUse"],
  ],
  [
    "codex",
    "tool_start",
    { tool_name: "shell", tool_input: { command: ["bash", "-lc", "ls"] } },
    {},
    ["working", "Bash: bash -lc ls", "shell", "PreToolUse"],
  ],
  [
    "codex",
    "tool_start",
    { tool_name: "shell", tool_input: { command: [], cmd: ["ls", 7, "-l"] } },
    {},
    ["working", "Bash: ls -l", "shell", "PreToolUse"],
  ],
  [
    "codex",
    "tool_start",
    { tool_name: "rg", tool_input: { query: "q" } },
    {},
    ["working", "Search: q", "rg", "PreToolUse"],
  ],
  [
    "codex",
    "tool_start",
    { tool_name: "request_user_input", tool_input: ask("Split?") },
    {},
    ["blocked", "Question: Split?", "request_user_input", "PreToolUse"],
  ],
  [
    "codex",
    "tool_start",
    { tool_name: "x.request_user_input" },
    {},
    ["blocked", "Question: User input requested", "x.request_user_input", "PreToolUse"],
  ],
  [
    "codex",
    "tool_end",
    {},
    { state: "working", activity: "Bash: x", tool: "shell" },
    ["working", "Bash: x", "", "PostToolUse"],
  ],
  [
    "codex",
    "tool_end",
    {},
    { state: "blocked", activity: "Question: x", tool: "request_user_input" },
    ["working", "", "", "PostToolUse"],
  ],
  [
    "codex",
    "permission",
    { message: "run it?" },
    { state: "working" },
    ["blocked", "Permission: run it?", "", "PermissionRequest"],
  ],
  [
    "codex",
    "permission",
    { tool_input: { command: "rm -r x" } },
    {},
    ["blocked", "Permission: rm -r x", "", "PermissionRequest"],
  ],
  [
    "codex",
    "permission",
    { tool_input: { command: ["rm", "-r", "x"] } },
    {},
    ["blocked", "Permission: rm -r x", "", "PermissionRequest"],
  ],
  ["codex", "permission", { command: ["ls"] }, {}, ["blocked", "Permission: ls", "", "PermissionRequest"]],
  ["codex", "permission", {}, {}, ["blocked", "Permission: Permission required", "", "PermissionRequest"]],
  ["codex", "done", { last_assistant_message: "ok" }, { state: "working" }, ["done", "ok", "", "Stop"]],

  ["pi", "session_start", {}, {}, ["starting", "started", "", "session_start"]],
  ["pi", "before_agent_start", { prompt: "go" }, { state: "done" }, ["starting", "You: go", "", "before_agent_start"]],
  ["pi", "agent_start", { text: "go" }, { state: "done" }, ["starting", "You: go", "", "agent_start"]],
  ["pi", "message_update", { assistantMessageEvent: { delta: "hel" } }, {}, ["working", "hel", "", "message_update"]],
  [
    "pi",
    "message_end",
    { message: { role: "assistant", content: [{ type: "text", text: "one\ntwo" }] } },
    {},
    ["working", "one", "", "message_end"],
  ],
  ["pi", "message_update", {}, {}, ["working", "Replying…", "", "message_update"]],
  [
    "pi",
    "tool_execution_start",
    { toolName: "read", args: { path: "/a/lexer.ts" } },
    {},
    ["working", "Read: lexer.ts", "read", "tool_execution_start"],
  ],
  [
    "pi",
    "tool_execution_start",
    { tool_name: "bash", arguments: '{"command":"ls"}' },
    {},
    ["working", "Bash: ls", "bash", "tool_execution_start"],
  ],
  ["pi", "tool_execution_start", { name: "ask" }, asked, ["blocked", "Question: which?", "ask", "waiting_for_user"]],
  [
    "pi",
    "tool_execution_end",
    {},
    { state: "working", activity: "Read: x", tool: "read" },
    ["working", "Read: x", "", "tool_execution_end"],
  ],
  ["pi", "tool_execution_end", {}, asked, ["working", "", "", "tool_execution_end"]],
  [
    "pi",
    "waiting_for_user",
    { prompt: "which?", tool: { name: "ask" } },
    {},
    ["blocked", "Question: which?", "ask", "waiting_for_user"],
  ],
  [
    "pi",
    "agent_end",
    {
      messages: [
        { role: "user", content: "u" },
        { role: "assistant", content: "fin" },
        { role: "user", content: "v" },
      ],
    },
    { tool: "read" },
    ["done", "fin", "", "agent_end"],
  ],
  [
    "pi",
    "session_shutdown",
    {},
    { state: "done", activity: "fin", tool: "x" },
    ["stopped", "fin", "", "session_shutdown"],
  ],

  ["opencode", "event", oc("session.created"), {}, ["starting", "Session created", "", "session.created"]],
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "s", status: { type: "busy" } }),
    {},
    ["working", "", "", "session.status"],
  ],
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "s", status: "idle" }),
    { state: "working", tool: "bash" },
    ["idle", "", "", "session.status"],
  ],
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "s", status: "idle" }),
    { state: "done", lastKind: "session.idle" },
    ["done", "", "", "session.idle"],
  ],
  [
    "opencode",
    "event",
    oc("session.idle"),
    { state: "working", tool: "bash", activity: "a" },
    ["done", "a", "", "session.idle"],
  ],
  [
    "opencode",
    "event",
    oc("session.error", { error: { data: { message: "quota" } } }),
    { tool: "x" },
    ["blocked", "Error: quota", "", "session.error"],
  ],
  [
    "opencode",
    "event",
    oc("tool.execute.before", { tool: "bash" }),
    {},
    ["working", "Tool: bash", "bash", "tool.execute.before"],
  ],
  [
    "opencode",
    "event",
    oc("tool.execute.after", { tool: "bash" }),
    { state: "working", tool: "bash" },
    ["working", "Tool done: bash", "", "tool.execute.after"],
  ],
  [
    "opencode",
    "event",
    oc("permission.asked", { permission: { type: "bash" } }),
    { state: "working" },
    ["blocked", "Permission: bash", "", "permission.asked"],
  ],
  [
    "opencode",
    "event",
    oc("permission.replied"),
    permission,
    ["working", "Permission replied", "", "permission.replied"],
  ],
  [
    "opencode",
    "event",
    oc("permission.replied"),
    { state: "done" },
    ["done", "Permission replied", "", "permission.replied"],
  ],
  [
    "opencode",
    "event",
    part({ type: "reasoning", text: "hm" }),
    {},
    ["working", "Thinking: hm", "", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "bash", state: { status: "running", input: { command: "npm i" } } }),
    {},
    ["working", "Bash: npm i", "bash", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "read", state: { input: { filePath: "/a/b" } } }),
    {},
    ["working", "Read: b", "read", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "glob", state: { input: { pattern: "*" } } }),
    {},
    ["working", "Glob: *", "glob", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "grep", state: { input: { pattern: "x" } } }),
    {},
    ["working", "Grep: x", "grep", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "websearch", state: { input: { query: "x" } } }),
    {},
    ["working", "Web: x", "websearch", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "todo", state: { title: "plan" } }),
    {},
    ["working", "Tool: plan", "todo", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    part({ type: "tool", tool: "bash", state: { status: "completed", input: { command: "ls" } } }),
    { tool: "bash" },
    ["working", "Done: Bash: ls", "", "message.part.updated"],
  ],
  // A part of unknown author changes nothing that is shown.
  [
    "opencode",
    "event",
    part({ type: "text", text: "secret", messageID: "m1" }),
    { state: "working", activity: "a" },
    ["working", "a", "", "message.part.updated"],
  ],
  [
    "opencode",
    "event",
    oc("message.updated", { info: { role: "assistant", id: "m1" } }),
    { state: "working", pendingPartMsgID: "m1", pendingPartText: "one\ntwo" },
    ["working", "one", "", "message.updated"],
  ],
  [
    "opencode",
    "event",
    oc("message.updated", { info: { role: "user", id: "m1" }, sessionID: "s" }),
    { state: "working", activity: "a", pendingPartMsgID: "m1", pendingPartText: "one" },
    ["working", "a", "", "message.updated"],
  ],
  // While a permission is asked for, these change nothing.
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "s", status: "busy" }),
    permission,
    ["blocked", "Permission: bash", "", "permission.asked"],
  ],
  ["opencode", "event", oc("session.idle"), permission, ["blocked", "Permission: bash", "", "permission.asked"]],
  [
    "opencode",
    "event",
    oc("tool.execute.before", { tool: "x" }),
    permission,
    ["blocked", "Permission: bash", "", "permission.asked"],
  ],
  // Another conversation is dropped, unless this one rests and the other says that it is busy.
  [
    "opencode",
    "event",
    oc("session.idle", { sessionID: "other" }),
    { state: "working", activity: "a", openCodeSessionID: "mine", lastKind: "k" },
    ["working", "a", "", "k"],
  ],
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "other", status: "busy" }),
    { state: "done", activity: "a", openCodeSessionID: "mine" },
    ["working", "a", "", "session.status"],
  ],
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "other", status: "busy" }),
    { state: "idle", activity: "a", openCodeSessionID: "mine" },
    ["working", "a", "", "session.status"],
  ],
  [
    "opencode",
    "event",
    oc("session.status", { sessionID: "other", status: "busy" }),
    { state: "blocked", activity: "a", openCodeSessionID: "mine", lastKind: "k" },
    ["blocked", "a", "", "k"],
  ],
  [
    "opencode",
    "event",
    oc("tool.execute.before", { sessionID: "other", tool: "bash" }),
    { state: "done", activity: "a", openCodeSessionID: "mine", lastKind: "k" },
    ["done", "a", "", "k"],
  ],
  [
    "opencode",
    "event",
    oc("permission.replied", { sessionID: "other" }),
    { state: "idle", activity: "a", openCodeSessionID: "mine", lastKind: "k" },
    ["idle", "a", "", "k"],
  ],
  [
    "opencode",
    "event",
    part({ sessionID: "other", type: "reasoning", text: "hm" }),
    { state: "done", activity: "a", openCodeSessionID: "mine", lastKind: "k" },
    ["done", "a", "", "k"],
  ],
];

describe("the hook table", () => {
  it.each(ROWS)("%s %s %j after %j", async (agent, action, payload, before, after) => {
    const made = hooked();
    const state = newSessionState(ID);
    const base = { seq: 1n, lastEvent: "2026-07-20T11:00:00Z", ...before };
    state.panes.set("primary", { ...newPaneState("primary", agent), ...base });
    await saveSessionState(ID, state, { root: made.root });
    await hook(made, agent, action, payload);
    const pane = await paneOf(made);
    expect([pane.state, pane.activity, pane.tool, pane.lastKind]).toEqual(after);
    expect(eventsOf(made)).toHaveLength(1);
    expect(eventsOf(made)[0]).toMatchObject({ ts: NOW, agent, role: "primary" });
    expect(made.log).toEqual([]);
  });

  it.each([
    ["claude", "dance", {}],
    ["pi", "dance", {}],
    ["opencode", "session.idle", oc("session.idle")],
    ["opencode", "event", "not json"],
    ["cobol", "starting", {}],
    ["__proto__", "starting", {}],
  ])("%s %s is not a hook: nothing is written", async (agent, action, payload) => {
    const made = hooked();
    await hook(made, agent, action, payload);
    expect(readdirSync(made.root)).toEqual([]);
  });
});

describe("a hook's state", () => {
  it("is written as the program writes it, and logged", async () => {
    const made = hooked();
    await hook(made, "claude", "working", { prompt: "a < b && c" });
    expect(readFileSync(sessionStatePath(made.root, ID), "utf8")).toBe(
      `{"session_id":"${ID}","version":1,"panes":{"primary":{"role":"primary","agent":"claude","state":"working","activity":"You: a \\u003c b \\u0026\\u0026 c","seq":1784548800000000000,"last_event":"${NOW}","last_kind":"UserPromptSubmit","working_since":"${NOW}"}},"seen_at":"${NOW}"}\n`,
    );
    expect(readFileSync(sessionStateLogPath(made.root, ID), "utf8")).toBe(
      `{"ts":"${NOW}","agent":"claude","role":"primary","action":"working","state":"working","activity":"You: a \\u003c b \\u0026\\u0026 c","kind":"UserPromptSubmit"}\n`,
    );
  });

  it("is not written again when a tracker would show the same, but the event is logged", async () => {
    const made = hooked();
    await hook(made, "claude", "tool_start", bash);
    const before = statSync(sessionStatePath(made.root, ID)).ino;
    made.env.FORKTAIL_NOW = "2026-07-20T12:00:05Z";
    await hook(made, "claude", "tool_start", bash);
    expect(statSync(sessionStatePath(made.root, ID)).ino).toBe(before);
    expect(eventsOf(made)).toHaveLength(2);
    expect((await paneOf(made)).lastEvent).toBe(NOW);
  });

  it("keeps since when it works, during the turn, and unsets it after", async () => {
    const made = hooked();
    await hook(made, "claude", "working", { prompt: "x" });
    made.env.FORKTAIL_NOW = "2026-07-20T12:00:05Z";
    await hook(made, "claude", "tool_start", bash);
    made.env.FORKTAIL_NOW = "2026-07-20T12:00:09Z";
    await hook(made, "claude", "tool_end", {});
    expect(await paneOf(made)).toMatchObject({ workingSince: NOW, lastEvent: "2026-07-20T12:00:09Z" });
    await hook(made, "claude", "done", {});
    expect((await paneOf(made)).workingSince).toBe(UNSET_TIME);
  });

  it("of an older file's turn counts from its last event", async () => {
    const made = hooked();
    const state = newSessionState(ID);
    const old = { state: "working", lastEvent: "2026-07-20T11:30:00Z" };
    state.panes.set("primary", { ...newPaneState("primary", "claude"), ...old });
    await saveSessionState(ID, state, { root: made.root });
    await hook(made, "claude", "tool_start", bash);
    expect((await paneOf(made)).workingSince).toBe("2026-07-20T11:30:00Z");
  });

  it("keeps panes, keys and a version it does not know", async () => {
    const made = hooked();
    mkdirSync(join(made.root, ID));
    const text = `{"session_id":"${ID}","version":2,"panes":{"reviewer":{"role":"reviewer","agent":"codex","state":"working","activity":"","seq":1,"last_event":"${NOW}","last_kind":"","mood":1}},"seen_at":"${NOW}","quest_id":"q"}`;
    writeFileSync(sessionStatePath(made.root, ID), text);
    await hook(made, "claude", "starting", {});
    const written = JSON.parse(readFileSync(sessionStatePath(made.root, ID), "utf8"));
    expect(written).toMatchObject({
      version: 2,
      quest_id: "q",
      panes: { reviewer: { mood: 1 }, primary: { state: "starting" } },
    });
  });

  it("that is torn is left alone, and the event still logged", async () => {
    const made = hooked();
    mkdirSync(join(made.root, ID));
    writeFileSync(sessionStatePath(made.root, ID), '{"session');
    await hook(made, "claude", "starting", {});
    expect(readFileSync(sessionStatePath(made.root, ID), "utf8")).toBe('{"session');
    expect(eventsOf(made)).toHaveLength(1);
    expect(made.log).toHaveLength(1);
  });

  it("has pi's files, ids and last lines, opencode's ids", async () => {
    const made = hooked();
    const fields = { session_file: "/s/x.jsonl", pi_session_id: "p-1", recent: [" a ", "", 3, "b"] };
    await hook(made, "pi", "message_end", fields);
    expect(await paneOf(made)).toMatchObject({ sessionFile: "/s/x.jsonl", piSessionID: "p-1", recent: ["a", "b"] });
    expect(eventsOf(made)[0]?.fields).toEqual({ session_file: "/s/x.jsonl", pi_session_id: "p-1", recent_count: 2 });
    const event = { id: "evt_1", type: "session.status", properties: { sessionID: "ses_1", status: "busy" } };
    await hook(made, "opencode", "event", { version: "v2", event });
    expect((await paneOf(made)).openCodeSessionID).toBe("ses_1");
    expect(eventsOf(made)[1]).toMatchObject({
      action: "session.status",
      kind: "session.status",
      fields: {
        event_id: "evt_1",
        minimum_version: "1.17.11",
        opencode_session_id: "ses_1",
        status: "busy",
        version: "v2",
      },
    });
  });

  it("takes the agent's last words from the end of its transcript when the payload has none", async () => {
    const made = hooked();
    const transcript = join(temporaryDirectory(), "t.jsonl");
    const said = {
      type: "assistant",
      message: { role: "assistant", content: [{ type: "tool_use" }, { type: "text", text: "Ready.\nx" }] },
    };
    const lines = [{ role: "assistant", text: "older" }, said, { type: "system" }].map((one) => JSON.stringify(one));
    writeFileSync(transcript, `${"x".repeat(200_000)}\n${lines.join("\n")}\n{"torn`);
    await hook(made, "claude", "done", { transcript_path: transcript });
    expect((await paneOf(made)).activity).toBe("Ready.");
  });
});

describe("a hook's session", () => {
  it.each([
    [{ QUESTMASTER_SESSION: "qm-1", PARTY_SESSION: "party-1" }, "qm-1"],
    [{ QUESTMASTER_SESSION: "", PARTY_SESSION: "party-1" }, "party-1"],
  ])("is named by the environment (%j)", async (session, id) => {
    const made = hooked();
    made.env = { ...made.env, ...session };
    await hook(made, "claude", "starting", {});
    expect(readdirSync(made.root)).toEqual([id]);
  });

  it("is named by the caller first", async () => {
    const made = hooked();
    await runHook("claude", "starting", Readable.from(["{}"]), made.env, { session: "qm-9" });
    expect(readdirSync(made.root)).toEqual(["qm-9"]);
  });

  it.each(["../evil", "qm-a/b", "qm-", "other"])("%j is refused", async (session) => {
    const made = hooked();
    made.env.QUESTMASTER_SESSION = session;
    await hook(made, "claude", "starting", { session_id: "abc" });
    expect(readdirSync(made.root)).toEqual([]);
  });

  it("gets its resume id noted in its manifest, once, and a foreign one never", async () => {
    const made = hooked();
    const manifest = newManifest(ID, { title: "t" });
    manifest.agents.push({ name: "claude", role: "primary", cli: "claude", resumeID: "", window: 0, extra: new Map() });
    const path = join(made.root, `${ID}.json`);
    writeFileSync(path, manifestText(manifest));
    await hook(made, "claude", "starting", { session_id: "conv-1" });
    const noted = await openStore(made.root).read(ID);
    expect([noted.agents[0]?.resumeID, extraString(noted, "claude_session_id")]).toEqual(["conv-1", "conv-1"]);
    const before = statSync(path).ino;
    await hook(made, "claude", "working", { session_id: "conv-1", prompt: "x" });
    await hook(made, "codex", "working", { session_id: "conv-2" });
    await hook(made, "claude", "working", { session_id: "../bad" });
    expect(statSync(path).ino).toBe(before);
  });

  it("does not get the resume id of a conversation whose events are dropped", async () => {
    const made = hooked();
    const manifest = newManifest(ID);
    const primary = { name: "opencode", role: "primary", cli: "opencode", resumeID: "", window: 0, extra: new Map() };
    manifest.agents.push(primary);
    writeFileSync(join(made.root, `${ID}.json`), manifestText(manifest));
    const noted = async () => (await openStore(made.root).read(ID)).agents[0]?.resumeID;
    const busy = (sessionID: string) => oc("session.status", { sessionID, status: "busy" });
    await hook(made, "opencode", "event", busy("ses_1"));
    await hook(made, "opencode", "event", busy("ses_2"));
    expect(await noted()).toBe("ses_1");
    await hook(made, "opencode", "event", oc("session.idle", { sessionID: "ses_1" }));
    await hook(made, "opencode", "event", busy("ses_2"));
    expect(await noted()).toBe("ses_2");
  });
});

describe("without questmaster", () => {
  function plain(): Hooked {
    const made = hooked();
    const { QUESTMASTER_SESSION: _session, ...env } = made.env;
    return { ...made, env: { ...env, TMUX_PANE: "%7" } };
  }

  it("a conversation gets a session in our own directory, with a manifest, and questmaster's root stays untouched", async () => {
    const made = plain();
    await hook(made, "claude", "starting", { session_id: "abc-1", cwd: "/w" });
    await hook(made, "claude", "working", { session_id: "abc-1", prompt: "Mend the door\nplease" });
    await hook(made, "claude", "tool_start", { session_id: "abc-1", ...bash });
    expect(readdirSync(made.root)).toEqual([]);
    const root = join(made.env.FORKTAIL_STATE_DIR ?? "", "hooks");
    expect(statSync(root).mode & 0o777).toBe(0o700);
    const processes = await processesFromProc();
    const reading = await new Reading(root, made.env).scan({ ...evidenceOf([]), processes });
    const row = reading.row("qm-abc-1");
    expect(row).toMatchObject({
      title: "Mend the door",
      agent: "claude",
      cwd: "/w",
      status: "working",
      activity: "Bash: make all",
      links: [{ source: "claude", id: "abc-1" }],
      resume: { argv: ["claude", "--resume", "abc-1"] },
    });
    const gone = reading.tick({ ...evidenceOf([]), processes: processTable([]) });
    expect(gone.changed.map((one) => one.status)).toEqual(["stopped"]);
    const pid = Number(extraString(await openStore(root).read("qm-abc-1"), HOOKED.pid));
    const agent = processes.byPid.get(pid);
    if (!agent) throw new Error("the hook noted no process of ours");
    reading.tick({ ...evidenceOf([]), processes });
    expect(reading.row("qm-abc-1").status).toBe("working");
    reading.tick({ ...evidenceOf([]), processes: processTable([{ ...agent, startTicks: "1" }]) });
    expect(reading.row("qm-abc-1").status).toBe("stopped");
  });

  it.each([
    ["codex", "working", { thread_id: "t-1" }, "qm-t-1"],
    [
      "codex",
      "working",
      { transcript_path: "/x/rollout-2026-019815a2-7d10-7c33-b6ad-52b1f0d7c1aa.jsonl" },
      "qm-019815a2-7d10-7c33-b6ad-52b1f0d7c1aa",
    ],
    ["pi", "session_start", { pi_session_id: "p-1" }, "qm-p-1"],
    ["opencode", "event", oc("session.created", { info: { id: "ses_1" } }), "qm-ses_1"],
    [
      "opencode",
      "event",
      oc("message.updated", { info: { id: "msg_1", role: "assistant", sessionID: "ses_1" } }),
      "qm-ses_1",
    ],
  ])("%s %s %j belongs to %s", async (agent, action, payload, id) => {
    const made = plain();
    await hook(made, agent, action, payload);
    const root = join(made.env.FORKTAIL_STATE_DIR ?? "", "hooks");
    expect(readdirSync(root).filter((name) => name.endsWith(".json"))).toEqual([`${id}.json`]);
    expect(made.log).toEqual([]);
  });

  it.each([{}, { session_id: "../x" }, { session_id: 7 }])(
    "a hook that names no conversation (%j) writes nothing",
    async (payload) => {
      const made = plain();
      await hook(made, "claude", "starting", payload);
      expect(existsSync(join(made.env.FORKTAIL_STATE_DIR ?? "", "hooks"))).toBe(false);
    },
  );
});

describe("a hook never fails and never delays its agent", () => {
  it.each([
    ["no input", ""],
    ["no JSON", "\u0000{{{"],
    ["an array", "[1]"],
    ["wrong types everywhere", '{"prompt":7,"tool_input":[],"session_id":{},"message":null}'],
  ])("with %s", async (_name, text) => {
    const made = hooked();
    for (const action of [
      "starting",
      "working",
      "tool_start",
      "tool_end",
      "done",
      "blocked",
      "subagent_stop",
      "stopped",
    ]) {
      await hook(made, "claude", action, text);
    }
    expect(eventsOf(made)).toHaveLength(8);
    expect(made.log).toEqual([]);
  });

  it("without a root, a lock program or a home", async () => {
    for (const env of [
      {},
      { QUESTMASTER_SESSION: ID },
      { QUESTMASTER_SESSION: ID, QUESTMASTER_STATE_ROOT: "/nonexistent" },
    ]) {
      await runHook("claude", "starting", Readable.from(["{}"]), env);
    }
    const made = hooked();
    made.env.PATH = "/nonexistent";
    await hook(made, "claude", "starting", {});
    expect(existsSync(sessionStatePath(made.root, ID))).toBe(false);
    expect(made.log[0]).toMatch(/neither flock nor perl/u);
  });

  it("with an input that is larger than it reads: what came through whole is used", async () => {
    const made = hooked();
    const payload = {
      session_id: "abc",
      tool_name: "Read",
      tool_input: { file_path: "/a/big.ts" },
      tool_response: "y".repeat(300_000),
    };
    await hook(made, "claude", "tool_start", payload);
    expect((await paneOf(made)).activity).toBe("Read: big.ts");
  });

  it("with an input that nobody closes", async () => {
    const open = new PassThrough();
    open.write("{}");
    const began = performance.now();
    expect(await readInput(open)).toBe("{}");
    expect(performance.now() - began).toBeLessThan(1000);
    expect(open.destroyed).toBe(true);
    const endless = new Readable({ read: (size) => void size });
    endless.push("x".repeat(MOST_INPUT_BYTES + 5));
    expect((await readInput(endless)).length).toBe(MOST_INPUT_BYTES);
    expect(await readInput(Object.assign(new PassThrough(), { isTTY: true }))).toBe("");
  });

  describe("with standard input", () => {
    /** Reads an input that says these texts, each after a silence of so many ms; the last silence has no text. */
    async function readAfter(...said: [silentMs: number, text?: string][]): Promise<string> {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const input = new PassThrough();
      const read = readInput(input);
      for (const [silentMs, text] of said) {
        await vi.advanceTimersByTimeAsync(silentMs);
        if (text !== undefined) input.write(text);
        // The stream hands it over in its own time, which is no timer's.
        await new Promise((resolve) => process.nextTick(resolve));
      }
      return await read;
    }

    it.each<[name: string, said: [silentMs: number, text?: string][], wanted: string]>([
      ["that comes late", [[900, '{"prompt":"late"}']], '{"prompt":"late"}'],
      [
        "that comes in pieces",
        [
          [0, '{"a":{}'],
          [900, ',"b":"}'],
          [900, '"}\n'],
        ],
        '{"a":{},"b":"}"}\n',
      ],
      ["that is whole, though nobody closes it", [[0, '{"a":1}']], '{"a":1}'],
      ["that is torn, and nobody closes it", [[0, '{"a":1,'], [1000]], '{"a":1,'],
      ["that nobody writes to or closes", [[1000]], ""],
    ])("%s", async (_name, said, wanted) => {
      expect(await readAfter(...said)).toBe(wanted);
    });

    it("that is closed it does not wait", async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      expect(await readInput(Readable.from(["not json"]))).toBe("not json");
      expect(await readInput(Readable.from([]))).toBe("");
    });
  });

  it("while another process holds the lock: it hands over, and what is written late never undoes what came after", async () => {
    const made = hooked();
    await hook(made, "claude", "starting", {});
    const holder = spawn("flock", ["-x", sessionStateLockPath(made.root, ID), "cat"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void holder.kill("SIGKILL"));
    holder.stdin.write("!");
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const handed: { input: string; env: NodeJS.ProcessEnv }[] = [];
    const began = performance.now();
    made.env.FORKTAIL_NOW = "2026-07-20T12:00:01Z";
    const handOver = (input: string, env: NodeJS.ProcessEnv): void => void handed.push({ input, env });
    await runHook("claude", "working", Readable.from(['{"prompt":"late"}']), made.env, { handOver });
    expect(performance.now() - began).toBeLessThan(1000);
    expect(handed).toHaveLength(1);
    holder.stdin.end();
    await new Promise((resolve) => holder.once("exit", resolve));
    made.env.FORKTAIL_NOW = "2026-07-20T12:00:02Z";
    await hook(made, "claude", "done", { last_assistant_message: "later" });
    await runHook("claude", "working", Readable.from([handed[0]?.input ?? ""]), handed[0]?.env ?? {});
    expect(await paneOf(made)).toMatchObject({ state: "done", activity: "later" });
    expect(eventsOf(made).map((one) => [one?.action, one?.ts])).toEqual([
      ["starting", "2026-07-20T12:00:00Z"],
      ["done", "2026-07-20T12:00:02Z"],
      ["working", "2026-07-20T12:00:01Z"],
    ]);
  });

  /** A program that is the hook and nothing else. */
  function hookProgram(): string {
    const program = join(temporaryDirectory(), "hook.ts");
    const command = new URL("../../../src/commands/hook.ts", import.meta.url).href;
    writeFileSync(
      program,
      `import { runHook } from ${JSON.stringify(command)};\nawait runHook(process.argv[2], process.argv[3], process.stdin, process.env);\n`,
    );
    return program;
  }

  it.each([
    ["state.jsonl", ["state.json"]],
    ["state.json.tmp", ["state.jsonl"]],
    ["state.json", ["state.jsonl"]],
    ["state.json.lock", []],
  ])("nor waits for a FIFO in the place of %s: that costs this file alone", (name, written) => {
    const made = hooked();
    const directory = join(made.root, ID);
    mkdirSync(directory);
    execFileSync("mkfifo", [join(directory, name)]);
    const ran = spawnSync(process.execPath, [hookProgram(), "claude", "working"], {
      input: '{"prompt":"x"}',
      env: made.env,
      encoding: "utf8",
      timeout: 10_000,
    });
    expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, "", ""]);
    expect(statSync(join(directory, name)).isFIFO()).toBe(true);
    const files = readdirSync(directory).filter((one) => one !== name && one !== "state.json.lock");
    expect(files).toEqual(written);
  });

  it("and its own process, prints nothing, leaves 0 and goes on by itself when the lock is busy", async () => {
    const made = hooked();
    const program = hookProgram();
    mkdirSync(join(made.root, ID));
    const holder = spawn("flock", ["-x", sessionStateLockPath(made.root, ID), "cat"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void holder.kill("SIGKILL"));
    holder.stdin.write("!");
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const ran = spawnSync(process.execPath, [program, "claude", "working"], {
      input: '{"prompt":"x"}',
      env: made.env,
      encoding: "utf8",
    });
    expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, "", ""]);
    expect(eventsOf(made)).toEqual([]);
    holder.stdin.end();
    await until(() => existsSync(sessionStatePath(made.root, ID)));
    expect((await paneOf(made)).activity).toBe("You: x");
  });
});

describe("snippets", () => {
  it.each([
    ["one\ntwo", "one"],
    ["  A=1 B_2=x  do it", "do it"],
    ["A=1", ""],
    ["a=1 b", "a=1 b"],
    ["=x", "=x"],
    ["x".repeat(61), "x".repeat(60)],
    [`${"x".repeat(58)}修y`, `${"x".repeat(58)}\ufffd\ufffd`],
    [`${"x".repeat(57)}修y`, `${"x".repeat(57)}修`],
    [`${"x".repeat(59)}é`, `${"x".repeat(59)}\ufffd`],
    ["\tindented", "indented"],
  ])("%j becomes %j", (text, wanted) => {
    expect(snippet(text)).toBe(wanted);
  });

  it("of paths are their base names", () => {
    expect(pathSnippet("/a/b/c.ts")).toBe("c.ts");
    expect(pathSnippet(`/a/${"x".repeat(80)}`)).toBe("x".repeat(60));
  });

  it("of output are the last forty lines", () => {
    expect(recentLines(Array.from({ length: 50 }, (_, n) => `${n}`))).toHaveLength(40);
  });

  it.each([
    ['{"a":1,"b":{"c":[1,2]},"d":"cut of', { a: 1, b: { c: [1, 2] } }],
    ['{"a":12', {}],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":"x\\"y","b":tru', { a: 'x"y' }],
    ["{", {}],
    ["", {}],
    ['{"__proto__":{"x":1},"a":2}', { a: 2 }],
  ])("the payload %s is read as %j", (text, wanted) => {
    expect(parsePayload(text)).toEqual(wanted);
  });
});
