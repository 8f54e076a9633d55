import { existsSync, lstatSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { copyOfFixture, readFixture } from "../../support/fixtures.ts";

/** The shape of `EXPECTED.json` of the questmaster fixtures, as far as tests read it. */
export interface Expected {
  reference_now: string;
  live_tmux_sessions: string[];
  order: Record<string, string[]>;
  resumable_by_mtime: string[];
  root_files: { artifacts: object[]; quests: object[]; repo_colors: Record<string, object> };
  sessions: Record<string, ExpectedSession>;
  skipped: { entry: string; reason: string }[];
  mtimes: Record<string, string>;
}

export interface ExpectedSession {
  id: string;
  valid_id: boolean;
  manifest: string;
  live: boolean;
  title: string;
  display_title: string;
  type: string;
  parent: string | null;
  parent_exists: boolean | null;
  cwd: string;
  created_at: string | null;
  updated_at: string | null;
  sort_key: string;
  workers: string[];
  missing_workers: string[];
  agents: { role: string; name: string; cli: string; window: number; resume_id: string | null }[];
  primary_agent: string;
  extra_keys: string[];
  id_key: string;
  resume_id: string | null;
  display?: object;
  state_file: string;
  state_version?: number;
  seen_at?: string | null;
  panes: ExpectedPane[];
  log: Record<
    string,
    { bytes: number; events: number; bad_lines: number; blank_lines: number; unterminated_tail: boolean }
  >;
  effective_resume_id?: string | null;
  recommended: {
    visible: boolean;
    state?: string;
    word?: string;
    glyph?: string;
    attention?: string;
    activity?: string;
    stale?: boolean;
    working_for_ms?: number | null;
    why?: string;
  };
}

export interface ExpectedPane {
  role: string;
  agent: string;
  state: string;
  activity: string;
  tool: string | null;
  seq: string;
  last_event: string | null;
  last_kind: string;
  working_since: string | null;
  recent?: string[];
  session_file?: string;
  pi_session_id?: string;
  opencode_session_id?: string;
  pending_part_msg_id?: string;
}

export const expected = readFixture<Expected>("questmaster", "EXPECTED.json");

export const referenceNow = Date.parse(expected.reference_now);

/** A copy of the fixtures' state root with the mtimes that git drops. */
export function stateRootCopy(): string {
  const root = copyOfFixture("questmaster", "state");
  for (const [name, time] of Object.entries(expected.mtimes)) {
    const path = join(root, name);
    if (existsSync(path)) utimesSync(path, new Date(time), new Date(time));
  }
  return root;
}

/** Names of the root, directories with a slash behind, as `skipped` spells them. */
export function namesOf(root: string): string[] {
  return readdirSync(root).map((name) => (lstatSync(join(root, name)).isDirectory() ? `${name}/` : name));
}
