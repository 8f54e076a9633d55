import { forkSession, planFork, revertSession, undoRevert } from "../actions/fork.ts";
import { shellLine } from "../actions/resume.ts";
import { parseKey } from "../session/key.ts";
import { jsonText } from "../session/untrusted.ts";
import type { Forked } from "../sources/source.ts";
import { findSession, openSession, openWorkplace, print, readEverything, type SharedOptions } from "./context.ts";

interface ForkOptions extends SharedOptions {
  before?: string;
  yes?: boolean;
}

/** `forktail fork KEY [--before REF]`. */
export async function fork(options: ForkOptions, key: string): Promise<number> {
  return make(options, key, "fork");
}

/** `forktail revert KEY --before REF`. */
export async function revert(options: ForkOptions, key: string): Promise<number> {
  return make(options, key, "revert");
}

async function make(options: ForkOptions, key: string, verb: "fork" | "revert"): Promise<number> {
  const { place, snapshot } = await openSession(options, key);
  const before = options.before ?? null;
  const plan = await planFork(place, snapshot.key, before);
  if (!plan.allowed) throw new Error(`no ${verb}: ${plan.reason}`);
  if (plan.ask !== null && !options.yes) throw new Error(`no ${verb} without --yes: ${plan.ask}`);
  const forked =
    verb === "revert" && before !== null
      ? await revertSession(place, snapshot.key, before)
      : await forkSession(place, snapshot.key, before);
  await print(options.json ? jsonText({ schema: 1, [verb]: forked, of: snapshot.key }, 2) : words(forked, verb));
  await place.live.close();
  return 0;
}

function words(forked: Forked, verb: string): string {
  const lines = [`${verb === "fork" ? "Forked" : "Reverted"}: ${forked.key}`, forked.path, ...forked.notes];
  if (forked.resume) lines.push(`Resume it: ${shellLine(forked.resume)}`);
  return lines.join("\n");
}

/** A key as the person gave it, also when its session is gone meanwhile; an id is looked up. */
function keyOf(text: string, sessions: Parameters<typeof findSession>[0]): string {
  return parseKey(text) === null ? findSession(sessions, text).key : text;
}

/** `forktail undo [KEY]`. */
export async function undo(options: SharedOptions, key?: string): Promise<number> {
  const place = await openWorkplace(options);
  const { sessions } = await readEverything(place);
  const undone = await undoRevert(place, key === undefined ? null : keyOf(key, sessions));
  if (undone === null)
    throw new Error(key === undefined ? "there is no revert to undo" : `${key} is not part of a revert`);
  const copy = undone.withdrawn
    ? `${undone.copy} had nothing of its own yet and is folded away; its file stays.`
    : `${undone.copy} has gone on since and stays in the list.`;
  await print(options.json ? jsonText({ schema: 1, undone }, 2) : `${undone.original} is back.\n${copy}`);
  await place.live.close();
  return 0;
}
