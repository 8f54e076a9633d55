import { join } from "node:path";
import { fixture, readFixture } from "../../support/fixtures.ts";

interface ExpectedTokens {
  calls: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  total: number;
}

interface ExpectedTask {
  id: string;
  subject: string;
  status: string;
  owner: string;
  label: string;
  blocked_by: string[];
  open_blockers: string[];
  missing_blockers: string[];
  blocked: boolean;
}

export interface ExpectedSession {
  file: string;
  id: string;
  version: number;
  cwd: string;
  created: string;
  updated: string;
  name: string;
  chain_name?: string;
  title: string;
  first_message: string;
  first_message_preview?: string;
  message_count: number;
  messages_by_role?: Record<string, number>;
  entry_count?: number;
  leaf_id?: string;
  chain_entry_count?: number;
  chain_message_count?: number;
  context_message_count: number;
  synthetic_tool_results?: number;
  branches: number;
  leaf_ids?: string[];
  abandoned_entries?: number;
  compactions_on_chain?: number;
  models: string[];
  snapshot_model: { provider: string; model: string; reasoning_effort: string };
  last_llm_model?: string | null;
  tokens: ExpectedTokens;
  tokens_on_chain?: ExpectedTokens;
  cache_breaks?: { prev: number; curr: number; drop: number; expected: boolean }[];
  status: string;
  goal: {
    status: string;
    id?: string;
    objective?: string;
    reason?: string;
    token_budget?: number;
    tokens_used?: number;
    tokens_remaining?: number;
    blocked_count?: number;
    set_timestamps?: string[];
  };
  plan: {
    phase: string;
    slug?: string;
    pre_mode?: string;
    recorded?: boolean;
    file_exists?: boolean;
    title?: string;
  };
  warnings: { kind: string; line?: number }[];
  listed_by_codebot_0_3: boolean;
  opened_by_codebot_0_3: boolean;
  rewinds?: number;
  codebot_picker_if_1mib_scanner?: { stops_before_line: number; message_count: number };
  tasks: null | {
    total: number;
    pending: number;
    in_progress: number;
    completed: number;
    high_water_mark: number;
    next_id: number;
    next_claimable: string | null;
    unreadable: string[];
    items: ExpectedTask[];
  };
  team: null | {
    team: string;
    description: string;
    members: { name: string; agent_type: string; color: string; kind: string; has_transcript: boolean }[];
    transcripts: Record<
      string,
      {
        messages: number;
        after_repair: number;
        torn_tail: boolean;
        input: number;
        output: number;
        cache_read: number;
        cache_write: number;
      }
    >;
    transcripts_without_roster_entry: string[];
  };
  project_dir: string;
}

export interface Expected {
  sessions: ExpectedSession[];
  skipped_files: { file: string; reason: string }[];
  orphan_task_dirs: string[];
  plans: { name: string; title: string }[];
  history: { entries: number; malformed: number; recall_newest_first: Record<string, string[]> };
}

export const EXPECTED = readFixture<Expected>("codebot", "EXPECTED.json");
export const ROOT = fixture("codebot", "dot-codebot");

export function pathOf(session: ExpectedSession): string {
  return join(ROOT, session.file);
}
