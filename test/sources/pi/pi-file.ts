import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../../support/temp.ts";

/** Entries in short: id, parent, and what is particular; times count up by a second. */
export type Short = Record<string, unknown> & { id?: string; parentId?: string | null; type?: string };

export function header(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: "session",
    version: 3,
    id,
    timestamp: "2026-11-20T09:00:00.000Z",
    cwd: "/home/dana/code/pot",
    ...more,
  };
}

export function user(id: string, parentId: string | null, text: string): Short {
  return { type: "message", id, parentId, message: { role: "user", content: [{ type: "text", text }] } };
}

export function reply(id: string, parentId: string | null, more: Record<string, unknown> = {}): Short {
  const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, cost: { total: 0.01 } };
  const message = {
    role: "assistant",
    content: [{ type: "text", text: `reply ${id}` }],
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    stopReason: "stop",
    usage,
    ...more,
  };
  return { type: "message", id, parentId, message };
}

export function call(id: string, parentId: string | null, callId: string, name = "bash"): Short {
  const content = [{ type: "toolCall", id: callId, name, arguments: { command: "make" } }];
  return reply(id, parentId, { content, stopReason: "toolUse" });
}

export function result(id: string, parentId: string | null, toolCallId: string): Short {
  const content = [{ type: "text", text: "done" }];
  return { type: "message", id, parentId, message: { role: "toolResult", toolCallId, content, isError: false } };
}

export function lines(entries: readonly Record<string, unknown>[], from = "2026-11-20T09:00:00.000Z"): string {
  const start = Date.parse(from);
  return entries
    .map((entry, i) => `${JSON.stringify({ timestamp: new Date(start + i * 1000).toISOString(), ...entry })}\n`)
    .join("");
}

export function write(path: string, entries: readonly Record<string, unknown>[], tail = ""): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines(entries) + tail);
  return path;
}

/** A sessions directory with one file in it. */
export function oneSession(entries: readonly Record<string, unknown>[], tail = ""): { root: string; path: string } {
  const root = join(temporaryDirectory(), "sessions");
  const path = write(join(root, "--home-dana-code-pot--", "2026-11-20T09-00-00-000Z_s1.jsonl"), entries, tail);
  return { root, path };
}
