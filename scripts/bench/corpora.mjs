// What is measured: each corpus makes its files, and knows how one of its sessions goes on.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { encode } from "../../src/sources/statefile/index.ts";
import { makeAgentsCorpus } from "../agents-corpus.mjs";
import { makeCorpus } from "../corpus.mjs";

/** `records`: one long session, which is opened and paged through. `agents`: sessions of Claude Code and Codex. */
export const CORPORA = [
  { name: "1 session", sessions: 1 },
  { name: "1,000 sessions", sessions: 1000 },
  { name: "10,000 sessions", sessions: 10_000 },
  { name: "1 session of 50,000 records", sessions: 1, records: 50_000 },
  { name: "2,000 of Claude Code and Codex", agents: true, sessions: 2000, bytes: 416_000_000 },
  { name: "10,000 of Claude Code and Codex", agents: true, sessions: 10_000, bytes: 200_000_000 },
  { name: "1 of Claude Code, 800 MB", agents: true, sessions: 1, bytes: 800_000_000, sources: ["claude"], records: 0 },
];

/** Makes it in `dir`. Returns its roots, its size, and its newest file with how a line of text is appended to it. */
export async function make(corpus, dir) {
  const { roots } = corpus.agents ? makeAgentsCorpus({ ...corpus, dir }) : await makeCorpus({ ...corpus, dir });
  const paths = roots.map((root) => root.path);
  const found = execFileSync("find", [...paths, "-name", "*.*", "-type", "f", "-printf", "%s %T@ %p\n"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const files = found
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const bytes = files.reduce((sum, [size]) => sum + Number(size), 0);
  const sessions = files.filter(([, , path]) => !path.includes("/subagents/"));
  const [, , newest] = sessions.reduce((a, b) => (Number(a[1]) > Number(b[1]) ? a : b));
  return { roots, paths, bytes, newest, record: recordOf(newest) };
}

function recordOf(path) {
  if (path.endsWith(".state")) return stateRecord;
  return path.includes("rollout-") ? codexRecord : (words) => claudeRecord(path, words);
}

let n = 1_000_000;
function stateRecord(words) {
  n += 1;
  const time = new Date().toISOString();
  return encode({
    n,
    kind: "message",
    id: "00c0ffee",
    time,
    type: "text/plain",
    via: "bench",
    len: 0,
    body: Buffer.from(words),
  });
}

function codexRecord(words) {
  const item = { type: "AgentMessage", id: randomUUID(), content: [{ type: "Text", text: words }] };
  const payload = { type: "item_completed", turn_id: "bench", item };
  return `${JSON.stringify({ timestamp: new Date().toISOString(), ordinal: n, type: "event_msg", payload })}\n`;
}

function claudeRecord(path, words) {
  const message = {
    id: `msg_${randomUUID()}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    stop_reason: "end_turn",
  };
  const usage = { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 };
  const row = {
    parentUuid: lastUuid(path),
    isSidechain: false,
    type: "assistant",
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
  };
  return `${JSON.stringify({ ...row, message: { ...message, content: [{ type: "text", text: words }], usage } })}\n`;
}

/** The row that the next one hangs on. */
function lastUuid(path) {
  const fd = openSync(path, "r");
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(size, 512 * 1024));
  readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  closeSync(fd);
  return [...bytes.toString("latin1").matchAll(/"uuid":"([0-9a-f-]{36})"/gu)].at(-1)?.[1] ?? null;
}

export function homeOf(dir) {
  return { HOME: dir, CLAUDE_CONFIG_DIR: join(dir, ".claude"), CODEX_HOME: join(dir, ".codex") };
}
