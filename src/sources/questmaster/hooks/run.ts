import { CannotLock } from "../../../files/flock.ts";
import { now as clock } from "../../../probe/clock.ts";
import type { StateEvent } from "../events.ts";
import { hookRoot } from "../hook-root.ts";
import { isValidPartyID } from "../ids.ts";
import { sessionIDFromEnv, stateRoot } from "../paths.ts";
import { updateAndLog } from "../session-files.ts";
import { newPaneState, type PaneState, type SessionState } from "../session-state.ts";
import { nanoTime } from "../time.ts";
import { adopt, captureResumeID, type Hooking } from "./adopt.ts";
import { HOOKED_AGENTS } from "./agents.ts";
import { changedPane, type Interpretation } from "./change.ts";
import { parsePayload } from "./payload.ts";

/** One call of a hook. */
export interface HookCall {
  agent: string;
  action: string;
  /** The agent's JSON. */
  input: string;
  env: NodeJS.ProcessEnv;
  /** The session, when the caller names it; else the environment does. */
  session?: string | undefined;
  /** Longest wait for a lock, ms. */
  waitMs: number;
  /** Set when the call was handed over: unix nanoseconds of the event itself. */
  happenedAt?: bigint | undefined;
}

/** `ignored`: not a hook of ours, or of no session. `busy`: another process holds the lock, nothing was written. */
export type HookOutcome = { kind: "written" | "ignored" } | { kind: "busy"; happenedAt: bigint };

/** Writes what a hook says into state.jsonl and state.json (questmaster.md §7). Throws where the files cannot be written. */
export async function writeHook(call: HookCall): Promise<HookOutcome> {
  const agent = Object.hasOwn(HOOKED_AGENTS, call.agent) ? HOOKED_AGENTS[call.agent] : undefined;
  if (agent === undefined) return { kind: "ignored" };
  const payload = parsePayload(call.input);
  const said = agent.interpret(call.action, payload);
  if (said === null) return { kind: "ignored" };
  const happenedAt = call.happenedAt ?? unixNanosNow(call.env);
  const conversation = agent.conversation(payload, call.env);
  const named = call.session || sessionIDFromEnv(call.env);
  const id = named ?? (conversation === "" ? "" : `qm-${conversation}`);
  if (!isValidPartyID(id)) return { kind: "ignored" };
  const root = named === null ? hookRoot(call.env) : stateRoot(call.env);
  if (root === "") return { kind: "ignored" };
  const { env, waitMs } = call;
  const hooking: Hooking = { root, id, agentName: call.agent, agent, conversation, payload, env, waitMs };
  try {
    if (named === null) await adopt(hooking);
    let taken = false;
    const update = (state: SessionState): boolean => {
      const pane = state.panes.get("primary") ?? newPaneState("primary", call.agent);
      const next = paneAfter(pane, said, call, happenedAt);
      taken = next !== null;
      if (next === null || next === pane) return false;
      state.panes.set("primary", next);
      state.seenAt = nanoTime(happenedAt);
      return true;
    };
    await updateAndLog(id, eventOf(said, call.agent, happenedAt), update, hooking);
    if (named !== null && taken) await captureResumeID(hooking);
  } catch (error) {
    if (error instanceof CannotLock && error.kind === "busy") return { kind: "busy", happenedAt };
    throw error;
  }
  return { kind: "written" };
}

function eventOf({ action, change, fields }: Interpretation, agent: string, at: bigint): StateEvent {
  const { state, activity, tool, kind } = change;
  return { ts: nanoTime(at), agent, role: "primary", action, state, activity, tool, kind, fields };
}

/** The pane after an event, the same one when nothing of it changes; null: the event is not for it, or too late. */
function paneAfter(pane: PaneState, said: Interpretation, call: HookCall, at: bigint): PaneState | null {
  // Handed over because of a busy lock: what happened after it has been written already.
  if (call.happenedAt !== undefined && pane.seq > at) return null;
  const change = said.settle(pane, said.change);
  return change === null ? null : changedPane(pane, change, call.agent, at);
}

function unixNanosNow(env: NodeJS.ProcessEnv): bigint {
  if (env.FORKTAIL_NOW) return BigInt(clock(env)) * 1_000_000n;
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
