import { stat } from "node:fs/promises";
import type { Live } from "../live/live.ts";
import type { Memory } from "../memory/memory.ts";
import { now } from "../probe/clock.ts";
import type { SessionKey } from "../session/key.ts";
import type { ForkAbility, Forked, ForkPlan } from "../sources/source.ts";

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
  const withdrawn = await stat(fact.path).then(
    (stats) => stats.size === fact.bytes,
    () => false,
  );
  return { original, copy: fact.by, withdrawn };
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
