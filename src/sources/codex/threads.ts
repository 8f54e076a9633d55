import { basename, sep } from "node:path";
import type { Folded } from "../../files/fold.ts";
import type { Problem } from "../../session/problem.ts";
import type { Root } from "../source.ts";
import { copiedPrefix, copiedThreads } from "./copied-prefix.ts";
import type { CodexFile } from "./file.ts";
import { LOCK_DIRECTORY, lockedThread } from "./locks.ts";
import { parseRolloutName } from "./rollout-name.ts";
import { chooseRollouts, headerOf, metaOf, type Rollout, type RolloutLookup, threadOf } from "./rollouts.ts";

const SOURCE = "codex";

/** What a path below a root is (agents.md §2.1). */
export type Place = { kind: "rollout"; archived: boolean } | { kind: "index" } | { kind: "lock"; thread: string };

export function placeOf(root: string, path: string): Place | null {
  if (!path.startsWith(root + sep)) return null;
  const parts = path.slice(root.length + 1).split(sep);
  const name = parts.at(-1) ?? "";
  if (parts.length === 1) return name === "session_index.jsonl" ? { kind: "index" } : null;
  if (parts[0] === LOCK_DIRECTORY && parts.length === 2) {
    const thread = lockedThread(name);
    return thread === null ? null : { kind: "lock", thread };
  }
  if (parseRolloutName(name) === null) return null;
  if (parts[0] === "archived_sessions" && parts.length === 2) return { kind: "rollout", archived: true };
  if (parts[0] === "sessions" && parts.length <= 6) return { kind: "rollout", archived: false };
  return null;
}

/** All rollouts of all roots by thread, whatever order they were found in. */
export class CodexThreads {
  readonly #rollouts = new Map<string, Rollout>();
  readonly #byThread = new Map<string, Set<string>>();
  /** Threads that point at this one: forks and sub-agents. */
  readonly #children = new Map<string, Set<string>>();
  /** How far each file had been read the last time. */
  readonly #reached = new Map<string, { state: WeakRef<CodexFile>; events: number; ordinal: number }>();
  readonly #empty = new Map<string, string>();
  /** Compressed files that cannot be read, and why. */
  readonly #broken = new Map<string, string>();
  readonly #chosen = new Map<string, { chosen: Rollout[]; twins: { twin: Rollout; of: Rollout }[] }>();

