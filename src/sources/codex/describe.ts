import { type Edit, lastEditedOf } from "../../session/edited-files.ts";
import type { Damage, Usage } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import type { PriceBook } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { lineDamage } from "../jsonl/folded-lines.ts";
import { copiedPrefix } from "./copied-prefix.ts";
import { eventsOnPath, isShown, type PathEvent, pathOf } from "./path.ts";
import { threadRequests } from "./requests.ts";
import { eventsOf, metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";
import { contextUsed, runningOf, runningSum } from "./running.ts";
import { type Tail, tailOf } from "./tail.ts";

interface Counts {
  human: number;
  assistant: number;
  toolCalls: number;
}

/** One thread as its files say, before statuses and prices. */
export interface Described {
  thread: string;
  /** Oldest first; the last one is current. */
  files: readonly Rollout[];
  kind: "user" | "subagent" | "internal";
  title: string;
  titleFrom: string;
  firstPrompt: string | null;
  lastPrompt: string | null;
  models: string[];
  counts: Counts;
  abandoned: Counts;
  compactions: number;
  /** Made anew each time: what is kept of a request is its event in the file's state. */
  requests(): ModelRequest[];
  /** The sum where it can be gone on with, null where it has to be worked out. */
  ownSum(prices: PriceBook | null): Usage | null;
  context: { used: number; limit: number | null } | null;
  tail: Tail;
  cwd: string | null;
  cwdFrom: string;
  parent: { thread: string; relation: "fork" | "subagent" } | null;
  createdAt: number | null;
  updatedAt: number | null;
  /** Files that it edited within its last hour, reverted turns' too. */
  edits: string[];
  programmatic: boolean;
  damage: Damage[];
}

const MOST_TITLE = 200;

export function describe(
  thread: string,
  files: readonly Rollout[],
  name: string | null,
  lookup: RolloutLookup,
): Described | null {
  const current = files.at(-1);
  const meta = current === undefined ? null : metaOf(current);
  if (current === undefined || meta === null) return null;
  const alone = files.length === 1 && meta.kind === "user" && meta.base === null;
  const running = alone && copiedPrefix(current, lookup).events === 0 ? runningOf(current) : null;
  const said = running === null ? saidOnPath(current, files, lookup) : saidSoFar(running);
  const first = said.firstPrompt;
  const named = name === null ? "" : cutCodePoints(cleanLine(name), MOST_TITLE);
  const title = named !== "" ? named : cutCodePoints(first ?? "", MOST_TITLE);
  const times = files.map((file) => file.folded.state);
  const updatedAt = most(times.map((one) => one.updatedAt));
  const { cwd, from } = cwdOf(files, lookup);
  return {
    thread,
    files,
    kind: meta.kind,
    title: title === "" ? thread : title,
    titleFrom: named !== "" ? "session_index" : title === "" ? "id" : "first prompt",
    ...said,
    requests: () => threadRequests(thread, files, lookup),
    ownSum: (prices) => (running === null ? null : runningSum(current, thread, prices)),
    cwd,
    cwdFrom: from,
    parent: parentOf(current, lookup),
    createdAt: least([metaOf(files[0] ?? current)?.time ?? null, ...times.map((one) => one.startedAt)]),
    updatedAt,
    edits: lastEditedOf(
      files.map((file) => ownEdits(file, lookup)),
      updatedAt,
    ),
    programmatic: meta.source === "exec" || meta.source === "mcp",
    damage: files.flatMap((file) => lineDamage(file.folded.state)),
  };
}

/** Without those of copied rows, which are another thread's. */
function ownEdits(file: Rollout, lookup: RolloutLookup): Edit[] {
  const { edits } = file.folded.state;
  if (edits.length === 0) return edits;
  const copied = copiedPrefix(file, lookup).events;
  return edits.filter(([, , place = 0]) => place >= copied);
}

type Said = Pick<
  Described,
  "firstPrompt" | "lastPrompt" | "models" | "counts" | "abandoned" | "compactions" | "context" | "tail"
>;

function saidOnPath(current: Rollout, files: readonly Rollout[], lookup: RolloutLookup): Said {
  const path = eventsOnPath(pathOf(current, lookup));
  const kept = path.filter((one) => !one.dropped);
  const internal = metaOf(current)?.kind === "internal";
  const prompts = internal ? [] : promptsOf(kept);
  return {
    firstPrompt: prompts[0] ?? null,
    lastPrompt: prompts.at(-1) ?? null,
    models: modelsOf(path, files, lookup),
    counts: count(kept, internal),
    abandoned: abandonedOf(path, files, lookup, internal),
    compactions: kept.filter((one) => one.event.k === "compaction").length,
    context: contextOf(kept),
    tail: tailOf(path),
  };
}

function saidSoFar(running: NonNullable<ReturnType<typeof runningOf>>): Said {
  const { firstPrompt, lastPrompt, models, counts, compactions, context, now } = running;
  const shown = [...models].map((model) => cutCodePoints(cleanLine(model), 120));
  const abandoned = { human: 0, assistant: 0, toolCalls: 0 };
  return { firstPrompt, lastPrompt, models: [...new Set(shown)], counts, abandoned, compactions, context, tail: now };
}

function promptsOf(path: readonly PathEvent[]): string[] {
  const found: string[] = [];
  for (const { event, file, index } of path) {
    const text = event.k === "prompt" && isShown(file, index) ? cleanLine(event.text) : "";
    if (text !== "") found.push(text);
  }
  return found;
}

function count(path: readonly PathEvent[], internal: boolean): Counts {
  const counts = { human: 0, assistant: 0, toolCalls: 0 };
  for (const { event, file, index } of path) {
    if (event.k === "prompt" && isShown(file, index) && !internal) counts.human += 1;
    if (event.k === "reply" && isShown(file, index)) counts.assistant += 1;
    if (event.k === "call") counts.toolCalls += 1;
  }
  return counts;
}

/** What was reverted or rolled back: in the thread's files, but on no path. */
function abandonedOf(
  path: readonly PathEvent[],
  files: readonly Rollout[],
  lookup: RolloutLookup,
  internal: boolean,
): Counts {
  const on = new Set(path.map((one) => one.event));
  const left: PathEvent[] = path.filter((one) => one.dropped);
  for (const file of files) {
    const events = eventsOf(file);
    for (let index = copiedPrefix(file, lookup).events; index < events.length; index += 1) {
      const event = events[index];
      if (event !== undefined && !on.has(event)) left.push({ file, event, index, dropped: true });
    }
  }
  return count(left, internal);
}

/** In order of first use: along the conversation, then in files that were reverted. */
function modelsOf(path: readonly PathEvent[], files: readonly Rollout[], lookup: RolloutLookup): string[] {
  const models = new Set<string>();
  const add = (model: string | null): void => {
    if (model !== null && models.size < 64) models.add(cutCodePoints(cleanLine(model), 120));
  };
  for (const { event } of path) if (event.k === "context") add(event.model);
  for (const file of files) {
    for (const event of eventsOf(file).slice(copiedPrefix(file, lookup).events))
      if (event.k === "context") add(event.model);
  }
  return [...models];
}

/** After a compaction `last` is zeros with an estimate; a response may have a record before its total (agents.md §2.4). */
function contextOf(path: readonly PathEvent[]): Described["context"] {
  let context: Described["context"] = null;
  let limit: number | null = null;
  for (const { event } of path) {
    if (event.k === "total" || event.k === "task") limit = event.window ?? limit;
    if (event.k === "total") context = contextUsed(event.last, limit);
    if (event.k === "record") context = contextUsed(event.usage, limit);
  }
  return context === null ? null : { ...context, limit };
}

/** The oldest file's own header: a resumed or reverted thread goes on where it began. Without one its first turn tells. */
function cwdOf(files: readonly Rollout[], lookup: RolloutLookup): { cwd: string | null; from: string } {
  for (const file of files) {
    const cwd = metaOf(file)?.cwd ?? null;
    if (cwd !== null) return { cwd, from: "session_meta" };
  }
  for (const file of files) {
    const own = eventsOf(file).slice(copiedPrefix(file, lookup).events);
    const first = own.find((event) => event.k === "context" && event.cwd !== null);
    if (first?.k === "context") return { cwd: first.cwd, from: "turn_context" };
  }
  const cwd = files.map((file) => file.folded.state.environmentCwd).find((one) => one !== null) ?? null;
  return { cwd, from: "environment_context" };
}

function parentOf(current: Rollout, lookup: RolloutLookup): Described["parent"] {
  const meta = metaOf(current);
  if (meta === null) return null;
  if (meta.kind !== "user") {
    const parent = meta.parentThread ?? meta.forkedFrom ?? meta.sessionId;
    return parent === null || parent === meta.id ? null : { thread: parent, relation: "subagent" };
  }
  // Our own memory first: in a copy of a file with a base the header names the base's origin, as it did in the original.
  const copied = lookup.madeFrom(meta.id) ?? copiedPrefix(current, lookup).thread;
  const parent = copied ?? meta.forkedFrom ?? meta.base?.thread ?? null;
  return parent === null || parent === meta.id ? null : { thread: parent, relation: "fork" };
}

function least(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function most(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}
