/** Both generations of ids: `party-…` up to v0.2.11, `qm-…` later (questmaster.md §4). Whole string, no dots or slashes. */
const ID = /^(?:party|qm)-[A-Za-z0-9_-]+$/u;

/** Is it a session id of either generation? Only then may it become a path or a tmux target. */
export function isValidPartyID(id: string): boolean {
  return ID.test(id);
}

const SAFE_RESUME_ID = /^[A-Za-z0-9_-]+$/u;

/** The resume id itself when every character is safe in a path or a command, else the empty string (questmaster.md §4). */
export function sanitizeResumeID(value: string): string {
  return SAFE_RESUME_ID.test(value) ? value : "";
}

/** The agents that questmaster can resume, and under which manifest key each one's id is kept (questmaster.md §10). */
export const RESUME_KEYS = {
  claude: "claude_session_id",
  codex: "codex_thread_id",
  pi: "pi_session_id",
  opencode: "opencode_session_id",
} as const;

export type ResumableAgent = keyof typeof RESUME_KEYS;

export function isResumableAgent(name: string): name is ResumableAgent {
  return Object.hasOwn(RESUME_KEYS, name);
}
