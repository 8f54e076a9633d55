import { compactJson, type RawJson, rawObject } from "../../files/raw-json.ts";
import { UNSET_TIME, unixNanos } from "./time.ts";
import { Fields } from "./typed.ts";

/** The version in every release so far; a state of another one is shown as `unknown` and never written by trackers. */
export const SCHEMA_VERSION = 1;

/** What one agent of a session is doing (questmaster.md §6). Untrusted strings. */
export interface PaneState {
  role: string;
  /** Who wrote the last event; can differ from the manifest's agent. */
  agent: string;
  /** `starting` `working` `blocked` `done` `idle` `stopped`, or whatever the file says. */
  state: string;
  activity: string;
  /** Set while a tool call runs, else empty. */
  tool: string;
  /** Unix nanoseconds of the event: above 2^53, hence a bigint. */
  seq: bigint;
  /** RFC 3339 text with up to nine fractional digits; empty when the file has none. See `unixNanos`. */
  lastEvent: string;
  lastKind: string;
  /** Written from v0.2.8 on; null where the file has no such key, year 1 when it is not working. */
  workingSince: string | null;
  /** Last output lines (pi, opencode). */
  recent: string[];
  sessionFile: string;
  piSessionID: string;
  openCodeSessionID: string;
  /** A message part whose author is not known yet: it may be the person's own prompt, so it is never shown. */
  pendingPartMsgID: string;
  pendingPartText: string;
  /** Keys that are not in this interface, kept as they are. */
  extra: Map<string, RawJson>;
}

/** `<id>/state.json`: the panes of one session (questmaster.md §6). */
export interface SessionState {
  sessionID: string;
  version: number;
  panes: Map<string, PaneState>;
  /** When a tracker looked last. Every hook sets it to its own time, so later than `lastEvent` means seen. */
  seenAt: string;
  extra: Map<string, RawJson>;
}

export function newSessionState(id: string): SessionState {
  return { sessionID: id, version: SCHEMA_VERSION, panes: new Map(), seenAt: "", extra: new Map() };
}

export function newPaneState(role: string, agent: string): PaneState {
  return {
    role,
    agent,
    state: "",
    activity: "",
    tool: "",
    seq: 0n,
    lastEvent: "",
    lastKind: "",
    workingSince: null,
    recent: [],
    sessionFile: "",
    piSessionID: "",
    openCodeSessionID: "",
    pendingPartMsgID: "",
    pendingPartText: "",
    extra: new Map(),
  };
}

/** Reads the text of a state.json. Throws `BadJson` when it is torn or of other types: it is then never repaired. */
export function parseSessionState(text: string): SessionState {
  const fields = new Fields(text);
  const state: SessionState = {
    sessionID: fields.string("session_id"),
    version: Number(fields.integer("version")),
    panes: new Map(),
    seenAt: fields.time("seen_at"),
    extra: new Map(),
  };
  for (const [role, raw] of fields.object("panes")) state.panes.set(role, parsePane(raw));
  state.extra = fields.rest();
  return state;
}

function parsePane(raw: RawJson): PaneState {
  const fields = new Fields(raw === "null" ? "{}" : raw);
  const since = fields.time("working_since");
  return {
    role: fields.string("role"),
    agent: fields.string("agent"),
    state: fields.string("state"),
    activity: fields.string("activity"),
    tool: fields.string("tool"),
    seq: fields.integer("seq"),
    lastEvent: fields.time("last_event"),
    lastKind: fields.string("last_kind"),
    workingSince: since === "" ? null : since,
    recent: fields.strings("recent"),
    sessionFile: fields.string("session_file"),
    piSessionID: fields.string("pi_session_id"),
    openCodeSessionID: fields.string("opencode_session_id"),
    pendingPartMsgID: fields.string("pending_part_msg_id"),
    pendingPartText: fields.string("pending_part_text"),
    extra: fields.rest(),
  };
}

/** The text of a state.json: one line, roles sorted, `seq` exact, unknown keys last. */
export function sessionStateText(state: SessionState): string {
  const roles = [...state.panes].sort(([a], [b]) => (a < b ? -1 : 1));
  const members: [string, RawJson][] = [
    ["session_id", JSON.stringify(state.sessionID)],
    ["version", String(state.version)],
    ["panes", rawObject(roles.map(([role, pane]) => [role, paneText(pane)] as const))],
    ["seen_at", JSON.stringify(state.seenAt || UNSET_TIME)],
    ...state.extra,
  ];
  return `${compactJson(rawObject(members))}\n`;
}

function paneText(pane: PaneState): RawJson {
  const members: [string, RawJson][] = [
    ["role", JSON.stringify(pane.role)],
    ["agent", JSON.stringify(pane.agent)],
    ["state", JSON.stringify(pane.state)],
    ["activity", JSON.stringify(pane.activity)],
  ];
  const unlessEmpty = (key: string, value: string): void => {
    if (value !== "") members.push([key, JSON.stringify(value)]);
  };
  unlessEmpty("tool", pane.tool);
  members.push(
    ["seq", pane.seq.toString()],
    ["last_event", JSON.stringify(pane.lastEvent || UNSET_TIME)],
    ["last_kind", JSON.stringify(pane.lastKind)],
  );
  if (pane.workingSince !== null) members.push(["working_since", JSON.stringify(pane.workingSince)]);
  if (pane.recent.length > 0) members.push(["recent", JSON.stringify(pane.recent)]);
  unlessEmpty("session_file", pane.sessionFile);
  unlessEmpty("pi_session_id", pane.piSessionID);
  unlessEmpty("opencode_session_id", pane.openCodeSessionID);
  unlessEmpty("pending_part_msg_id", pane.pendingPartMsgID);
  unlessEmpty("pending_part_text", pane.pendingPartText);
  members.push(...pane.extra);
  return rawObject(members);
}

/** Has a tracker looked at the session since its last event? Compared as numbers to the nanosecond (questmaster.md §6). */
export function seenByTracker(state: SessionState, pane: PaneState): boolean {
  const seen = unixNanos(state.seenAt);
  const last = unixNanos(pane.lastEvent);
  return seen !== null && last !== null && seen > last;
}
