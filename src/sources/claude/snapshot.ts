import type { Folded } from "../../files/fold.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import { blankSnapshot, type ContextUse, type Snapshot } from "../../session/snapshot.ts";
import { type PriceBook, pricedUsage } from "../../usage/prices.ts";
import { isoTime } from "../jsonl/record.ts";
import type { Described } from "./describe.ts";
import type { ClaudeFile } from "./file.ts";
import { SESSION_ID } from "./ids.ts";
import type { Live } from "./liveness.ts";
import type { judge } from "./status.ts";

export interface SnapshotParts {
  key: SessionKey;
  root: { path: string; index: number };
  main: Folded<ClaudeFile>;
  described: Described;
  verdict: ReturnType<typeof judge>;
  live: Live | null;
  livePane: string | null;
  archived: boolean;
  /** When Claude Code may delete it, ISO. */
  expiresAt: string | null;
  prices: PriceBook | null;
  /** The key of a session we know, null for others. */
  keyOf(id: string): SessionKey | null;
}

const SOURCE = "claude";
const LONG_WINDOW = 1_000_000;

/** The snapshot of one session (design §4). */
export function snapshotOf(parts: SnapshotParts): Snapshot {
  const { described, main, verdict, live } = parts;
  const file = main.state;
  const { native, detail, status, certainty, why, activity } = verdict;
  const sums = usageOf(parts);
  const updatedAt = isoTime(file.updatedAt) ?? isoTime(main.mtimeMs);
  return {
    ...blankSnapshot({ key: parts.key, source: SOURCE, id: described.id, root: parts.root.path, path: main.path }),
    title: described.title.title,
    name: described.title.from.startsWith("custom-title") ? described.title.title : null,
    agent: SOURCE,
    models: described.models,
    cwd: file.cwd,
    project: file.cwd,
    status,
    native,
    certainty,
    why,
    activity,
    createdAt: isoTime(file.startedAt),
    updatedAt,
    messages: described.counts.human + described.counts.assistant,
    ...sums,
    context: contextOf(parts),
    parent: parentOf(parts),
    resume: { argv: ["claude", "--resume", described.id], cwd: file.cwd },
    can: actionsOf(parts),
    damage: described.damage,
    livePane: parts.livePane,
    extra: {
      titleFrom: described.title.from,
      firstPrompt: described.firstPrompt,
      lastPrompt: described.lastPrompt,
      counts: {
        human: described.counts.human,
        assistant: described.counts.assistant,
        toolCalls: described.counts.toolCalls,
      },
      abandoned: { human: described.abandoned.human, assistant: described.abandoned.assistant },
      compactions: described.counts.compactions,
      forkPoint: described.lineage.forkPoint,
      subagents: described.subagents,
      tag: file.tag,
      gitBranch: file.gitBranch,
      lastCwd: file.lastCwd === file.cwd ? null : file.lastCwd,
      entrypoint: file.entrypoint,
      programmatic: described.programmatic,
      version: file.version,
      reportedCost: file.reportedCost,
      queued: file.queue.length,
      edits: described.edits,
      expiresAt: parts.expiresAt,
      pid: live?.process.pid ?? null,
      openTwice: live?.openTwice ?? [],
      statusDetail: detail,
      archived: parts.archived,
      partial: file.low > 0,
      seenMark: updatedAt,
    },
  };
}

/** A file of which only the end was read so far has no numbers yet; replies behind some gateways never have (design §4). */
function usageOf(parts: SnapshotParts): Pick<Snapshot, "usage" | "own"> {
  const { low, requests } = parts.main.state;
  const untold =
    requests.length > 0 && !requests.some(({ counted }) => counted) && parts.described.requests().length === 0;
  if (low > 0 || untold) return { usage: null, own: null };
  const whole = parts.described.ownSum(parts.prices);
  if (whole !== null) return { usage: whole, own: whole };
  return pricedUsage(parts.described.requests(), parts.prices);
}

/** The model's window by the price table; when it was ever given more, a long window must be in use (agents.md §7). */
function contextOf({ described, main, prices }: SnapshotParts): ContextUse | null {
  if (described.context === null) return null;
  const { used, model } = described.context;
  const provider = model !== null && /claude/iu.test(model) ? "anthropic" : null;
  const limit = model === null ? null : (prices?.contextWindow(provider, model, isoTime(main.state.updatedAt)) ?? null);
  const { mostContext } = main.state;
  const most = Math.max(used, model !== null && Object.hasOwn(mostContext, model) ? (mostContext[model] ?? 0) : 0);
  return { used, limit: limit !== null && most > limit ? Math.max(LONG_WINDOW, limit) : limit };
}

function parentOf(parts: SnapshotParts): Snapshot["parent"] {
  const { forkOf } = parts.described.lineage;
  if (forkOf === null || !SESSION_ID.test(forkOf)) return null;
  return { key: parts.keyOf(forkOf) ?? sessionKey(SOURCE, parts.root.index, forkOf), relation: "fork" };
}

/** While it runs, only the program's own fork is safe (agents.md §8). */
function actionsOf({ live, livePane }: SnapshotParts): Snapshot["can"] {
  if (live !== null && !live.guess) return livePane === null ? [] : ["attach"];
  return livePane === null ? ["fork", "revert", "resume"] : ["fork", "revert", "resume", "attach"];
}
