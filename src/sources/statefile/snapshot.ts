import type { Folded } from "../../files/fold.ts";
import type { SessionKey } from "../../session/key.ts";
import { blankSnapshot, type Damage, type Snapshot, type Usage } from "../../session/snapshot.ts";
import { cleanLine, titleLine } from "../../session/untrusted.ts";
import { type ModelRequest, NO_TOKENS, sumRequests } from "../../usage/request.ts";
import type { Root } from "../source.ts";
import { hasCuts } from "./cuts.ts";
import { anomaliesOf, type StateOfFile, type StepState } from "./fold.ts";
import { stepKey } from "./lineage.ts";
import { planResume } from "./resume.ts";
import { judge } from "./status.ts";

export interface SnapshotFacts {
  key: SessionKey;
  root: Root;
  id: string;
  path: string;
  folded: Folded<StateOfFile>;
  parent: SessionKey | null;
  own: StepState[];
  /** ms since 1970. */
  now: number;
}

/** The row of one session (design §4, column statefile), and when it may change by the clock alone. */
export function snapshotOf(facts: SnapshotFacts): { snapshot: Snapshot; until: number | null } {
  const { folded, id, key } = facts;
  const { state } = folded;
  const { until, ...status } = judge(state, folded.mtimeMs, facts.now, state.activity);
  const prompt = state.steps.at(-1)?.usage;
  const resume = planResume(state, facts.path, id);
  const snapshot: Snapshot = {
    ...blankSnapshot({ key, source: "statefile", id, root: facts.root.path, path: facts.path }),
    ...status,
    title: (state.firstMessage === null ? "" : titleLine(state.firstMessage)) || id,
    agent: "mainplane",
    models: state.models.map(cleanLine),
    createdAt: state.created,
    updatedAt: state.updated,
    messages: state.kinds.message ?? 0,
    usage: usageOf(state.steps),
    own: usageOf(facts.own),
    context: {
      used: prompt ? prompt.input + prompt.cacheRead + prompt.cacheWrite : 0,
      limit: state.conf?.context ?? null,
    },
    parent: facts.parent === null ? null : { key: facts.parent, relation: "fork" },
    resume: resume.ok ? resume.command : null,
    can: [
      ...(hasCuts(state, facts.path) ? (["fork", "revert"] as const) : []),
      ...(resume.ok ? (["resume"] as const) : []),
    ],
    damage: damageOf(state),
  };
  return { snapshot, until };
}

function damageOf(state: StateOfFile): Damage[] {
  const damage: Damage[] = anomaliesOf(state).map(({ n, text }) => ({ kind: cleanLine(text), bytes: null, line: n }));
  if (state.tail !== "clean") damage.push({ kind: state.tail, bytes: state.tailBytes, line: state.records + 1 });
  return damage;
}

/** The steps as model requests; a step without usage was still a request, of unknown size. */
export function requestsOf(steps: readonly StepState[]): ModelRequest[] {
  return steps.map((step) => ({
    ...NO_TOKENS,
    ...(step.usage ?? {}),
    key: stepKey(step),
    time: step.time,
    provider: step.provider || null,
    model: step.model || null,
    cost: null,
    by: null,
  }));
}

/** Sums over all step records, copies of one step in the same file included, as the tool does (statefile.md §10). */
function usageOf(steps: readonly StepState[]): Usage {
  return sumRequests(requestsOf(steps).map((request, at) => ({ ...request, key: String(at) })));
}
