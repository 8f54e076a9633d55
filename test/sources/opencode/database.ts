import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { loadSqlite } from "../../../src/sources/opencode/sqlite.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const V1 = `
create table project (id text primary key, worktree text not null);
create table session (id text primary key, project_id text not null, parent_id text, slug text, directory text not null,
  title text not null, version text not null, cost real default 0, tokens_input integer default 0,
  tokens_output integer default 0, tokens_reasoning integer default 0, tokens_cache_read integer default 0,
  tokens_cache_write integer default 0, revert text, agent text, model text, time_created integer,
  time_updated integer, time_archived integer);
create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text);
create index message_session_time_created_id_idx on message (session_id, time_created, id);
create index part_message_id_id_idx on part (message_id, id);
`;

const V2 = `
create table session_v2 (id text primary key, project_id text, parent_id text, fork_session_id text, fork_boundary text,
  directory text, title text, version text, cost real default 0, tokens_input integer default 0,
  tokens_output integer default 0, tokens_reasoning integer default 0, tokens_cache_read integer default 0,
  tokens_cache_write integer default 0, revert text, agent text, time_created integer, time_updated integer,
  time_archived integer, time_suspended integer, time_idle integer, idle_outcome text);
create table session_message (id text primary key, session_id text, type text, seq integer, time_created integer,
  time_updated integer, data text);
`;

/** A data directory with a database of version 1's tables, in WAL mode as OpenCode has it. */
export async function newDatabase(
  path = join(temporaryDirectory(), "opencode", "opencode.db"),
): Promise<{ root: string; path: string; database: DatabaseSync }> {
  const { DatabaseSync } = await loadSqlite();
  const root = dirname(path);
  mkdirSync(root, { recursive: true });
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal");
  database.exec(V1);
  return { root, path, database };
}

export interface Turn {
  prompt: string;
  /** null: the reply is not finished. */
  reply: string | null;
  tool?: { name: string; status: string; input?: unknown; output?: string; error?: string | undefined };
  finish?: string;
  error?: { name: string; message: string };
  tokens?: number;
}

/** Adds a session with its turns, a second each. */
export function addSession(
  database: DatabaseSync,
  id: string,
  turns: readonly Turn[],
  more: { at?: number; directory?: string; title?: string; parent?: string; revert?: string } = {},
): void {
  const at = more.at ?? Date.parse("2026-11-20T09:00:00.000Z");
  const updated = at + turns.length * 2000;
  database
    .prepare(
      "insert into session (id, project_id, parent_id, directory, title, version, revert, time_created, time_updated) values (?, 'p', ?, ?, ?, '1.18.34', ?, ?, ?)",
    )
    .run(
      id,
      more.parent ?? null,
      more.directory ?? "/work/pot",
      more.title ?? `Title ${id}`,
      more.revert ?? null,
      at,
      updated,
    );
  for (const [i, turn] of turns.entries()) addTurn(database, id, i, at + 1000 + i * 2000, turn);
}

export function addTurn(database: DatabaseSync, id: string, i: number, time: number, turn: Turn): void {
  const user = { role: "user", time: { created: time } };
  addMessage(database, `msg_${id}_${i}a`, id, time, user, [{ type: "text", text: turn.prompt }]);
  const finished = turn.reply !== null && turn.tool?.status !== "running";
  const assistant = {
    role: "assistant",
    providerID: "anthropic",
    modelID: "claude-sonnet-4-5",
    cost: 0.01,
    tokens: { input: turn.tokens ?? 100, output: finished ? 10 : 0, reasoning: 0, cache: { read: 0, write: 0 } },
    time: finished ? { created: time + 500, completed: time + 900 } : { created: time + 500 },
    ...(turn.finish === undefined ? {} : { finish: turn.finish }),
    ...(turn.error === undefined ? {} : { error: { name: turn.error.name, data: { message: turn.error.message } } }),
  };
  const parts: unknown[] = [];
  if (turn.reply !== null) parts.push({ type: "text", text: turn.reply });
  if (turn.tool !== undefined) {
    const { name, status, input, output, error } = turn.tool;
    parts.push({ type: "tool", tool: name, callID: `c${i}`, state: { status, input: input ?? {}, output, error } });
  }
  addMessage(database, `msg_${id}_${i}b`, id, time + 500, assistant, parts);
}

export function addMessage(
  database: DatabaseSync,
  id: string,
  session: string,
  time: number,
  data: unknown,
  parts: readonly unknown[],
): void {
  database.prepare("insert into message values (?, ?, ?, ?, ?)").run(id, session, time, time, JSON.stringify(data));
  for (const [i, part] of parts.entries()) {
    const values = [`prt_${id}_${i}`, id, session, time, time, JSON.stringify(part)] as const;
    database.prepare("insert into part values (?, ?, ?, ?, ?, ?)").run(...values);
  }
}

/** Beside version 1's tables those of version 2. */
export function addVersion2(database: DatabaseSync): void {
  database.exec(V2);
}

/** A row by its columns. */
function insert(database: DatabaseSync, table: string, row: Record<string, string | number | null>): void {
  const names = Object.keys(row);
  const places = names.map(() => "?").join(", ");
  database.prepare(`insert into ${table} (${names.join(", ")}) values (${places})`).run(...Object.values(row));
}

export interface Row2 {
  type?: "user" | "assistant" | "compaction";
  /** Order, and seconds after the session's beginning. */
  seq: number;
  data?: Record<string, unknown>;
}

/** A session of version 2 with its rows, each reply of 100 tokens in and 10 out. */
export function addSession2(
  database: DatabaseSync,
  id: string,
  rows: readonly Row2[],
  more: Record<string, string | number | null> = {},
): void {
  const at = Number(more.time_created ?? Date.parse("2026-11-20T09:00:00.000Z"));
  const facts = { id, directory: "/work/pot", title: `Title ${id}`, version: "2.0.1", time_created: at };
  insert(database, "session_v2", { ...facts, time_updated: at + rows.length * 1000, ...more });
  for (const { type = "assistant", seq, data } of rows) {
    const time = { created: at + seq * 1000 };
    const reply = {
      model: { id: "claude-sonnet-4-5", providerID: "anthropic" },
      content: [{ type: "text", text: `reply ${seq}` }],
      finish: "stop",
      cost: 0.01,
      tokens: { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } },
      time: { ...time, completed: time.created + 500 },
    };
    const written = { ...(type === "user" ? { text: `prompt ${seq}`, time } : reply), ...data };
    insert(database, "session_message", {
      ...{ id: `${id}_${seq}`, session_id: id, type, seq, time_created: time.created, time_updated: time.created },
      data: JSON.stringify(written),
    });
  }
}
