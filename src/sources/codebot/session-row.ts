import { basename } from "node:path";
import { lastEdited } from "../../session/edited-files.ts";
import type { SessionKey } from "../../session/key.ts";
import {
  blankSnapshot,
  type Damage,
  type ResumeCommand,
  type Snapshot,
  type TaskCounts,
} from "../../session/snapshot.ts";
import { cleanLine, cleanText, cutCodePoints } from "../../session/untrusted.ts";
import { sumRequests } from "../../usage/request.ts";
import type { Root } from "../source.ts";
import type { Beside } from "./beside.ts";
import { contextLength, syntheticCount } from "./context-count.ts";
import { damageOf, type SessionState } from "./fold.ts";
import { instantOf, isoOf } from "./go-time.ts";
import { idOfFileName, projectId } from "./ids.ts";
import { effectiveGoal, SESSION_VERSION } from "./payloads.ts";
import { requestsOf } from "./requests.ts";
import { type Judged, judge } from "./status.ts";
import { blockersOf, nextClaimable, type Task } from "./task.ts";

const NAME = "codebot";

export interface RowFacts {
  key: SessionKey;
  root: Root;
  id: string;
  path: string;
  /** Name of the project directory. */
  project: string;
  /** With the last line taken in. */
  state: SessionState;
  beside: Beside;
  plan: { title: string; changedMs: number } | null;
  parent: SessionKey | null;
  /** Was this entry first written by another session? */
  isCopied(name: string): boolean;
  resume: ResumeCommand | null;
  process: { pid: number; pane: string | null } | null;
  /** ms since 1970. */
  now: number;
}

/** The row of one session (design §4, column codebot), and when it may change by the clock alone. */
export function rowOf(facts: RowFacts): { snapshot: Snapshot; until: number | null } {
  const { key, root, id, path, state, beside } = facts;
  const { until, ...status } = statusOf(facts);
  const requests = requestsOf(state);
  const own = requests.filter(({ name }) => !facts.isCopied(name));
  const usage = sumRequests(requests.map(({ request }, at) => ({ ...request, key: String(at) })));
  const goal = effectiveGoal(state.chain.goal);
  const tree = state.shape === "tree";
  const name = oneLine(state.name);
  const snapshot: Snapshot = {
    ...blankSnapshot({ key, source: NAME, id, root: root.path, path }),
    ...status,
    title: titleOf(state, id),
    name: name === "" ? null : name,
    agent: NAME,
    models: state.models.map(cleanLine),
    cwd: state.header?.cwd || null,
    project: state.header?.cwd || null,
    createdAt: isoOf(state.header?.created),
    updatedAt: isoOf(state.updated),
    messages: state.messages,
    usage,
    own:
      own.length === requests.length
        ? usage
        : sumRequests(own.map(({ request }, at) => ({ ...request, key: String(at) }))),
    parent: facts.parent === null ? null : { key: facts.parent, relation: "fork" },
    tasks: beside.tasks === null ? null : countTasks(beside.tasks.tasks),
    goal:
      goal.status === "off"
        ? null
        : {
            status: cleanLine(goal.status),
            objective: cleanLine(goal.objective),
            tokensUsed: goal.tokensUsed,
            tokenBudget: goal.tokenBudget > 0 ? goal.tokenBudget : null,
          },
    plan:
      state.chain.plan === null
        ? null
        : { phase: cleanLine(state.chain.plan.phase), slug: cleanLine(state.chain.planSlug) || null },
    team:
      beside.roster === null
        ? null
        : { name: cleanLine(beside.roster.team), members: beside.roster.members.map(({ name }) => cleanLine(name)) },
    resume: facts.resume,
    can: [
      ...(tree && state.chain.broken === null && state.header?.version === SESSION_VERSION
        ? (["fork", "revert"] as const)
        : []),
      ...(facts.resume === null ? [] : (["resume"] as const)),
      ...(beside.tasks === null ? [] : (["tasks"] as const)),
      ...(tree && state.leaves > 1 ? (["promote"] as const) : []),
    ],
    damage: [...damageOf(state), ...liesOf(facts)],
    livePane: facts.process?.pane ?? null,
    extra: extraOf(facts),
  };
  return { snapshot, until };
}

function statusOf({ state, process, now }: RowFacts): Judged {
  return judge({ state, process, now });
}

/** Name, else first message, else id (codebot.md §3). In one line, but otherwise as the tool wrote it. */
function titleOf(state: SessionState, id: string): string {
  if (state.name.trim() !== "") return oneLine(state.name);
  return cutCodePoints(oneLine(state.firstMessage).trim(), 80) || id;
}

/** Cleaned and in one line; spaces stay as they are, because codebot's own names may end in one. */
function oneLine(text: string): string {
  return cleanText(text).replace(/[\n\t]+/gu, " ");
}

/** Blocked is derived: some blocker is there and not completed (codebot.md §10). */
export function countTasks(tasks: readonly Task[]): TaskCounts {
  const status = new Map(tasks.map((task) => [task.id, task.status]));
  const count = (word: string) => tasks.filter((task) => task.status === word).length;
  return {
    total: tasks.length,
    pending: count("pending"),
    inProgress: count("in_progress"),
    completed: count("completed"),
    blocked: tasks.filter(
      (task) => task.status !== "completed" && blockersOf(task, (id) => status.get(id)).open.length > 0,
    ).length,
  };
}

/** A header that says something else than the place the file lies in. */
function liesOf({ state, path, project }: RowFacts): Damage[] {
  const lies: Damage[] = [];
  const line = state.entries[0]?.line ?? null;
  const id = idOfFileName(basename(path));
  if (id !== null && state.header !== null && state.header.sessionId !== id) {
    lies.push({ kind: "header_id", bytes: null, line });
  }
  if (state.header !== null && projectId(state.header.cwd) !== project) {
    lies.push({ kind: "header_cwd", bytes: null, line });
  }
  return lies;
}

/** What only codebot has, for its own views: and so that a change beside the file changes the row. */
function extraOf({ state, beside, plan, project }: RowFacts): Record<string, unknown> {
  const { chain, flat } = state;
  const isFlat = state.shape === "flat";
  return {
    version: state.header?.version ?? null,
    projectDirectory: project,
    leaf: isFlat ? null : chain.leaf,
    branches: isFlat ? 1 : Math.max(1, state.leaves),
    chainMessages: isFlat ? flat.history.length : chain.messages,
    contextMessages: isFlat ? flat.history.length : contextLength(chain.context),
    syntheticResults: isFlat ? 0 : syntheticCount(chain.context),
    compactions: isFlat ? flat.compactions : chain.compactions,
    rewinds: flat.rewinds,
    provider: isFlat ? flat.provider : chain.provider,
    model: isFlat ? flat.model : chain.model,
    reasoningEffort: isFlat ? flat.effort : chain.effort,
    planFile: plan,
    edits: lastEdited(state.edits, instantOf(state.updated)?.ms ?? null),
    taskBoard:
      beside.tasks?.tasks.map(({ id, status, owner, subject }) => [id, status, owner, subject].map(cleanLine)) ?? null,
    nextClaimable: beside.tasks === null ? null : (nextClaimable(beside.tasks.tasks)?.id ?? null),
    transcripts: beside.transcripts,
  };
}
