import { STATUSES, type Status, type StatusName } from "../../session/status.ts";
import { cleanLine, cleanText } from "../../session/untrusted.ts";
import { type PaneState, SCHEMA_VERSION, type SessionState, seenByTracker } from "./session-state.ts";
import { unixMillis } from "./time.ts";

/** A pane that works without a tool and has said nothing for this long is marked stale, never aged to unknown (questmaster.md §15.5). */
const STALE_AFTER_MS = 60_000;

export type Attention = "none" | "needs-input" | "error";

/** What is known of the session's process. */
export type Liveness = { live: "yes" | "no" | "unknown"; why: string };

/** What was found of state.json. */
export type StateFile =
  | { kind: "ok"; state: SessionState }
  | { kind: "missing" }
  | { kind: "damaged"; message: string };

/** Everything a session is judged by. Pure data. */
export interface Case {
  liveness: Liveness;
  /** tmux keeps the pane of an agent that has exited, and the session with it (questmaster.md §11). */
  agentExited?: boolean;
  stateFile: StateFile;
  /** ms since 1970. */
  now: number;
  /** The mark our own memory holds for this session, null when it was never looked at. */
  seenMark: string | null;
}

/** A row of the tracker (questmaster.md §8) with our status. */
export interface Verdict extends Status {
  /** The primary pane's state, `stopped` when its process is gone, `unknown` when nothing can be told. */
  state: string;
  /** What the tracker calls it. */
  word: string;
  attention: Attention;
  stale: boolean;
  /** How long the primary pane has been working, null when it is not. */
  workingForMs: number | null;
  /** When the verdict may change by the clock alone, ms since 1970; null: never. */
  recheckAt: number | null;
}

/** Judges a session by its primary pane alone (questmaster.md §8, §15). The same for screens, the command line and notices. */
export function judge(one: Case): Verdict {
  const { liveness, stateFile } = one;
  if (liveness.live === "no") return plain("stopped", [liveness.why]);
  if (stateFile.kind === "missing") return plain("unknown", ["no state.json: no hook has run", liveness.why]);
  if (stateFile.kind === "damaged") return plain("unknown", [`state.json: ${stateFile.message}`, liveness.why]);
  const { state } = stateFile;
  if (state.version !== SCHEMA_VERSION) {
    const why = state.version === 0 ? "state.json has no version" : `state.json has version ${state.version}, not 1`;
    return plain("unknown", [why, liveness.why]);
  }
  const pane = state.panes.get("primary");
  if (pane === undefined) return plain("unknown", ["state.json has no primary pane", liveness.why]);
  if (pane.state === "") return plain("unknown", ["the primary pane has no state", liveness.why]);
  if (one.agentExited && ["working", "blocked", "starting"].includes(pane.state)) {
    return plain("stopped", [`its agent exited while ${pane.state}; tmux keeps the dead pane`]);
  }
  const verdict = judgePane(pane, one, one.seenMark === seenMark(pane) || seenByTracker(state, pane));
  // That its agent said goodbye needs no process to be believed.
  if (liveness.live === "yes" || verdict.status === "stopped") return verdict;
  // The state is what it was; whether anybody is still there cannot be told.
  return {
    ...verdict,
    state: "unknown",
    word: "unknown",
    status: "unknown",
    certainty: "guess",
    attention: "none",
    stale: false,
    why: [liveness.why, ...verdict.why],
    workingForMs: null,
    recheckAt: null,
  };
}

function judgePane(pane: PaneState, one: Case, seen: boolean): Verdict {
  const lastEvent = unixMillis(pane.lastEvent);
  const activity = shownActivity(pane);
  const failed = pane.lastKind === "session.error" || activity.startsWith("Error: ");
  const blocked = pane.state === "blocked";
  const working = pane.state === "working";
  const since = working ? (unixMillis(pane.workingSince ?? "") ?? lastEvent) : null;
  const staleAt = working && pane.tool === "" && lastEvent !== null ? lastEvent + STALE_AFTER_MS : null;
  const stale = staleAt !== null && one.now > staleAt;
  const why = [hookEvidence(pane, lastEvent)];
  if (working && pane.tool !== "") why.push(`the tool ${cleanLine(pane.tool)} is running`);
  if (stale) why.push("working without a tool and silent for more than a minute");
  if (pane.state === "done") why.push(seen ? "the result has been looked at" : "nobody has looked at the result");
  why.push(one.liveness.why);
  const status = blocked && failed ? "failed" : statusOf(pane.state, seen);
  return {
    status,
    native: cleanLine(pane.state),
    certainty: stale || status === "unknown" ? "guess" : "recorded",
    why,
    activity: activity === "" ? null : activity,
    state: pane.state,
    word: wordOf(pane.state),
    attention: blocked ? (failed ? "error" : "needs-input") : "none",
    stale,
    workingForMs: since === null ? null : Math.max(0, one.now - since),
    recheckAt: staleAt !== null && !stale ? staleAt + 1 : null,
  };
}

const STATUS_OF: Record<string, StatusName> = {
  starting: "idle",
  working: "working",
  blocked: "needs-input",
  idle: "idle",
  stopped: "stopped",
};

function statusOf(state: string, seen: boolean): StatusName {
  if (state === "done") return seen ? "idle" : "done";
  return Object.hasOwn(STATUS_OF, state) ? (STATUS_OF[state] ?? "unknown") : "unknown";
}

const WORDS = new Set(["working", "blocked", "done", "idle", "stopped"]);

function wordOf(state: string): string {
  if (state === "starting") return "idle (started)";
  return WORDS.has(state) ? state : "unknown";
}

/** The glyph the tracker gives a state (questmaster.md §13): ours are the same. */
export function glyphOf(verdict: Pick<Verdict, "state">): string {
  const name = statusOf(verdict.state, false);
  return name === "working" ? "spinner" : STATUSES[name].glyph;
}

/** An activity on one line, not folded or trimmed: its writer cut it to its length, and it is shown as it stands. */
export function activityLine(text: string): string {
  return cleanText(text).replace(/[\n\t]/gu, " ");
}

function shownActivity(pane: PaneState): string {
  if (pane.state === "starting" && pane.activity === "starting…") return "started";
  return activityLine(pane.activity);
}

function hookEvidence(pane: PaneState, lastEvent: number | null): string {
  const kind = pane.lastKind === "" ? "the last hook" : `hook ${cleanLine(pane.lastKind)}`;
  return lastEvent === null ? `${kind}, without a time` : `${kind} at ${new Date(lastEvent).toISOString()}`;
}

function plain(word: "stopped" | "unknown", why: string[]): Verdict {
  return {
    status: word,
    native: word,
    certainty: word === "stopped" ? "recorded" : "guess",
    why,
    activity: null,
    state: word,
    word,
    attention: "none",
    stale: false,
    workingForMs: null,
    recheckAt: null,
  };
}

/** What our memory stores when the person has looked: the event they saw. A later event is unseen again. */
export function seenMark(pane: PaneState): string {
  return pane.seq.toString();
}
