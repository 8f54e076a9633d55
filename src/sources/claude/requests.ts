import type { ModelRequest } from "../../usage/request.ts";
import { type ClaudeFile, type ClaudeRequest, isFuller } from "./file.ts";

/** A sub-agent's transcript (agents.md §1.1). */
export interface AgentFile {
  id: string;
  path: string;
  file: ClaudeFile;
  /** From `agent-<id>.meta.json`. */
  type: string | null;
  description: string | null;
  model: string | null;
  toolUseId: string | null;
}

/** A request and who made it: null for the session itself. */
export interface OwnedRequest {
  request: ClaudeRequest;
  by: string | null;
}

/**
 * Every request of a session once. The key is the message's id alone: an aside replays a reply of the main file with
 * the same id under a new request id, and the main file is right (agents.md §1.5).
 */
export function sessionRequests(main: ClaudeFile, agents: readonly AgentFile[]): OwnedRequest[] {
  const found: OwnedRequest[] = [];
  for (const request of main.requests) if (request.counted) found.push({ request, by: request.side });
  found.push(...agentRequests(main, agents));
  return found;
}

/** The requests of sub-agents' files that the main file does not have. */
export function agentRequests(main: ClaudeFile, agents: readonly AgentFile[]): OwnedRequest[] {
  const found = new Map<string, OwnedRequest>();
  for (const agent of agents) {
    for (const request of agent.file.requests) {
      if (!request.counted || isCountedIn(main, request.id)) continue;
      const before = found.get(request.id);
      if (before === undefined) found.set(request.id, { request, by: agent.id });
      else if (isFuller(request, before.request)) found.set(request.id, { request, by: before.by });
    }
  }
  return [...found.values()];
}

function isCountedIn(file: ClaudeFile, id: string): boolean {
  const at = Object.hasOwn(file.byMessage, id) ? file.byMessage[id] : undefined;
  return at !== undefined && file.requests[at]?.counted === true;
}

export function modelRequest(owned: OwnedRequest, copied: boolean): ModelRequest {
  const { request } = owned;
  return {
    key: `claude:${request.id}`,
    time: request.time === null ? null : new Date(request.time).toISOString(),
    // Behind a gateway other makers' models appear: whose price holds is then a guess by the model's name.
    provider: request.model !== null && /claude/iu.test(request.model) ? "anthropic" : null,
    model: request.model,
    input: request.input,
    output: request.output,
    cacheRead: request.cacheRead,
    cacheWrite: request.write5m + request.write1h,
    cacheWrite1h: request.write1h,
    reasoning: 0,
    cost: null,
    by: owned.by,
    ...(copied ? { copied } : {}),
  };
}
