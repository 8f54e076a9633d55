import { eventsOnPath, isShown, type PathEvent, pathOf, turnStart } from "./path.ts";
import { metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";
import { noTail, stepTail, type Tail } from "./tail.ts";

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

const HEADLESS = "the first line of its file, the header, is damaged: it is what a copy begins with";

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
  if (metaOf(file)?.headless === true) return { ok: false, reason: HEADLESS };
  const end = endsOf(path)[to];
  if (end === END.silent) return { ok: false, reason: "nothing was said before it: start a new thread instead" };
  if (end === END.calling) return { ok: false, reason: "a call would be left without its result" };
  if (end === END.open)
    return { ok: false, reason: "the turn before it did not end: the copy would be cut in its middle" };
  return { ok: true, file, offset, over: end === END.over };
}

/** How the first events of a path end. */
const END = { silent: 0, calling: 1, open: 2, stopped: 3, over: 4 } as const;

const ends = new WeakMap<readonly PathEvent[], Uint8Array>();

/** The end of a path cut before each of its events, and of the whole: one walk, however many prompts are asked about. */
function endsOf(path: readonly PathEvent[]): Uint8Array {
  const known = ends.get(path);
  if (known !== undefined) return known;
  const found = new Uint8Array(path.length + 1);
  const so = noTail();
  let said = false;
  path.forEach((one, i) => {
    stepTail(so, one);
    said ||= one.event.k === "reply" || one.event.k === "prompt";
    if (said) found[i + 1] = endOf(so.tail);
  });
  ends.set(path, found);
  return found;
}

function endOf({ calls, state }: Tail): number {
  if (calls.length > 0) return END.calling;
  if (state === "open") return END.open;
  return state === "over" ? END.over : END.stopped;
}

/** Why a thread cannot be copied at all, null when it can. */
export function refusal(current: Rollout): string | null {
  const meta = metaOf(current);
  if (meta === null) return "it has no header";
  if (current.folded.state.low > 0) return "the file is still being read: try again in a moment";
  if (meta.headless) return HEADLESS;
  if (meta.generation === 1) return "its file is of the first generation (2025-05), which codex no longer resumes";
  return meta.kind === "user" ? null : "it belongs to another thread: fork that one";
}
