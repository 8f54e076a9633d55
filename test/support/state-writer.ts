import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { encode, type StateRecord } from "../../src/sources/statefile/record.ts";

/** A record of a session to write: what the tool would fill in is filled in. */
export type Draft = Partial<Omit<StateRecord, "body" | "len">> & { kind: string; body?: string | Buffer };

const CONFIG = JSON.stringify({ model: "anthropic/claude-opus-4", tools: "linux", workers: ["w1"], context: 200_000 });
const FIRST = Date.parse("2026-09-01T12:00:00Z");

/** Bytes of records `from`, `from` + 1, …, a second apart, with ids of their ordinals. */
export function records(drafts: readonly Draft[], from = 1): Buffer {
  return Buffer.concat(
    drafts.map((draft, at) => {
      const n = from + at;
      const body = Buffer.from(draft.body ?? "");
      const id = n.toString(16).padStart(8, "0");
      const time = new Date(FIRST + n * 1000).toISOString().replace(".000Z", "Z");
      return encode({ n, id, time, ...draft, len: body.length, body });
    }),
  );
}

/** Start and config: what every session begins with. */
export const BEGINNING: Draft[] = [{ kind: "start" }, { kind: "config", type: "application/json", body: CONFIG }];

/** One turn that is over: a message, a reply, and the step that closes both. `n` is the message's own. */
export function turn(n: number, prompt: string, reply: string): Draft[] {
  const step = `5e${n.toString(16).padStart(6, "0")}`;
  const usage = { input: 100, output: 10, cacheRead: 1000, cacheWrite: 0 };
  return [
    { kind: "message", type: "text/plain", via: "cli", body: prompt },
    { kind: "text", type: "text/markdown", step, body: reply },
    { kind: "step", id: step, upto: n, provider: "anthropic", model: "claude-opus-4", usage },
  ];
}

/** A turn with a call of a tool and its result in it. Seven records. */
export function turnWithCall(n: number, prompt: string, command: string, output: string, exit = 0): Draft[] {
  const step = `ca${n.toString(16).padStart(6, "0")}`;
  const call = `cc${n.toString(16).padStart(6, "0")}`;
  const usage = { input: 100, output: 10, cacheRead: 1000, cacheWrite: 0 };
  const [message, ...reply] = turn(n + 3, prompt, `It printed ${output.length} bytes.`);
  const args = JSON.stringify({ name: "run", arguments: { worker: "w1", command } });
  return [
    ...(message ? [message] : []),
    { kind: "thinking", type: "text/plain", step, provider: "anthropic", body: "First I look." },
    { kind: "call", id: call, type: "application/json", step, body: args },
    { kind: "step", id: step, upto: n, provider: "anthropic", model: "claude-opus-4", usage },
    { kind: "result", type: "text/plain", for: call, exit, body: output },
    ...reply.map((draft) => (draft.kind === "step" ? { ...draft, upto: n + 4 } : draft)),
  ];
}

/** A finished session of one turn. Its title is the prompt. */
export function finished(prompt: string, reply = "Done."): Draft[] {
  return [...BEGINNING, ...turn(3, prompt, reply)];
}

/** Writes a session's file and returns its path. `age`: seconds since it was written; more than 10 min is never taken for work. */
export function writeSession(directory: string, id: string, drafts: readonly Draft[], age = 3600): string {
  const path = join(directory, `${id}.state`);
  mkdirSync(dirname(path), { recursive: true });
  // Equal first records would make all sessions of a test copies of each other.
  writeFileSync(path, records(drafts.map((draft, n) => (n === 0 ? { id, ...draft } : draft))));
  const at = new Date(Date.now() - age * 1000);
  utimesSync(path, at, at);
  return path;
}
