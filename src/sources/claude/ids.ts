/** A session's id is its file's name: a UUID (agents.md §1.1). */
export const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;

/** `agent-<id>.jsonl`, beside the sessions (2.0.x) or below `<session>/subagents/`. */
const AGENT_FILE = /^agent-([A-Za-z0-9_-]{1,128})\.jsonl$/u;

/** What may name a row: anything else could not be an own key of a plain object without surprises. */
const ROW_ID = /^(?!__proto__$)[A-Za-z0-9_.:-]{1,128}$/u;

export function isRowId(text: string): boolean {
  return ROW_ID.test(text);
}

export function sessionIdOf(fileName: string): string | null {
  const stem = fileName.endsWith(".jsonl") ? fileName.slice(0, -6) : "";
  return SESSION_ID.test(stem) ? stem : null;
}

export function agentIdOf(fileName: string): string | null {
  return AGENT_FILE.exec(fileName)?.[1] ?? null;
}
