import type { Status } from "../../session/status.ts";
import { cleanLine, titleLine } from "../../session/untrusted.ts";
import { type Caps, isCapped, type Spent, stillReached } from "./budget.ts";
import type { Daemon } from "./daemon.ts";
import { isBusy, type LiveSession } from "./events.ts";
import type { FeedState } from "./live.ts";
import type { Session } from "./session.ts";
import type { TranscriptSums } from "./transcript-fold.ts";

export interface StatusFacts {
  session: Session;
  /** A row that can be used at all has a name the program accepts. */
  usable: boolean;
  /** What is wrong with the row, in words. */
  damage: readonly string[];
  legacy: boolean;
  sums: TranscriptSums;
  own: Spent;
  cohort: Spent;
  /** Have entries been seen to fall out of its transcript, and out of its totals with them? */
  compacted: boolean;
  /** null: its socket is being asked. */
  daemon: Daemon | null;
  /** What events say of this very session, null before its first one. */
  live: LiveSession | null;
  /** null: nobody listens. */
  feed: FeedState | null;
  /** ms since 1970. */
  now: number;
}

export interface Judged extends Status {
  /** When it may change by the clock alone, ms since 1970. */
  until: number | null;
}

/** How long a question without an answer is taken for a turn that runs, ms: no event has told either way. */
const ASKED_LATELY_MS = 30 * 60_000;
/** How far clocks differ without anybody's fault, ms: what lies further ahead says nothing of what happened lately. */
const SKEW_MS = 60_000;

/** herrscher's own word: archived before paused before running, which says nothing about a process (herrscher.md §7). */
function nativeWord(session: Session): "archived" | "paused" | "running" {
  if (session.archived) return "archived";
  return session.pausedReason === "" ? "running" : "paused";
}

/** The status of one session, in the order of herrscher.md §7. Pure. */
export function judge(facts: StatusFacts): Judged {
  const found = judgeRow(facts);
  const notes = [...facts.damage, ...(facts.legacy ? ["legacy row: a channel, but no gateways stored"] : [])];
  return { ...found, why: [...found.why, ...notes].map(cleanLine) };
}

function judgeRow(facts: StatusFacts): Judged {
  const { daemon, live, session, sums } = facts;
  const said = titleLine(sums.lastText) || null;
  const base = { native: nativeWord(session), activity: said, until: null, certainty: "recorded" as const };
  if (!facts.usable) return { ...base, native: null, activity: null, status: "unknown", certainty: "guess", why: [] };
  if (session.archived) return { ...base, status: "archived", why: ["state.json says archived"] };
  if (session.pausedReason !== "") {
    const words = pausedWords(facts);
    return { ...base, status: "paused", activity: words[0] ?? null, why: words };
  }
  if (daemon === null) {
    return { ...base, status: "unknown", certainty: "guess", why: ["the daemon's socket is being asked"] };
  }
  if (daemon.state === "unknown") return { ...base, status: "unknown", certainty: "guess", why: [...daemon.why] };
  if (daemon.state === "down")
    return { ...base, status: "stopped", why: ["no daemon runs on this root", ...daemon.why] };
  if (live !== null) {
    if (isBusy(live)) {
      const activity = titleLine(live.says) || titleLine(sums.task ?? "") || null;
      return { ...base, status: "working", activity, why: [`a turn runs since ${clock(live.since)} (events socket)`] };
    }
    return { ...base, status: "idle", why: [`no turn runs since ${clock(live.since)} (events socket)`] };
  }
  return beforeFirstEvent(facts, base);
}

/** Nothing but the transcript tells: a question without an answer is in flight, or was abandoned. */
function beforeFirstEvent(
  facts: StatusFacts,
  base: Pick<Judged, "native" | "activity" | "until" | "certainty">,
): Judged {
  const { daemon, feed, now, sums } = facts;
  const silence = feed === null ? [] : [feed.connected ? "no event of it since we listen" : feed.why];
  const up = [...silence, ...(daemon?.why ?? [])];
  if (sums.lastRole !== "user") {
    const last = sums.entries === 0 ? "nothing was said yet" : "the last entry is a reply";
    return { ...base, status: "idle", certainty: "guess", why: [last, ...up] };
  }
  const asked = Date.parse(sums.lastAt);
  const ahead = asked > now + SKEW_MS;
  const until = asked + ASKED_LATELY_MS;
  const activity = titleLine(sums.task ?? "") || null;
  if (Number.isNaN(asked) || ahead || now >= until) {
    const age = ahead
      ? "of a time to come: when it was asked is not known"
      : "older than 30 min: abandoned, or very long";
    const why = [`the last entry is a question ${age}`, ...up];
    return { ...base, activity, status: "idle", certainty: "guess", why };
  }
  const why = [`the last entry is a question, of ${clock(asked)}`, ...up];
  return { ...base, activity, status: "working", certainty: "guess", why, until };
}

function pausedWords({ cohort, compacted, own, session }: StatusFacts): string[] {
  const reason = session.pausedReason;
  const words: Record<string, string> = {
    cost: `cost cap: ${dollars(own.cost)} of ${dollars(session.costCap)}`,
    tokens: `token cap: ${own.tokens} of ${session.tokenCap}`,
    cohort_cost: `cohort cost cap: ${dollars(cohort.cost)} of ${dollars(session.cohortCostCap)}`,
    cohort_tokens: `cohort token cap: ${cohort.tokens} of ${session.cohortTokenCap}`,
  };
  const known = Object.hasOwn(words, reason) ? words[reason] : undefined;
  const paused = known === undefined ? `paused (other): ${reason}` : `paused (${reason}), ${known}`;
  const caps: Caps = session;
  if (stillReached(reason, caps, own, cohort) !== false) return [paused];
  const cause = compacted ? " (the transcript was compacted)" : "";
  const now = isCapped(reason, caps) ? `the cap is no longer reached${cause}` : "no such cap is set any more";
  return [paused, `${now}: the daemon may let turns run`];
}

function dollars(cost: number): string {
  return `$${cost.toFixed(cost !== 0 && Math.abs(cost) < 0.01 ? 4 : 2)}`;
}

/** A fixed time, so that nothing on the screen changes while nothing happens. */
function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