  paths(): string[] {
    return [...this.#rollouts.keys(), ...this.#empty.keys(), ...this.#broken.keys()];
  }

  knows(path: string): boolean {
    return this.#rollouts.has(path);
  }

  children(thread: string): string[] {
    return [...(this.#children.get(thread) ?? [])].sort();
  }

  of(thread: string): readonly Rollout[] {
    return this.#choice(thread).chosen;
  }

  /** The threads as they are at this moment: what is worked out from it may be kept as long as it. */
  lookup(madeFrom: (thread: string) => string | null): RolloutLookup {
    return { of: (thread) => this.of(thread), madeFrom, pointingAt: (thread) => this.children(thread) };
  }

  /** Takes in a rollout; returns the threads it may change. */
  take(root: Root, path: string, folded: Folded<CodexFile>): Set<string> {
    const dirty = new Set<string>();
    const before = this.#rollouts.get(path);
    const name = parseRolloutName(basename(path));
    const place = placeOf(root.path, path);
    if (name === null || place?.kind !== "rollout") return dirty;
    const thread = threadOf(folded);
    const old = before === undefined ? null : threadOf(before.folded);
    if (old !== null && old !== thread) this.#leave(old, path, dirty);
    if (thread === null) {
      this.#rollouts.delete(path);
      if (folded.state.compression === null) this.#empty.set(path, root.path);
      else this.#broken.set(path, folded.state.compression);
      return dirty;
    }
    this.#empty.delete(path);
    this.#broken.delete(path);
    this.#rollouts.set(path, { path, root, name, archived: place.archived, folded });
    const paths = this.#byThread.get(thread) ?? new Set();
    this.#byThread.set(thread, paths.add(path));
    this.#chosen.delete(thread);
    dirty.add(thread);
    for (const parent of pointedAt(folded)) {
      this.#children.set(parent, (this.#children.get(parent) ?? new Set()).add(thread));
      dirty.add(parent);
    }
    const reached = this.#reached.get(path);
    const { events } = folded.state;
    this.#reached.set(path, {
      state: new WeakRef(folded.state),
      events: events.length,
      ordinal: events.at(-1)?.ord ?? -1,
    });
    // A parent that appears, is read anew or catches up decides what its copies have from it.
    if (reached === undefined || reached.state.deref() !== folded.state || old !== thread) {
      for (const child of this.#family(thread)) dirty.add(child);
      if (headerOf(folded)?.kind === "user") for (const heir of this.#heirsOf(copiedThreads(folded))) dirty.add(heir);
    } else if (this.children(thread).some((child) => this.#needsMore(child, thread, reached))) {
      for (const child of this.#family(thread)) dirty.add(child);
    }
    if (reached !== undefined) for (const heir of this.#newHeirs(path, folded, reached.events)) dirty.add(heir);
    return dirty;
  }

  /**
   * Whom copied rows of a gone parent may be counted for now that more of them came to this file. Looks at what is new: an
   * append to a thread that copies nothing costs nothing.
   */
  #newHeirs(path: string, folded: Folded<CodexFile>, from: number): string[] {
    const rollout = this.#rollouts.get(path);
    if (rollout === undefined || from >= folded.state.events.length || headerOf(folded)?.kind !== "user") return [];
    const heirs = this.#heirsOf(copiedThreads(folded, from));
    if (heirs.length < 2) return [];
    const lookup = this.lookup(() => null);
    return copiedPrefix(rollout, lookup).events > from ? heirs : [];
  }

  drop(path: string): Set<string> {
    const dirty = new Set<string>();
    const before = this.#rollouts.get(path);
    this.#rollouts.delete(path);
    this.#reached.delete(path);
    this.#empty.delete(path);
    this.#broken.delete(path);
    const thread = before === undefined ? null : threadOf(before.folded);
    if (thread !== null) this.#leave(thread, path, dirty);
    return dirty;
  }

  problems(): Problem[] {
    const problems: Problem[] = [];
    for (const thread of this.#byThread.keys()) {
      const { chosen, twins } = this.#choice(thread);
      for (const { twin, of } of twins) {
        const message = `${twin.path}: thread ${thread} is also in ${of.path}: that one is shown`;
        problems.push({ source: SOURCE, path: twin.path, kind: "duplicate", message });
      }
      const current = chosen.at(-1);
      const meta = current === undefined ? null : metaOf(current);
      if (current === undefined || meta === null) continue;
      if (meta.kind !== "user" && meta.parentThread !== null && !this.#byThread.has(meta.parentThread)) {
        const message = `${current.path}: a sub-agent of thread ${meta.parentThread}, whose own file is gone`;
        problems.push({ source: SOURCE, path: current.path, kind: "orphan", message });
      }
    }
    for (const [path, reason] of this.#broken) {
      problems.push({ source: SOURCE, path, kind: "damaged", message: `${path}: ${reason}` });
    }
    const empty = new Map<string, number>();
    for (const root of this.#empty.values()) empty.set(root, (empty.get(root) ?? 0) + 1);
    for (const [root, count] of empty) {
      const what = count === 1 ? "1 rollout is" : `${count} rollouts are`;
      const message = `${root}: ${what} empty or without a header: not listed`;
      problems.push({ source: SOURCE, path: root, kind: "not-sessions", message });
    }
    return problems.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  }

  #choice(thread: string): { chosen: Rollout[]; twins: { twin: Rollout; of: Rollout }[] } {
    const known = this.#chosen.get(thread);
    if (known !== undefined) return known;
    const all: Rollout[] = [];
    for (const path of this.#byThread.get(thread) ?? []) {
      const rollout = this.#rollouts.get(path);
      if (rollout !== undefined) all.push(rollout);
    }
    const choice = chooseRollouts(all.sort((a, b) => (a.path < b.path ? -1 : 1)));
    this.#chosen.set(thread, choice);
    return choice;
  }

  /** Could what a child has from its parent lie behind what had been read of the parent? */
  #needsMore(child: string, parent: string, reached: { events: number; ordinal: number }): boolean {
    return this.of(child).some((file) => {
      const { events } = file.folded.state;
      const meta = metaOf(file);
      const base = meta?.base ?? null;
      if (base === null) return meta?.ownFrom == null && events.length >= reached.events;
      if (base.thread === parent && base.endOrdinal > reached.ordinal + 1) return true;
      return events.length >= reached.events && events.some((event) => event.thread === parent);
    });
  }

  /** The forks of those of these threads that are gone: one of them is counted for what all have (agents.md §0). */
  #heirsOf(parents: Iterable<string>): string[] {
    const found: string[] = [];
    for (const parent of parents) {
      if (this.#byThread.has(parent)) continue;
      for (const child of this.#children.get(parent) ?? []) {
        const file = this.of(child).at(-1);
        if (file !== undefined && metaOf(file)?.kind === "user") found.push(child);
      }
    }
    return found;
  }

  #leave(thread: string, path: string, dirty: Set<string>): void {
    const paths = this.#byThread.get(thread);
    paths?.delete(path);
    this.#chosen.delete(thread);
    if (paths?.size === 0) this.#byThread.delete(thread);
    dirty.add(thread);
    for (const child of this.#family(thread)) dirty.add(child);
    for (const [parent, children] of this.#children) {
      if (this.#byThread.has(thread) || !children.delete(thread)) continue;
      dirty.add(parent);
      for (const heir of this.#heirsOf([parent])) dirty.add(heir);
    }
  }

  /** Everything copied from a thread, and from those. */
  #family(thread: string): Set<string> {
    const found = new Set<string>();
    const queue = [thread];
    for (const one of queue) {
      for (const child of this.#children.get(one) ?? []) {
        if (found.has(child)) continue;
        found.add(child);
        queue.push(child);
      }
    }
    return found;
  }
}

function pointedAt(folded: Folded<CodexFile>): Set<string> {
  const meta = headerOf(folded);
  if (meta === null) return new Set();
  const found = new Set(copiedThreads(folded));
  const named = [meta.forkedFrom, meta.parentThread, meta.base?.thread ?? null];
  for (const one of named) if (one !== null && one !== meta.id) found.add(one);
  return found;
}
