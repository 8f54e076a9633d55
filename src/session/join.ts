import type { SessionKey } from "./key.ts";
import type { Snapshot } from "./snapshot.ts";
import type { StatusName } from "./status.ts";

/** Sessions with those that are the same thing made one. */
export interface Joined {
  sessions: ReadonlyMap<SessionKey, Snapshot>;
  /** Keys that went into another row, and which. */
  into: ReadonlyMap<SessionKey, SessionKey>;
}

/**
 * One row with several evidences, not three rows: a tracker's session (questmaster's pane, herrscher's row) that points at a
 * conversation which its agent keeps itself goes into that conversation. A pointer whose conversation is not read here joins
 * nothing. Unchanged sessions keep their objects.
 */
export function joinSessions(sessions: ReadonlyMap<SessionKey, Snapshot>): Joined {
  const known = joins.get(sessions);
  if (known) return known;
  const joined = join(sessions);
  joins.set(sessions, joined);
  return joined;
}

const joins = new WeakMap<ReadonlyMap<SessionKey, Snapshot>, Joined>();

function join(sessions: ReadonlyMap<SessionKey, Snapshot>): Joined {
  const trackers = [...sessions.values()].filter((one) => one.links.length > 0);
  if (trackers.length === 0) return { sessions, into: new Map() };
  const conversations = new Map<string, Snapshot>();
  for (const one of sessions.values()) if (one.links.length === 0) conversations.set(`${one.source}:${one.id}`, one);
  const into = new Map<SessionKey, SessionKey>();
  const parts = new Map<Snapshot, Snapshot[]>();
  for (const tracker of trackers) {
    const conversation = tracker.links
      .map((link) => conversations.get(`${link.source}:${link.id}`))
      .find((found) => found !== undefined);
    if (!conversation) continue;
    into.set(tracker.key, conversation.key);
    const others = parts.get(conversation);
    if (others) others.push(tracker);
    else parts.set(conversation, [tracker]);
  }
  if (into.size === 0) return { sessions, into };
  const result = new Map<SessionKey, Snapshot>();
  for (const [key, one] of sessions) {
    if (into.has(key)) continue;
    const trackedBy = parts.get(one);
    result.set(key, trackedBy ? merged(one, trackedBy) : one);
  }
  return { sessions: result, into };
}

/** The last merge of a conversation, so that a row whose parts did not change is the same object. */
const merges = new WeakMap<Snapshot, { trackers: Snapshot[]; result: Snapshot }>();

function merged(conversation: Snapshot, trackers: Snapshot[]): Snapshot {
  const last = merges.get(conversation);
  if (last && last.trackers.length === trackers.length && last.trackers.every((one, at) => one === trackers[at])) {
    return last.result;
  }
  const result = trackers.reduce(merge, conversation);
  merges.set(conversation, { trackers, result });
  return result;
}

/** Statuses that say something of this moment. */
const LIVE: ReadonlySet<StatusName> = new Set(["needs-input", "failed", "working", "done", "idle"]);
/** A hook's event and the transcript's line of one moment are written this far apart at most, ms. */
const TOGETHER_MS = 3000;

function merge(conversation: Snapshot, tracker: Snapshot): Snapshot {
  const status = freshest(conversation, tracker);
  const other = status === tracker ? conversation : tracker;
  return {
    ...conversation,
    status: status.status,
    native: status.native,
    certainty: status.certainty,
    activity: status.activity ?? other.activity,
    why: [
      ...status.why.map((reason) => `${status.source}: ${reason}`),
      ...other.why.map((reason) => `${other.source} (${other.status}): ${reason}`),
    ],
    name: conversation.name ?? tracker.name,
    panes: [...conversation.panes, ...tracker.panes],
    parent: conversation.parent ?? tracker.parent,
    budget: conversation.budget ?? tracker.budget,
    livePane: conversation.livePane ?? tracker.livePane,
    extra: { ...tracker.extra, ...conversation.extra, joined: [...joinedKeys(conversation), tracker.key] },
  };
}

/** The tracker rows that went into this one. */
export function joinedKeys(snapshot: Snapshot): SessionKey[] {
  const keys = snapshot.extra.joined;
  return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [];
}

/** The agent's own word that it works or waits is best; else whichever heard last, if it says anything of this moment. */
function freshest(conversation: Snapshot, tracker: Snapshot): Snapshot {
  const own = conversation.status;
  if (conversation.certainty === "recorded" && (own === "working" || own === "needs-input")) return conversation;
  if (!LIVE.has(tracker.status)) return conversation;
  const heard = Math.max(0, ...tracker.panes.map((pane) => (pane.lastEvent === null ? 0 : Date.parse(pane.lastEvent))));
  const written = conversation.updatedAt === null ? 0 : Date.parse(conversation.updatedAt);
  return heard + TOGETHER_MS >= written ? tracker : conversation;
}
