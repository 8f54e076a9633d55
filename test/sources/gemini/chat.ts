import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temp.ts";

export const ID = "11111111-aaaa-4bbb-8ccc-000000000001";

/** A UUID that ends with this number. */
export function uuid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

export function time(second: number): string {
  return new Date(Date.parse("2026-11-20T09:00:00.000Z") + second * 1000).toISOString();
}

export function meta(id = ID, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { sessionId: id, projectHash: "h", startTime: time(0), lastUpdated: time(0), kind: "main", ...more };
}

export function ask(n: number, text: string): Record<string, unknown> {
  return { id: uuid(n), timestamp: time(n), type: "user", content: [{ text }] };
}

export function answer(n: number, text: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const tokens = { input: 100, output: 10, cached: 40, thoughts: 5, tool: 2, total: 115 };
  return { id: uuid(n), timestamp: time(n), type: "gemini", content: text, tokens, model: "gemini-2.5-pro", ...more };
}

/** What a checkpoint keeps of a message: neither numbers nor calls. */
export function bare(message: Record<string, unknown>): Record<string, unknown> {
  const { tokens: _tokens, model: _model, toolCalls: _calls, ...rest } = message;
  return rest;
}

export function ran(id: string, status = "success", output = "ok"): Record<string, unknown> {
  const result = [{ functionResponse: { id, name: "run", response: { output } } }];
  return { id, name: "run", args: { command: "ls" }, status, ...(status === "success" ? { result } : {}) };
}

export function lines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** A root with one chat in it. */
export function oneChat(records: readonly unknown[], tail = ""): { root: string; chats: string; path: string } {
  const root = join(temporaryDirectory(), ".gemini", "tmp");
  const chats = join(root, "pot", "chats");
  mkdirSync(chats, { recursive: true });
  writeFileSync(join(root, "pot", ".project_root"), "/home/dana/code/pot");
  const path = join(chats, `session-2026-11-20T09-00-${ID.slice(0, 8)}.jsonl`);
  writeFileSync(path, lines(records) + tail);
  return { root, chats, path };
}
