import { basename } from "node:path";
import { isResumableAgent, sanitizeResumeID } from "./ids.ts";
import { type Manifest, manifestResumeID, primaryAgent } from "./manifest.ts";
import { type PaneState, SCHEMA_VERSION, type SessionState } from "./session-state.ts";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu;
const PI_FILE = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z_([0-9a-f-]{36})\.jsonl$/iu;

/** Who leads a session: the pane's agent when hooks wrote one, else the manifest's primary agent (questmaster.md §15). */
export function leadingAgent(manifest: Manifest, state: SessionState | null): string | null {
  return state?.panes.get("primary")?.agent || primaryAgent(manifest)?.name || null;
}

/**
 * The id by which the leading agent's conversation is resumed: from the manifest, else from the state. Of pi from the
 * state first: its hooks note the id nowhere else, and the manifest has the one of the last `continue` (questmaster.md
 * §10). null when none is known.
 */
export function effectiveResumeID(manifest: Manifest, state: SessionState | null): string | null {
  const agent = leadingAgent(manifest, state);
  if (agent === null) return null;
  const recorded = manifestResumeID(manifest, agent);
  const pane = state?.version === SCHEMA_VERSION ? state.panes.get("primary") : undefined;
  const inPane = pane === undefined ? "" : paneResumeID(pane, agent);
  return (agent === "pi" ? inPane || recorded : recorded || inPane) || null;
}

/** The id the pane itself gives; empty when it gives none. */
function paneResumeID(pane: PaneState, agent: string): string {
  if (agent === "pi") return piResumeID(pane);
  return agent === "opencode" ? sanitizeResumeID(pane.openCodeSessionID) : "";
}

/** A pi pane's session: its id when that is a UUID, else the UUID in its file's name. */
function piResumeID(pane: PaneState): string {
  if (UUID.test(pane.piSessionID)) return pane.piSessionID;
  const found = PI_FILE.exec(basename(pane.sessionFile))?.[1] ?? "";
  return UUID.test(found) ? found : "";
}

/** The command each agent resumes a conversation with (questmaster.md §10), null for agents that cannot. */
export function resumeArgv(agent: string, id: string): string[] | null {
  if (!isResumableAgent(agent) || sanitizeResumeID(id) === "") return null;
  if (agent === "claude") return ["claude", "--resume", id];
  if (agent === "codex") return ["codex", "resume", id];
  return [agent, "--session", id];
}
