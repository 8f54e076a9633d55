import { fieldsOf, textField } from "../jsonl/record.ts";
import { mustHave } from "./both-stores.ts";
import { type Generation, ID, type SessionRow, type StoredTokens } from "./rows.ts";
import { allRows, columnsOf, countOf, numberOf, type SqlRow, textOf } from "./sql.ts";
import type { DatabaseSync } from "./sqlite.ts";

const TEXTS = ["id", "parent_id", "fork_session_id", "fork_boundary", "title", "directory", "version", "agent"];
const MORE_TEXTS = ["revert", "idle_outcome", "idle_error_message"];
const NUMBERS = ["cost", "time_created", "time_updated", "time_archived", "time_idle", "time_suspended"];
const TOKENS = ["tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"];
const MOST_TEXT = 4000;

/** All sessions of a table, newest first, none where there is no such table. Only columns that the table has; texts cut, for a diff may hang on `revert`. */
export function sessionRows(database: DatabaseSync, table: "session" | "session_v2", path: string): SessionRow[] {
  const columns = columnsOf(database, table);
  if (columns.size === 0) return [];
  mustHave(table, columns, ["id"]);
  const selected = [
    ...[...TEXTS, ...MORE_TEXTS].map((name) => {
      if (!columns.has(name)) return `null as ${name}`;
      if (name === "revert") {
        const valid = "json_valid(s.revert)";
        return `case when ${valid} then json_object('messageID', json_extract(s.revert, '$.messageID'), 'partID', json_extract(s.revert, '$.partID')) end as revert`;
      }
      return `substr(s.${name}, 1, ${MOST_TEXT}) as ${name}`;
    }),
    ...[...NUMBERS, ...TOKENS].map((name) => (columns.has(name) ? `s.${name} as ${name}` : `null as ${name}`)),
  ];
  const project = columnsOf(database, "project");
  const projects = project.has("id") && project.has("worktree") && columns.has("project_id");
  const worktree = projects ? "(select p.worktree from project p where p.id = s.project_id)" : "null";
  const order = columns.has("time_updated") ? "order by s.time_updated desc" : "";
  const rows = allRows(database, `select ${selected.join(", ")}, ${worktree} as worktree from ${table} s ${order}`);
  const generation = table === "session" ? "v1" : "v2";
  return rows.flatMap((row) => sessionOf(row, generation, path) ?? []);
}

function sessionOf(row: SqlRow, generation: Generation, path: string): SessionRow | null {
  const id = textOf(row, "id");
  if (id === null || !ID.test(id)) return null;
  const createdAt = numberOf(row, "time_created") ?? 0;
  return {
    id,
    generation,
    path,
    parentId: textOf(row, "parent_id"),
    forkId: textOf(row, "fork_session_id"),
    forkBoundary: textOf(row, "fork_boundary"),
    title: textOf(row, "title"),
    cwd: textOf(row, "directory") || textOf(row, "worktree"),
    version: textOf(row, "version"),
    agent: textOf(row, "agent"),
    cost: numberOf(row, "cost"),
    tokens: tokensOf(row),
    revert: revertOf(textOf(row, "revert")),
    createdAt,
    updatedAt: numberOf(row, "time_updated") ?? createdAt,
    archived: numberOf(row, "time_archived") !== null,
    idleAt: numberOf(row, "time_idle"),
    suspendedAt: numberOf(row, "time_suspended"),
    outcome: textOf(row, "idle_outcome"),
    idleError: textOf(row, "idle_error_message"),
  };
}

function tokensOf(row: SqlRow): StoredTokens | null {
  if (numberOf(row, "tokens_input") === null) return null;
  return {
    input: countOf(row, "tokens_input"),
    output: countOf(row, "tokens_output"),
    reasoning: countOf(row, "tokens_reasoning"),
    cacheRead: countOf(row, "tokens_cache_read"),
    cacheWrite: countOf(row, "tokens_cache_write"),
  };
}

function revertOf(text: string | null): SessionRow["revert"] {
  if (text === null) return null;
  try {
    const fields = fieldsOf(JSON.parse(text));
    const message = textField(fields, "messageID");
    return message === null ? null : { message, part: textField(fields, "partID") };
  } catch {
    return null;
  }
}
