import { eventsOnPath, isShown, type PathEvent, pathOf, turnStart } from "./path.ts";
import { metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";
import { tailOf } from "./tail.ts";

export type Cut =
  | {
      ok: true;
      /** The file that is copied: its lines before `offset`. */
      file: Rollout;
      /** null: all of it. */
      offset: number | null;
      over: boolean;
    }
  | { ok: false; reason: string };

/** Where a copy may end so that it is healthy: at a turn's end, before the turn of a prompt (agents.md §8). */
export function cutBefore(
  current: Rollout,
  lookup: RolloutLookup,
  place: { file: string; offset: number } | null,
): Cut {
  const refused = refusal(current);
  if (refused !== null) return { ok: false, reason: refused };
  const path = eventsOnPath(pathOf(current, lookup));
  if (place === null) return ending(path, path.length, current, null);
  const at = path.findIndex((one) => one.file.path === place.file && one.event.at === place.offset);
  const one = path[at];
  if (one === undefined) return { ok: false, reason: "a fork ends before a prompt: choose one" };
  return cutAtPrompt(path, at, one);
}

export function cutAtPrompt(path: readonly PathEvent[], at: number, one: PathEvent): Cut {
  if (one.event.k === "result") return { ok: false, reason: "the call before it would be left without its result" };
  if (one.event.k !== "prompt" || !isShown(one.file, one.index)) {
    return { ok: false, reason: "the turn before it would be cut in its middle: choose a prompt" };
  }
  if (one.dropped) return { ok: false, reason: "it was rolled back: it is no part of the conversation any more" };
  const start = turnStart(path, at);
  const first = path[start];
  if (first === undefined || first.file !== one.file) return { ok: false, reason: "its turn begins in another file" };
  return ending(path, start, one.file, first.event.at);
}

function ending(path: readonly PathEvent[], to: number, file: Rollout, offset: number | null): Cut {
  const kept = path.slice(0, to);
  const said = kept.some((one) => one.event.k === "reply" || one.event.k === "prompt");
  if (!said) return { ok: false, reason: "nothing was said before it: start a new thread instead" };
  const tail = tailOf(kept);
  if (tail.calls.length > 0) return { ok: false, reason: "a call would be left without its result" };
  if (tail.state === "open")
    return { ok: false, reason: "the turn before it did not end: the copy would be cut in its middle" };
  return { ok: true, file, offset, over: tail.state === "over" };
}

/** Why a thread cannot be copied at all, null when it can. */
export function refusal(current: Rollout): string | null {
  const meta = metaOf(current);
  if (meta === null) return "it has no header";
  if (current.folded.state.low > 0) return "the file is still being read: try again in a moment";
  if (meta.generation === 1) return "its file is of the first generation (2025-05), which codex no longer resumes";
  return meta.kind === "user" ? null : "it belongs to another thread: fork that one";
}
