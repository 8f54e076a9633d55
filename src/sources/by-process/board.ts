import { isDeepStrictEqual } from "node:util";
import type { Evidence } from "../../probe/evidence.ts";
import { paneOfProcess } from "../../probe/pane-of-process.ts";
import type { SessionKey } from "../../session/key.ts";
import type { ActionName, Snapshot } from "../../session/snapshot.ts";
import { sameVerdict } from "../agents/same-verdict.ts";
import type { Services } from "../source.ts";
import { SnapshotChanges } from "../told.ts";
import { type Judgement, judge } from "./judge.ts";
import { findSeats, type Live, type Program, type Seat } from "./seats.ts";
import type { Tail } from "./tail.ts";

/** A session as its files say, before anybody looked at processes. */
export interface Described {
  /** Without status, activity, pane and `can`. */
  snapshot: Snapshot;
  tail: Tail;
  seat: Seat;
  archived: boolean;
}

interface Held extends Described {
  shown: Snapshot;
  live: Live | null;
}

export interface BoardRules {
  program: Program;
  services: Services;
  /** What can be done with it, given who runs it. */
  can(described: Described, live: Live | null): ActionName[];
}

/** All sessions of a tool that keeps neither registry nor locks: looks who is running, judges, says what changed. */
export class Board {
  readonly #rules: BoardRules;
  readonly #held = new Map<SessionKey, Held>();

  constructor(rules: BoardRules) {
    this.#rules = rules;
  }

  /** Takes in new descriptions and looks again at everything. `gone` are forgotten. */
  update(
    changed: readonly Described[],
    gone: Iterable<SessionKey>,
    evidence: Evidence,
  ): { changed: Snapshot[]; removed: SessionKey[] } {
    const changes = new SnapshotChanges();
    for (const key of gone) {
      changes.note(this.#held.get(key)?.shown ?? null, null);
      this.#held.delete(key);
    }
    const fresh = new Map(changed.map((one) => [one.snapshot.key, one]));
    const all = new Map<SessionKey, Described>([...this.#held, ...fresh]);
    const seats = [...all.values()].map((one) => one.seat);
    const live =
      evidence.processes === null ? new Map<string, Live>() : findSeats(seats, evidence.processes, this.#rules.program);
    for (const [key, described] of all) {
      const by = live.get(described.seat.id) ?? null;
      const shown = this.#show(described, by, evidence);
      const before = this.#held.get(key)?.shown ?? null;
      const same = before !== null && !fresh.has(key) && sameShown(before, shown);
      this.#held.set(key, { ...described, live: by, shown: same ? before : changes.note(before, shown) });
    }
    return changes;
  }

  get(key: SessionKey): { described: Described; shown: Snapshot; live: Live | null } | null {
    const held = this.#held.get(key);
    return held === undefined ? null : { described: held, shown: held.shown, live: held.live };
  }

  keys(): IterableIterator<SessionKey> {
    return this.#held.keys();
  }

  clear(): void {
    this.#held.clear();
  }

  #show(described: Described, live: Live | null, evidence: Evidence): Snapshot {
    const { snapshot, tail, archived } = described;
    const mark = this.#rules.services.seen(snapshot.key);
    const seen = mark !== null && snapshot.updatedAt !== null && mark >= snapshot.updatedAt;
    const verdict = judge({ tail, live, processesKnown: evidence.processes !== null, archived, seen });
    const pane =
      live === null || evidence.processes === null
        ? null
        : paneOfProcess(live.process, evidence.processes, evidence.tmux);
    const can = this.#rules.can(described, live);
    return withVerdict(snapshot, verdict, {
      pid: live?.process.pid ?? null,
      openTwice: live?.openTwice ?? [],
      livePane: pane?.id ?? null,
      can: pane === null ? can : [...can, "attach"],
    });
  }
}

/** Of an unchanged description only what a clock, a process or a pane decides can differ. */
function sameShown(before: Snapshot, after: Snapshot): boolean {
  const openTwice = Array.isArray(after.extra.openTwice) ? after.extra.openTwice : [];
  return (
    sameVerdict(before, { ...after, openTwice }) &&
    before.extra.pid === after.extra.pid &&
    isDeepStrictEqual(before.can, after.can)
  );
}

function withVerdict(
  snapshot: Snapshot,
  verdict: Judgement,
  live: { pid: number | null; openTwice: string[]; livePane: string | null; can: ActionName[] },
): Snapshot {
  const { status, native, certainty, why, activity, detail } = verdict;
  const { pid, openTwice } = live;
  return {
    ...snapshot,
    status,
    native,
    certainty,
    why,
    activity,
    livePane: live.livePane,
    can: live.can,
    extra: { ...snapshot.extra, pid, openTwice, statusDetail: detail, seenMark: snapshot.updatedAt },
  };
}
