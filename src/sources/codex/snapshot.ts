import { type SessionKey, sessionKey } from "../../session/key.ts";
import { blankSnapshot, type Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import { type PriceBook, pricedUsage } from "../../usage/prices.ts";
import { isoTime } from "../jsonl/record.ts";
import type { Described } from "./describe.ts";
import type { Guess } from "./guess.ts";
import type { Holder } from "./locks.ts";
import { metaOf, type Rollout } from "./rollouts.ts";
import type { judge } from "./status.ts";

export interface SnapshotParts {
  key: SessionKey;
  current: Rollout;
  described: Described;
  verdict: ReturnType<typeof judge>;
  holder: Holder;
  guess: Guess | null;
  livePane: string | null;
  openTwice: string[];
  prices: PriceBook | null;
  keyOf(thread: string): SessionKey | null;
  subagents: { agentId: string; type: string | null; calls: number }[];
}

const SOURCE = "codex";

/** The snapshot of one thread (design §4). */
export function snapshotOf(parts: SnapshotParts): Snapshot {
  const { described, current, verdict } = parts;
  const meta = metaOf(current);
  const { native, detail, status, certainty, why, activity } = verdict;
  const updatedAt = isoTime(described.updatedAt) ?? isoTime(current.folded.mtimeMs);
  return {
    ...blankSnapshot({
      key: parts.key,
      source: SOURCE,
      id: described.thread,
      root: current.root.path,
      path: current.path,
    }),
    title: described.title,
    name: described.titleFrom === "session_index" ? described.title : null,
    agent: SOURCE,
    models: described.models,
    cwd: described.cwd,
    project: described.cwd,
    status,
    native,
    certainty,
    why,
    activity,
    createdAt: isoTime(described.createdAt),
    updatedAt,
    messages: described.counts.human + described.counts.assistant,
    ...usageOf(parts),
    context: described.context,
    parent:
      described.parent === null
        ? null
        : {
            key:
              parts.keyOf(described.parent.thread) ?? sessionKey(SOURCE, current.root.index, described.parent.thread),
            relation: described.parent.relation,
          },
    resume: meta?.headless === true ? null : { argv: ["codex", "resume", described.thread], cwd: described.cwd },
    can: actionsOf(parts),
    damage: described.damage,
    hidden: described.kind !== "user",
    livePane: parts.livePane,
    extra: {
      titleFrom: described.titleFrom,
      firstPrompt: described.firstPrompt,
      lastPrompt: described.lastPrompt,
      counts: described.counts,
      abandoned: { human: described.abandoned.human, assistant: described.abandoned.assistant },
      compactions: described.compactions,
      kind: described.kind,
      agentName: meta?.nickname == null ? null : cutCodePoints(cleanLine(meta.nickname), 80),
      subagents: parts.subagents,
      files: described.files.map((file) => file.path),
      gitBranch: meta?.gitBranch ?? null,
      cwdFrom: described.cwdFrom,
      programmatic: described.programmatic,
      version: meta?.version ?? null,
      edits: described.edits,
      pid: parts.holder.pid ?? parts.guess?.process.pid ?? null,
      openTwice: parts.openTwice,
      statusDetail: detail,
      archived: current.archived,
      partial: current.folded.state.low > 0,
      seenMark: updatedAt,
    },
  };
}

/** The first generation recorded no usage at all: that is unknown, not zero. */
function usageOf({ described, current, prices }: SnapshotParts): Pick<Snapshot, "usage" | "own"> {
  if (metaOf(current)?.generation === 1 || current.folded.state.low > 0) return { usage: null, own: null };
  const whole = described.ownSum(prices);
  if (whole !== null) return { usage: whole, own: whole };
  return pricedUsage(described.requests(), prices);
}

/** While its lock is held, only the program's own fork is safe; its internal threads are nobody's to go on with. */
function actionsOf({ described, holder, livePane, current }: SnapshotParts): Snapshot["can"] {
  const attach: Snapshot["can"] = livePane === null ? [] : ["attach"];
  if (described.kind !== "user") return attach;
  if (holder.held === "yes") return attach;
  const meta = metaOf(current);
  return meta?.headless === true || meta?.generation === 1 ? attach : ["fork", "revert", "resume", ...attach];
}
