import type { Evidence } from "../../probe/evidence.ts";
import type { TmuxPane, TmuxPanes } from "../../probe/tmux.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Liveness } from "./judge.ts";
import { extraString, type Manifest } from "./manifest.ts";

/** Extra keys our own hooks write into the manifests of sessions that no questmaster started. */
export const HOOKED = {
  by: "hooked_by",
  pane: "adopted_pane",
  pid: "agent_pid",
  started: "agent_start_ticks",
} as const;

export interface Presence {
  liveness: Liveness;
  /** The pane of the leading agent, null when there is none or it is not known. */
  pane: TmuxPane | null;
}

/** Was this manifest made by `forktail hook`? Then its id is no tmux session's name. */
export function isHooked(manifest: Manifest): boolean {
  return extraString(manifest, HOOKED.by) === "forktail";
}

/** Whether the session's process is there: the tmux session of its name (questmaster.md §8.1), or for plain hooks the agent itself. */
export function presenceOf(manifest: Manifest, evidence: Evidence): Presence {
  if (isHooked(manifest)) return presenceOfHooked(manifest, evidence);
  const id = manifest.partyID;
  const { tmux } = evidence;
  if (tmux === null) return { liveness: { live: "unknown", why: tmuxFailure(evidence) }, pane: null };
  if (!tmux.sessions.has(id)) {
    return { liveness: { live: "no", why: tmux.server ? `no tmux session ${id}` : "no tmux server runs" }, pane: null };
  }
  return {
    liveness: { live: "yes", why: `the tmux session ${id} is there` },
    pane: leadingPane(panesBySession(tmux).get(id) ?? []),
  };
}

function presenceOfHooked(manifest: Manifest, evidence: Evidence): Presence {
  const paneID = extraString(manifest, HOOKED.pane);
  const pane = evidence.tmux?.panes.find((one) => one.id === paneID && !one.dead) ?? null;
  const pid = Number(extraString(manifest, HOOKED.pid));
  if (pid > 0 && evidence.processes !== null) {
    const process = evidence.processes.byPid.get(pid);
    const started = extraString(manifest, HOOKED.started);
    const same = process !== undefined && (process.startTicks === null || process.startTicks === started);
    if (same) return { liveness: { live: "yes", why: `its process ${pid} runs` }, pane };
    return { liveness: { live: "no", why: `its process ${pid} is gone` }, pane: null };
  }
  if (pane !== null) return { liveness: { live: "yes", why: `its tmux pane ${cleanLine(paneID)} is there` }, pane };
  if (paneID !== "" && evidence.tmux !== null) {
    return { liveness: { live: "no", why: `its tmux pane ${cleanLine(paneID)} is gone` }, pane: null };
  }
  return { liveness: { live: "unknown", why: "its process is not known" }, pane: null };
}

function tmuxFailure(evidence: Evidence): string {
  const failure = evidence.failures.find((one) => one.probe === "tmux");
  return failure ? cleanLine(failure.message) : "tmux was not asked";
}

const grouped = new WeakMap<TmuxPanes, Map<string, TmuxPane[]>>();

/** Grouped once for each look at tmux, not once for each session. */
function panesBySession(tmux: TmuxPanes): Map<string, TmuxPane[]> {
  const known = grouped.get(tmux);
  if (known) return known;
  const groups = Map.groupBy(tmux.panes, (pane) => pane.session);
  grouped.set(tmux, groups);
  return groups;
}

/** The pane with the role `primary`, in the lowest window; without roles, the first that is neither tracker nor shell (questmaster.md §11). */
function leadingPane(panes: readonly TmuxPane[]): TmuxPane | null {
  const inOrder = [...panes].sort((a, b) => a.window - b.window || a.index - b.index);
  return (
    inOrder.find((one) => one.role === "primary") ??
    inOrder.find((one) => one.role === "") ??
    inOrder.find((one) => one.role === "shell") ??
    null
  );
}
