import type { ModelRequest } from "../../usage/request.ts";
import type { ClaudeFile, ClaudeRequest } from "./file.ts";

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
  const seen = new Map<string, number>();
  for (const request of main.requests) {
    if (!request.counted) continue;
    seen.set(request.id, found.length);
    found.push({ request, by: request.side });
  }
  const fixed = found.length;
  for (const agent of agents) {
    for (const request of agent.file.requests) {
      if (!request.counted) continue;
      const at = seen.get(request.id);
      if (at === undefined) {
        seen.set(request.id, found.length);
        found.push({ request, by: agent.id });
      } else if (at >= fixed && (found[at]?.request.output ?? 0) < request.output) {
        found[at] = { request, by: found[at]?.by ?? agent.id };
      }
    }
  }
  return found;
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
