import { CannotLock } from "../../../files/flock.ts";
import { now as clock } from "../../../probe/clock.ts";
import type { StateEvent } from "../events.ts";
import { hookRoot } from "../hook-root.ts";
import { isValidPartyID } from "../ids.ts";
import { sessionIDFromEnv, stateRoot } from "../paths.ts";
import { updateAndLog } from "../session-files.ts";
import { newPaneState, type SessionState } from "../session-state.ts";
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
  const { env, waitMs } = call;
  const hooking: Hooking = { root, id, agentName: call.agent, agent, conversation, payload, env, waitMs };
  try {
    if (named === null) await adopt(hooking);
    const event = eventOf(said, call.agent, happenedAt);
    const late = call.happenedAt !== undefined;
    await updateAndLog(id, event, (state) => update(state, said, call.agent, happenedAt, late), hooking);
    if (named !== null) await captureResumeID(hooking);
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

function update(state: SessionState, said: Interpretation, agent: string, at: bigint, late: boolean): boolean {
  const pane = state.panes.get("primary") ?? newPaneState("primary", agent);
  // Handed over because of a busy lock: what happened after it has been written already.
  if (late && pane.seq > at) return false;
  const change = said.settle(pane, said.change);
  if (change === null) return false;
  const next = changedPane(pane, change, agent, at);
  if (next === pane) return false;
  state.panes.set("primary", next);
  state.seenAt = nanoTime(at);
  return true;
}

function unixNanosNow(env: NodeJS.ProcessEnv): bigint {
  if (env.FORKTAIL_NOW) return BigInt(clock(env)) * 1_000_000n;
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
