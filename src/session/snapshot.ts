import type { SessionKey } from "./key.ts";
import type { Status } from "./status.ts";

/**
 * Tokens, meaning one thing everywhere (design §4): `input` excludes cache reads and writes,
 * prompt = input + cacheRead + cacheWrite, `output` includes `reasoning`, `cacheWrite` includes `cacheWrite1h`.
 */
export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h: number;
  /** Informational: a part of `output`, never added to it. */
  reasoning: number;
}

/** `recorded` by the tool, `estimated` from a price table, `partial`: some requests have no price, so show `≥`. */
export type CostBasis = "recorded" | "estimated" | "partial";

export interface Usage extends Tokens {
  /** Model requests. */
  requests: number;
  /** US dollars, null when nothing is known. */
  cost: number | null;
  costBasis: CostBasis | null;
}

export interface ContextUse {
  /** Tokens the last request put in front of the model. */
  used: number;
  limit: number | null;
}

type Relation = "fork" | "worker" | "delegate" | "subagent";

/** One agent of a session, as a live tracker reports it. */
export interface Pane {
  role: string;
  agent: string;
  state: string;
  activity: string | null;
  tool: string | null;
  /** ISO 8601, UTC, milliseconds. */
  lastEvent: string | null;
}

export interface TaskCounts {
  total: number;
  pending: number;
  inProgress: number;
  completed: number;
  blocked: number;
}

export interface Damage {
  kind: string;
  bytes: number | null;
  /** 1-based line or record, where the format has one. */
  line: number | null;
}

export interface ResumeCommand {
  argv: string[];
  cwd: string | null;
}

/** What actions a session can have; each source says which it supports. */
export type ActionName =
  | "fork"
  | "revert"
  | "resume"
  | "attach"
  | "archive"
  | "send"
  | "interrupt"
  | "close"
  | "budget"
  | "switch"
  | "spawn"
  | "promote"
  | "delete"
  | "broadcast"
  | "tasks";

/** The immutable value of a session at one moment: what lists show and `list --json` prints (design §4). */
export interface Snapshot extends Status {
  key: SessionKey;
  source: string;
  id: string;
  /** Absolute path of the root it was found in. */
  root: string;
  /** Absolute path of the session's main file. */
  path: string;
  title: string;
  name: string | null;
  agent: string | null;
  models: string[];
  cwd: string | null;
  project: string | null;
  createdAt: string | null;
  updatedAt: string | null;
  /** The source's own count. */
  messages: number;
  /** null: the tool records none, which is shown as –, never as 0. */
  usage: Usage | null;
  /** `usage` without what another session owns (copied prefixes). The only one that may be summed. */
  own: Usage | null;
  context: ContextUse | null;
  parent: { key: SessionKey; relation: Relation } | null;
  panes: Pane[];
  tasks: TaskCounts | null;
  goal: { status: string; objective: string; tokensUsed: number; tokenBudget: number | null } | null;
  plan: { phase: string; slug: string | null } | null;
  team: { name: string; members: string[] } | null;
  budget: {
    costCap: number | null;
    tokenCap: number | null;
    cohortCostCap: number | null;
    cohortTokenCap: number | null;
    pausedReason: string | null;
  } | null;
  resume: ResumeCommand | null;
  can: ActionName[];
  damage: Damage[];
  /** Sub-agents and the tool's internal sessions: counted in their parents, listed only with `--all`. */
  hidden: boolean;
  /** Other names of the same thing in other sources, by which rows are joined (`claude` + its session id …). */
  links: SessionLink[];
  /** The tmux pane (`%12`) it is known to run in, null when none was found. */
  livePane: string | null;
  /** What only this source has, for its own views and rows: plain JSON. */
  extra: Record<string, unknown>;
}

/** Points at a session of another source by that source's own id. */
export interface SessionLink {
  source: string;
  id: string;
}

/** A snapshot with nothing known, for a source to fill. */
export function blankSnapshot(base: Pick<Snapshot, "key" | "source" | "id" | "root" | "path">): Snapshot {
  return {
    ...base,
    title: base.id,
    name: null,
    agent: null,
    models: [],
    cwd: null,
    project: null,
    status: "unknown",
    native: null,
    certainty: "guess",
    why: [],
    activity: null,
    createdAt: null,
    updatedAt: null,
    messages: 0,
    usage: null,
    own: null,
    context: null,
    parent: null,
    panes: [],
    tasks: null,
    goal: null,
    plan: null,
    team: null,
    budget: null,
    resume: null,
    can: [],
    damage: [],
    hidden: false,
    links: [],
    livePane: null,
    extra: {},
  };
}

/** The public shape of design §4: without what only forktail itself needs. */
export function publicSnapshot(snapshot: Snapshot): Omit<Snapshot, "links" | "hidden" | "livePane" | "extra"> {
  const { links: _links, hidden: _hidden, livePane: _pane, extra: _extra, ...shown } = snapshot;
  return shown;
}

/** Newest `updatedAt` first; without a time last; ties by key, so that no order depends on the scan. */
export function byNewest(a: Snapshot, b: Snapshot): number {
  if (a.updatedAt !== b.updatedAt) {
    if (a.updatedAt === null) return 1;
    if (b.updatedAt === null) return -1;
    return a.updatedAt < b.updatedAt ? 1 : -1;
  }
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
