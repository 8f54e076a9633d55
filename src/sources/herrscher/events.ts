import { isValidName } from "./names.ts";

/** One line of the events socket (herrscher.md §6). Texts are untrusted. */
export interface DaemonEvent {
  session: string;
  /** `human`, `thinking`, `chunk`, `status`, `reply`, `reset`, `abandoned`, `paused`, or one nobody knows. */
  t: string;
  who: string;
  text: string;
  done: boolean;
  /** US dollars of the turn, null when not told. */
  cost: number | null;
  /** Output tokens so far, null when not told. */
  tokens: number | null;
  incarnation: string;
  turnID: string;
  /** A delegation's step: `delegated`, `delegate_failed`, `reported`, `report_failed`. */
  coordination: { kind: string; target: string; agent: string; summary: string } | null;
}

/** null for what is not an event of a session. */
export function parseEvent(line: string): DaemonEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const fields = record(value);
  const session = fields.session;
  const t = fields.t;
  if (typeof session !== "string" || !isValidName(session) || typeof t !== "string") return null;
  const steps = fields.coordination === undefined ? null : record(fields.coordination);
  return {
    session,
    t,
    who: string(fields.who),
    text: string(fields.text),
    done: fields.done === true,
    cost: number(fields.cost),
    tokens: number(fields.tokens),
    incarnation: string(fields.session_incarnation),
    turnID: string(fields.turn_id),
    coordination:
      steps === null
        ? null
        : {
            kind: string(steps.kind),
            target: string(steps.target_session),
            agent: string(steps.agent),
            summary: string(steps.summary),
          },
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** An event as the events view shows it. */
interface SeenEvent {
  /** ms since 1970, when it arrived. */
  at: number;
  t: string;
  text: string;
}

/** What the events since we connected say of one session. */
export interface LiveSession {
  /** "" until an event tells. */
  incarnation: string;
  /** Turns that run now; seeds run beside the session's own turn. */
  open: Map<string, { seed: boolean }>;
  /** Turns that are over: what comes late of them changes nothing. */
  ended: string[];
  /** What the running turn said last: a tool's line or the reply so far. Untrusted. */
  says: string;
  /** Output tokens of the running turn, null before it told. */
  tokens: number | null;
  /** ms since 1970: when busy or idle last changed, and when anything last came. */
  since: number;
  lastAt: number;
  /** Newest last. */
  recent: SeenEvent[];
}

export type LiveSessions = Map<string, LiveSession>;

const MOST_OPEN = 64;
const MOST_ENDED = 64;
const MOST_RECENT = 200;
const MOST_TEXT = 2000;

export function isBusy(live: LiveSession): boolean {
  return live.open.size > 0;
}

/** Takes one event in. `at`: when it arrived, ms since 1970. */
export function takeEvent(sessions: LiveSessions, event: DaemonEvent, at: number): LiveSession {
  const held = sessions.get(event.session);
  const other = held !== undefined && event.incarnation !== "" && held.incarnation !== "";
  // The same name with another incarnation is another session: what was known of the old one is void.
  const live = held === undefined || (other && held.incarnation !== event.incarnation) ? noEvents(at) : held;
  sessions.set(event.session, live);
  if (event.incarnation !== "") live.incarnation = event.incarnation;
  const before = isBusy(live);
  advance(live, event);
  if (isBusy(live) !== before) live.since = at;
  live.lastAt = at;
  live.recent.push({ at, t: event.coordination?.kind || event.t, text: textOf(event).slice(0, MOST_TEXT) });
  if (live.recent.length > MOST_RECENT) live.recent.shift();
  return live;
}

function noEvents(at: number): LiveSession {
  return { incarnation: "", open: new Map(), ended: [], says: "", tokens: null, since: at, lastAt: at, recent: [] };
}

function textOf(event: DaemonEvent): string {
  if (event.coordination === null) return event.text;
  const { agent, target, summary } = event.coordination;
  return [agent, target, summary].filter((part) => part !== "").join(" · ") || event.text;
}

/** The table of herrscher.md §6. */
function advance(live: LiveSession, event: DaemonEvent): void {
  switch (event.t) {
    case "human":
      begin(live, event.turnID, event.who === "seed");
      live.says = "";
      live.tokens = null;
      break;
    case "thinking":
    case "chunk":
    case "status":
      if (event.turnID === "" || live.ended.includes(event.turnID)) break; // A notice of the host, or too late.
      if (!live.open.has(event.turnID)) begin(live, event.turnID, false);
      if (event.t !== "thinking" || live.says === "") live.says = event.text.slice(0, MOST_TEXT);
      live.tokens = event.tokens ?? live.tokens;
      break;
    case "reply":
      if (event.done) end(live, event.turnID);
      else live.says = event.text.slice(0, MOST_TEXT);
      break;
    case "abandoned":
      end(live, event.turnID);
      break;
    case "reset":
      live.says = "";
      break;
  }
}

function begin(live: LiveSession, turnID: string, seed: boolean): void {
  if (!seed) {
    // A session's own turns come one after another: an older one that is still open has ended unseen.
    for (const [id, turn] of live.open) if (!turn.seed) live.open.delete(id);
  }
  if (live.open.size < MOST_OPEN) live.open.set(turnID, { seed });
}

function end(live: LiveSession, turnID: string): void {
  if (turnID === "") live.open.clear();
  else live.open.delete(turnID);
  live.ended.push(turnID);
  if (live.ended.length > MOST_ENDED) live.ended.shift();
  live.says = "";
  live.tokens = null;
}
