import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { codebotFold, type SessionState, settled } from "../../../src/sources/codebot/fold.ts";

/** Session files made by hand, one line after another. */

export function header(id = "aaaaaaaa", data: Record<string, unknown> = {}): string {
  const created = "2026-08-01T10:00:00Z";
  return line("header", "h0", "", { version: 3, session_id: id, cwd: "/proj/x", created, ...data }, created);
}

export function line(
  kind: string,
  id: string,
  parent: string,
  data: unknown,
  timestamp = "2026-08-01T10:00:01Z",
): string {
  return JSON.stringify({ kind, id, ...(parent === "" ? {} : { parent_id: parent }), timestamp, data });
}

export function user(id: string, parent: string, text: string, timestamp?: string): string {
  return line("message", id, parent, { role: "user", content: [{ type: "text", text }] }, timestamp);
}

export function assistant(id: string, parent: string, text: string, extra: Record<string, unknown> = {}): string {
  return line("message", id, parent, {
    role: "assistant",
    content: [{ type: "text", text }],
    stop_reason: "stop",
    ...extra,
  });
}

export function calls(id: string, parent: string, ...ids: string[]): string {
  const content = ids.map((one) => ({
    type: "toolCall",
    tool_call: { id: one, name: "bash", args: { command: "ls" } },
  }));
  return line("message", id, parent, { role: "assistant", content, stop_reason: "toolUse" });
}

export function result(id: string, parent: string, call: string, text = '"ok"'): string {
  const metadata = { tool_call_id: call, is_error: false };
  return line("message", id, parent, { role: "tool", content: [{ type: "text", text }], metadata });
}

export function llmCall(
  id: string,
  parent: string,
  input: number,
  cacheRead: number,
  output: number,
  time?: string,
): string {
  const data = {
    ...{ provider: "p", model: "m", input_tokens: input, output_tokens: output },
    ...(cacheRead === 0 ? {} : { cache_read_tokens: cacheRead }),
    total_tokens: input + output,
  };
  return line("llm_call", id, parent, data, time);
}

export function text(...lines: string[]): string {
  return lines.map((one) => `${one}\n`).join("");
}

/** Where `nested` puts its JSON. */
export const NESTED = "<nested>";

/** The JSON that `nested` puts into a line: deeper than any recursion survives. */
export const DEEP = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;

/** A line with `DEEP` in place of the text `NESTED`. */
export function nested(line: string): string {
  return line.replace(JSON.stringify(NESTED), DEEP);
}

/** The state after reading all of it at once, the last line taken in. */
export function fold(bytes: Buffer | string): SessionState {
  const state = codebotFold.initial();
  runNow(codebotFold.advance(state, bytesOf(Buffer.from(bytes)), 0));
  return settled(state);
}

/** Writes a session file into a root and returns its path. */
export function writeSession(root: string, id: string, content: string, project = "-proj-x"): string {
  const path = join(root, "projects", project, `2026-08-01_${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
