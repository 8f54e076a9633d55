import { stat } from "node:fs/promises";
import type { Live } from "../live/live.ts";
import type { Fact, Memory } from "../memory/memory.ts";
import { now } from "../probe/clock.ts";
import type { SessionKey } from "../session/key.ts";
import type { ForkAbility, Forked, ForkPlan, SourceReader } from "../sources/source.ts";

/** How many entries at a transcript's end are looked at: what was added last is among them. */
const LAST_ENTRIES = 20;

/** What actions work with. They change files, our memory or tmux; the screen follows by the watcher. */
export interface ActionContext {
  live: Live;
  memory: Memory;
  env: NodeJS.ProcessEnv;
}

/** Looks whether a fork before `before` (null: of all of it) leaves a healthy session, and what would happen. Writes nothing. */
export async function planFork(context: ActionContext, key: SessionKey, before: string | null): Promise<ForkPlan> {
  const ability = abilityOf(context, key);
  if (ability === null) return { allowed: false, reason: "this tool's sessions cannot be forked from outside" };
  return ability.plan(key, before);
}

/** Makes a new session from everything before `before`. Throws with the reason when that is not possible. */
export async function forkSession(context: ActionContext, key: SessionKey, before: string | null): Promise<Forked> {
  const ability = abilityOf(context, key);
  if (ability === null) throw new Error("this tool's sessions cannot be forked from outside");
  const forked = await ability.make(key, before);
  context.memory.set("copied", forked.key, key);
  return forked;
}

/** A fork, and the original folded away in our own memory. No file of the original is touched (design §6). */
export async function revertSession(context: ActionContext, key: SessionKey, before: string): Promise<Forked> {
  const forked = await forkSession(context, key, before);
  const { size } = await stat(forked.path);
  const at = new Date(now(context.env)).toISOString();
  context.memory.set("superseded", key, { by: forked.key, at, path: forked.path, bytes: size });
  return forked;
}

export interface Undone {
  /** Shown again. */
  original: SessionKey;
  copy: SessionKey;
  /** Nothing was added to the copy, so it is folded away in turn; else both stay. */
  withdrawn: boolean;
}

/** What an undo would take back: the revert that `key` is part of (as original or copy), or without a key the last one. */
export async function planUndo(context: ActionContext, key: SessionKey | null): Promise<Undone | null> {
  const reverts = [...context.memory.all("superseded")]
    .filter(([original, fact]) => key === null || original === key || fact.by === key)
    .sort(([, a], [, b]) => (a.at < b.at ? 1 : -1));
  const [original, fact] = reverts[0] ?? [];
  if (original === undefined || fact === undefined) return null;
  const withdrawn = await isUntouched(context, fact).catch(() => false);
  return { original, copy: fact.by, withdrawn };
}

/** Has nothing been added to a copy since it was made? Throws when it is gone, or its source is not read here. */
async function isUntouched(context: ActionContext, { by, at, path, bytes }: Fact<"superseded">): Promise<boolean> {
  const reader = context.live.reader(by);
  if (hasOwnFile(reader, by)) return (await stat(path)).size === bytes;
  // Others write to the same file: only what was said tells.
  const transcript = await reader.transcript(by);
  try {
    const { entries } = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: LAST_ENTRIES });
    return entries.every(({ time }) => time === null || Date.parse(time) <= Date.parse(at));
  } finally {
    transcript.close();
  }
}

/** Its source says when no file holds this session's text alone. */
function hasOwnFile(reader: SourceReader, key: SessionKey): boolean {
  try {
    return reader.files?.(key) !== null;
  } catch {
    // Not read yet: it was made a moment ago.
    return true;
  }
}

/** Takes a revert back, in our own memory. null: there is none. */
export async function undoRevert(context: ActionContext, key: SessionKey | null): Promise<Undone | null> {
  const undone = await planUndo(context, key);
  if (undone === null) return null;
  context.memory.set("superseded", undone.original, null);
  if (undone.withdrawn) context.memory.set("withdrawn", undone.copy, true);
  return undone;
}

function abilityOf(context: ActionContext, key: SessionKey): ForkAbility | null {
  return context.live.reader(key).fork;
}
