import { type Fields, field, numberField, objectField, textField, timeField } from "../jsonl/record.ts";
import type { CodexFile, CodexMeta } from "./file.ts";
import { THREAD_ID } from "./rollout-name.ts";

/** The payload of a `session_meta`, or the bare header of the first generation; null when it names no thread. */
export function readMeta(of: Fields, generation: 1 | 2): CodexMeta | null {
  const id = threadId(of, "id");
  if (id === null) return null;
  const source = field(of, "source");
  const spawn = objectField(objectField(objectField(of, "source"), "subagent"), "thread_spawn");
  const base = objectField(of, "history_base");
  const baseThread = threadId(base, "thread_id");
  const endOrdinal = numberField(base, "end_ordinal_exclusive");
  return {
    id,
    headless: false,
    sessionId: threadId(of, "session_id"),
    forkedFrom: threadId(of, "forked_from_id"),
    parentThread: threadId(of, "parent_thread_id") ?? threadId(spawn, "parent_thread_id"),
    base: baseThread === null || endOrdinal === null ? null : { thread: baseThread, endOrdinal },
    ownFrom: numberField(of, "subagent_history_start_ordinal"),
    kind: kindOf(of, spawn),
    nickname: textField(of, "agent_nickname") ?? textField(spawn, "agent_nickname"),
    role: textField(of, "agent_role") ?? textField(spawn, "agent_role"),
    source: typeof source === "string" ? source : null,
    cwd: textField(of, "cwd"),
    gitBranch: textField(objectField(of, "git"), "branch"),
    version: textField(of, "cli_version"),
    provider: textField(of, "model_provider"),
    paginated: textField(of, "history_mode") === "paginated",
    generation,
    time: timeField(of, "timestamp"),
  };
}

/** What is known without a header: the thread its name gives, and from its first row the generation (agents.md §2.1, §2.2). */
export function metaWithoutHeader(id: string, { events }: CodexFile): CodexMeta | null {
  const [first] = events;
  if (first === undefined) return null;
  return {
    id,
    headless: true,
    sessionId: null,
    forkedFrom: null,
    parentThread: null,
    base: null,
    ownFrom: null,
    kind: "user",
    nickname: null,
    role: null,
    source: null,
    cwd: null,
    gitBranch: null,
    version: null,
    provider: null,
    paginated: first.ord >= 0,
    generation: first.time === null ? 1 : 2,
    time: null,
  };
}

/** Spawned agents are sub-agents; reviews, guardians and memory threads are the program's own (agents.md §2.2). */
function kindOf(of: Fields, spawn: Fields | null): CodexMeta["kind"] {
  if (spawn !== null) return "subagent";
  if (field(objectField(of, "source"), "subagent") !== undefined) return "internal";
  const origin = textField(of, "thread_source");
  if (origin === null || origin === "user") return "user";
  return origin === "subagent" ? "subagent" : "internal";
}

function threadId(of: Fields | null, key: string): string | null {
  const id = textField(of, key);
  return id !== null && THREAD_ID.test(id) ? id : null;
}
