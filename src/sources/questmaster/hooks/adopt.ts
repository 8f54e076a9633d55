import { titleLine } from "../../../session/untrusted.ts";
import { HOOKED } from "../liveness.ts";
import { extraString, type Manifest, newManifest, primaryAgent, setExtra } from "../manifest.ts";
import { ManifestExists, ManifestNotFound, newStore, openStore } from "../store.ts";
import type { HookedAgent } from "./agents.ts";
import { hookingProcess } from "./ancestor.ts";
import { type Payload, textOf } from "./payload.ts";

/** A hook that found its session. */
export interface Hooking {
  root: string;
  id: string;
  agentName: string;
  agent: HookedAgent;
  conversation: string;
  payload: Payload;
  env: NodeJS.ProcessEnv;
  waitMs: number;
}

/** Gives a session that no questmaster started a manifest of our own, and keeps it true: where its agent runs, what it is called. */
export async function adopt(hooking: Hooking): Promise<void> {
  const store = newStore(hooking.root, hooking);
  const found = await store.read(hooking.id).catch((error: unknown) => {
    if (error instanceof ManifestNotFound) return null;
    throw error;
  });
  if (found === null) {
    const manifest = newManifest(hooking.id);
    describe(manifest, hooking);
    try {
      await store.create(manifest);
      return;
    } catch (error) {
      // Another hook of the same session was faster.
      if (!(error instanceof ManifestExists)) throw error;
    }
  } else if (!describe(structuredClone(found), hooking)) return;
  await store.update(hooking.id, (manifest) => void describe(manifest, hooking));
}

/** Puts what the hook knows into the manifest. Returns whether that changed it. */
function describe(manifest: Manifest, { agentName, agent, conversation, payload, env }: Hooking): boolean {
  const before = JSON.stringify([manifest.cwd, manifest.title, manifest.agents, [...manifest.extra]]);
  const process = hookingProcess();
  manifest.cwd ||= textOf(payload, "cwd");
  manifest.title ||= titleLine(textOf(payload, "prompt"), 60);
  manifest.agents = [
    { name: agentName, role: "primary", cli: agentName, resumeID: conversation, window: 0, extra: new Map() },
  ];
  setExtra(manifest, HOOKED.by, "forktail");
  if (agent.resumeKey !== null) setExtra(manifest, agent.resumeKey, conversation);
  if (env.TMUX_PANE) setExtra(manifest, HOOKED.pane, env.TMUX_PANE);
  if (process !== null) {
    setExtra(manifest, HOOKED.pid, String(process.pid));
    setExtra(manifest, HOOKED.started, process.startTicks);
  }
  return JSON.stringify([manifest.cwd, manifest.title, manifest.agents, [...manifest.extra]]) !== before;
}

/** Notes in questmaster's own manifest by what the conversation is resumed, as its hooks do; only when that is news. */
export async function captureResumeID(hooking: Hooking): Promise<void> {
  const { agentName, agent, conversation, id } = hooking;
  const key = agent.resumeKey;
  if (key === null || conversation === "") return;
  const store = openStore(hooking.root, hooking);
  const found = await store.read(id).catch((error: unknown) => {
    if (error instanceof ManifestNotFound) return null;
    throw error;
  });
  if (found === null || known(found, agentName, key, conversation)) return;
  await store.update(id, (manifest) => {
    for (const one of manifest.agents) if (one.name === agentName) one.resumeID = conversation;
    setExtra(manifest, key, conversation);
  });
}

/** Nothing to note: it is there, or the manifest does not have this agent. */
function known(manifest: Manifest, agentName: string, key: string, conversation: string): boolean {
  if (primaryAgent(manifest)?.name !== agentName) return true;
  const recorded = manifest.agents.every((one) => one.name !== agentName || one.resumeID === conversation);
  return recorded && extraString(manifest, key) === conversation;
}
