import { isoTime } from "../../files/go-json.ts";
import type { SessionKey } from "../../session/key.ts";
import { type ActionName, blankSnapshot, type Damage, type Snapshot, type Usage } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import { NO_TOKENS } from "../../usage/request.ts";
import type { Root } from "../source.ts";
import { isBusy } from "./events.ts";
import type { ResumePlan } from "./resume.ts";
import { type RowFacts, shownDirectory } from "./row.ts";
import { isLegacy } from "./session.ts";
import { judge } from "./status.ts";

export interface SnapshotPlace {
  root: Root;
  key: SessionKey;
  id: string;
  /** The transcript's path; the state file's for a row without one. */
  path: string;
  parent: SessionKey | null;
  resume: ResumePlan;
  can: ActionName[];
  /** The tmux pane the daemon runs in, null when there is none. */
  pane: string | null;
  /** ms since 1970. */
  now: number;
}

/** The row of one session (design §4, column herrscher), and when it may change by the clock alone. */
export function snapshotOf(facts: RowFacts, place: SnapshotPlace): { snapshot: Snapshot; until: number | null } {
  const { live, row, session, sums } = facts;
  const own = { cost: sums.cost, tokens: sums.tokensIn + sums.tokensOut };
  const { until, ...status } = judge({
    session,
    usable: row.nameValid,
    damage: row.damage.map((one) => one.text),
    legacy: isLegacy(session),
    sums,
    own,
    cohort: facts.cohortSpent,
    compacted: facts.files.fellAway !== null,
    daemon: facts.daemon,
    live,
    feed: facts.feed,
    now: place.now,
  });
  const { effort, model, vendor } = facts.invocation;
  const usage = usageOf(facts);
  const snapshot: Snapshot = {
    ...blankSnapshot({ key: place.key, source: "herrscher", id: place.id, root: place.root.path, path: place.path }),
    ...status,
    title: cleanLine(session.name) || `row ${row.n} of state.json`,
    name: session.name === "" ? null : session.name,
    agent: session.agent === "" ? null : cleanLine(session.agent),
    models: model === null ? [] : [cleanLine(model)],
    cwd: shownDirectory(session) || null,
    project: session.project === "" ? null : cleanLine(session.project),
    createdAt: timeOf(sums.startedAt),
    updatedAt: timeOf(sums.lastAt),
    messages: sums.entries,
    usage,
    // Two rows of one name share one transcript: it is counted with the row that the program finds.
    own: row.duplicate && usage !== null ? NOTHING_OWN : usage,
    parent: place.parent === null ? null : { key: place.parent, relation: "delegate" },
    panes: panesOf(facts),
    team: facts.cohort.length > 1 ? { name: facts.cohortRoot, members: facts.cohort } : null,
    budget: budgetOf(facts),
    resume: place.resume.ok ? place.resume.command : null,
    can: place.can,
    damage: damageOf(facts),
    links: vendor !== null && session.resumeToken !== "" ? [{ source: vendor, id: session.resumeToken }] : [],
    livePane: session.archived ? null : place.pane,
    extra: {
      incarnation: session.incarnation || null,
      vendor,
      effort,
      backend: session.backend || "stream",
      resumable: session.resumeToken !== "",
      legacy: isLegacy(session),
      gateways: session.gateways,
      participants: facts.files.participants,
      parentName: session.parent || null,
      parentExists: facts.parentExists,
      cohortRoot: facts.cohortRoot,
      depth: facts.depth,
      children: facts.children,
      cohort: { ...facts.cohortSpent, silentTurns: facts.cohortSilent },
      /** Tokens as budgets count them: in + out. */
      tokens: own.tokens,
      busy: live === null ? null : isBusy(live),
      task: sums.task,
      fellAway: facts.files.fellAway,
    },
  };
  return { snapshot, until };
}

const NOTHING_OWN: Usage = {
  requests: 0,
  ...NO_TOKENS,
  cost: null,
  costBasis: null,
};

/** RFC 3339 as the program writes it; what else JavaScript takes for a time is taken too (herrscher.md §3: leniently). */
export function timeOf(ts: string): string | null {
  const strict = isoTime(ts);
  if (strict !== null || ts === "") return strict;
  const lenient = Date.parse(ts);
  return Number.isNaN(lenient) ? null : new Date(lenient).toISOString();
}

/** Sums over the replies; null where no reply reported anything, as with codex and cursor (herrscher.md §3). */
function usageOf({ sums }: RowFacts): Usage | null {
  if (sums.reportedTurns === 0) return null;
  return {
    requests: sums.turns,
    input: sums.tokensIn,
    output: sums.tokensOut,
    cacheRead: sums.cacheRead,
    cacheWrite: sums.cacheCreate,
    cacheWrite1h: 0,
    reasoning: 0,
    cost: sums.pricedTurns === 0 ? null : sums.cost,
    costBasis: sums.pricedTurns === 0 ? null : sums.pricedTurns === sums.turns ? "recorded" : "partial",
  };
}

function budgetOf({ session }: RowFacts): Snapshot["budget"] {
  const cap = (value: number | bigint): number | null => (Number(value) === 0 ? null : Number(value));
  const budget = {
    costCap: cap(session.costCap),
    tokenCap: cap(session.tokenCap),
    cohortCostCap: cap(session.cohortCostCap),
    cohortTokenCap: cap(session.cohortTokenCap),
    pausedReason: session.pausedReason === "" ? null : cleanLine(session.pausedReason),
  };
  return Object.values(budget).every((value) => value === null) ? null : budget;
}

/** The daemon is a live tracker: what its events say of this session's agent. */
function panesOf({ invocation, live, session }: RowFacts): Snapshot["panes"] {
  if (live === null || session.archived) return [];
  return [
    {
      role: session.agent === "" ? "main" : cleanLine(session.agent),
      agent: invocation.vendor === null ? "" : cleanLine(invocation.vendor),
      state: isBusy(live) ? "busy" : "idle",
      activity: cleanLine(live.says).slice(0, 200) || null,
      tool: null,
      lastEvent: new Date(live.lastAt).toISOString(),
    },
  ];
}

function damageOf({ files, row, sums }: RowFacts): Damage[] {
  const damage: Damage[] = row.damage.map(({ kind }) => ({ kind, bytes: null, line: row.n }));
  const { transcript } = files;
  if (transcript === null) return damage;
  for (const { bytes, line } of transcript.dropped) damage.push({ kind: "dropped-line", bytes, line });
  const more = sums.droppedLines - transcript.dropped.length;
  if (more > 0) damage.push({ kind: `${more} more dropped lines`, bytes: null, line: null });
  if (transcript.torn !== null) damage.push({ kind: "torn-tail", ...transcript.torn });
  return damage;
}
