import type { PaneState } from "../session-state.ts";
import { nanoTime, UNSET_TIME, unixNanos } from "../time.ts";

/** What a hook does to its pane. An empty text changes nothing. */
export interface Change {
  state: string;
  activity: string;
  tool: string;
  clearTool: boolean;
  clearActivity: boolean;
  kind: string;
  recent: string[] | null;
  /** Set whenever not empty: pi's and opencode's ids, the buffered part. */
  sessionFile: string;
  piSessionID: string;
  openCodeSessionID: string;
  /** A part whose author is not known yet, null: leave the buffer alone. */
  pending: { id: string; text: string } | null;
}

const NO_CHANGE: Change = {
  state: "",
  activity: "",
  tool: "",
  clearTool: false,
  clearActivity: false,
  kind: "",
  recent: null,
  sessionFile: "",
  piSessionID: "",
  openCodeSessionID: "",
  pending: null,
};

/** A hook, understood: what is logged, and what becomes of it once the pane is known. */
export interface Interpretation {
  /** As logged: for opencode the event's type. */
  action: string;
  change: Change;
  /** The free fields of the log line. */
  fields: Record<string, unknown>;
  /** The rules that depend on what the pane shows now; null: the event is not for this pane. */
  settle(pane: PaneState, change: Change): Change | null;
}

export function interpretation(
  action: string,
  change: Partial<Change>,
  more: Partial<Interpretation> = {},
): Interpretation {
  return { action, change: { ...NO_CHANGE, ...change }, fields: {}, settle: (_pane, settled) => settled, ...more };
}

/** The pane after a change; the same pane when nothing that a tracker shows became different, so that nothing is written. */
export function changedPane(pane: PaneState, change: Change, agent: string, now: bigint): PaneState {
  const state = change.state || pane.state;
  const next: PaneState = {
    ...pane,
    role: "primary",
    agent,
    state,
    activity: change.activity || (change.clearActivity ? "" : pane.activity),
    tool: change.tool || (change.clearTool ? "" : pane.tool),
    lastKind: change.kind || pane.lastKind,
    workingSince: workingSince(pane, state, now),
    recent: change.recent ?? pane.recent,
    sessionFile: change.sessionFile || pane.sessionFile,
    piSessionID: change.piSessionID || pane.piSessionID,
    openCodeSessionID: change.openCodeSessionID || pane.openCodeSessionID,
    pendingPartMsgID: change.pending === null ? pane.pendingPartMsgID : change.pending.id,
    pendingPartText: change.pending === null ? pane.pendingPartText : change.pending.text,
  };
  return sameToTrackers(pane, next) ? pane : { ...next, lastEvent: nanoTime(now), seq: now };
}

/** Set when the pane begins to work, kept during the turn, unset otherwise; an older file's turn counts from its last event. */
function workingSince(pane: PaneState, state: string, now: bigint): string {
  if (state !== "working") return UNSET_TIME;
  if (pane.state !== "working") return nanoTime(now);
  if (pane.workingSince !== null && unixNanos(pane.workingSince) !== null) return pane.workingSince;
  return unixNanos(pane.lastEvent) === null ? nanoTime(now) : pane.lastEvent;
}

function sameToTrackers(a: PaneState, b: PaneState): boolean {
  return (
    a.agent === b.agent &&
    a.state === b.state &&
    a.activity === b.activity &&
    a.tool === b.tool &&
    a.lastKind === b.lastKind &&
    (unixNanos(a.workingSince ?? "") ?? 0n) === (unixNanos(b.workingSince ?? "") ?? 0n) &&
    a.recent.length === b.recent.length &&
    a.recent.every((line, at) => line === b.recent[at]) &&
    a.sessionFile === b.sessionFile &&
    a.piSessionID === b.piSessionID &&
    a.openCodeSessionID === b.openCodeSessionID &&
    a.pendingPartMsgID === b.pendingPartMsgID &&
    a.pendingPartText === b.pendingPartText
  );
}
