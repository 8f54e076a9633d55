import { basename, dirname, relative } from "node:path";
import type { Folded } from "../../files/fold.ts";
import { CannotOpen } from "../../files/open.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import type { ResumeAnswer, Root, Services } from "../source.ts";
import { type Plan, readBeside, readPlan } from "./beside.ts";
import { Copies } from "./copies.ts";
import { codebotFold, type SessionState, settled } from "./fold.ts";
import { type Held, isUnfinished, newHeld, projectOf, stateOf, UNFINISHED_MS } from "./held.ts";
import { idOfFileName, isSessionId } from "./ids.ts";
import { projectsDirectory } from "./layout.ts";
import type { LiveCodebot } from "./live.ts";
import { Newest } from "./newest.ts";
import type { Problems } from "./problems.ts";
import { resumeAnswer } from "./resume.ts";
import { rowOf } from "./session-row.ts";

const NAME = "codebot";

/** What reading one file changed. */
export interface Reading {
  /** Sessions whose rows may be others now. */
  touched: SessionKey[];
  removed: SessionKey[];
}

/** All session files that are known, and what follows from them together: copies, the newest of a directory, rows. */
export class OpenSessions {
  readonly #services: Services;
  readonly #problems: Problems;
  readonly #held = new Map<SessionKey, Held>();
  readonly #byPath = new Map<string, Held>();
  readonly #copies = new Copies();
  readonly newest = new Newest();
  /** Who gets the plain key of an id that several files have. */
  readonly #reserved = new Map<SessionKey, string>();

  constructor(services: Services, problems: Problems) {
    this.#services = services;
    this.#problems = problems;
  }

  get(key: SessionKey): Held | undefined {
    return this.#held.get(key);
  }

  /** Throws when there is none. */
  must(key: SessionKey): Held {
    const held = this.#held.get(key);
    if (held === undefined) throw new Error(`there is no session ${key}`);
    return held;
  }

  all(): Held[] {
    return [...this.#held.values()];
  }

  ofId(root: Root, id: string): Held[] {
    return this.all().filter((held) => held.root === root && held.id === id);
  }

  under(directory: string): Held[] {
    return this.all().filter((held) => dirname(held.path) === directory);
  }

  /** Brings a session's file up to date. Throws when it is gone or unreadable. */
  async fresh(key: SessionKey): Promise<{ held: Held; state: SessionState }> {
    const held = this.must(key);
    const result = await this.#services.files.advance(codebotFold, held.path);
    if (!result.ok) throw new Error(`${held.path}: ${result.message}`);
    held.folded = result.folded;
    return { held, state: settled(held.folded.state) };
  }

  /** Keeps the plain key of the id in a file's name for this file, unless another one has it. */
  reserve(root: Root, path: string): void {
    const id = idOfFileName(basename(path));
    if (id === null) return;
    const key = sessionKey(NAME, root.index, id);
    if (!this.#reserved.has(key)) this.#reserved.set(key, path);
  }

  /** Reads one file anew. `live`: an unfinished last line may be a write under way, so it is not called torn at once. */
  async read(root: Root, path: string, live: boolean, now: number): Promise<Reading> {
    const before = this.#byPath.get(path);
    // The state is changed in place: what it was has to be noted first.
    const tail = tailOf(before);
    const result = await this.#services.files.advance(codebotFold, path);
    this.#problems.clear(path);
    if (!result.ok) {
      this.#services.files.forget(path);
      if (result.kind !== "gone") this.#problems.add(path, result.kind, result.message);
      return this.#drop(before);
    }
    const held = before ?? this.#newHeld(root, path, result.folded);
    held.folded = result.folded;
    if (live && tailOf(held) !== tail && isUnfinished(result.folded.state)) held.graceUntil = now + UNFINISHED_MS;
    this.#hold(held);
    return { touched: [held.key, ...this.#copies.take(held.key, held.folded.state)], removed: [] };
  }

  /** Reads what lies beside a session: tasks, roster, transcripts. */
  look(held: Held): void {
    for (const { path } of held.beside.unreadable) this.#problems.clear(path);
    held.beside = readBeside(held.root.path, held.id);
    for (const { path, message } of held.beside.unreadable) this.#problems.add(path, "unreadable", message);
  }

  /** The session's row as of `now`; null while its file is no session, which is a problem then. */
  row(held: Held, now: number, live: LiveCodebot | null): Snapshot | null {
    const state = stateOf(held, now);
    held.until = now < held.graceUntil ? held.graceUntil : null;
    this.#problems.clear(held.path, "skipped");
    if (state.header === null) {
      const reason = state.refused ?? "empty file";
      if (now >= held.graceUntil) this.#problems.add(held.path, "skipped", `left out: ${reason}`);
      this.#forgetBadPlan(held);
      return null;
    }
    const plan = this.#planOf(held, state.chain.planSlug);
    const answer = this.resume(held, state);
    const { snapshot, until } = rowOf({
      ...{ key: held.key, root: held.root, id: held.id, path: held.path, project: projectOf(held) },
      ...{ state, beside: held.beside, process: live, now },
      plan: plan === null ? null : { title: plan.title, changedMs: plan.changedMs },
      parent: this.#services.copiedFrom(held.key) ?? this.#copies.origin(held.key),
      isCopied: (name) => this.isCopied(held.key, name),
      resume: answer.ok ? answer.command : null,
    });
    held.until = earlier(held.until, until);
    return snapshot;
  }

  /** Was an entry of this session first written by another one? */
  isCopied(key: SessionKey, name: string): boolean {
    return this.#copies.isCopied(key, name);
  }

  resume(held: Held, state: SessionState): ResumeAnswer {
    const newest = this.newest.inDirectory(dirname(held.path), state.header?.version ?? 0) === held;
    return resumeAnswer({ id: held.id, state, project: projectOf(held), newest });
  }

  clear(): void {
    this.#held.clear();
    this.#byPath.clear();
    this.#reserved.clear();
  }

  #drop(held: Held | undefined): Reading {
    if (held === undefined) return { touched: [], removed: [] };
    this.#held.delete(held.key);
    this.#byPath.delete(held.path);
    this.#reserved.delete(held.key);
    this.newest.drop(held);
    for (const { path } of held.beside.unreadable) this.#problems.clear(path);
    this.#forgetBadPlan(held);
    return { touched: [...this.#copies.drop(held.key)], removed: held.snapshot === null ? [] : [held.key] };
  }

  /** The plan it is linked to. One that cannot be read is a problem, and for the session as if there were none. */
  #planOf(held: Held, slug: string): Plan | null {
    const plan = readPlan(held.root.path, slug);
    this.#forgetBadPlan(held);
    if (!(plan instanceof CannotOpen)) return plan;
    held.badPlan = plan.path;
    this.#problems.add(plan.path, plan.kind, plan.message);
    return null;
  }

  /** Takes back what was said of its plan, unless another session is linked to the same one. */
  #forgetBadPlan(held: Held): void {
    const path = held.badPlan;
    held.badPlan = null;
    if (path !== null && !this.all().some((other) => other.badPlan === path)) this.#problems.clear(path);
  }

  #hold(held: Held): void {
    this.#held.set(held.key, held);
    this.#byPath.set(held.path, held);
    this.newest.take(held);
  }

  /**
   * The id is that of the file's name, by which codebot opens it; a file of another name goes by its header, or else by
   * its name. A second file of the same id gets its place added to the key.
   */
  #newHeld(root: Root, path: string, folded: Folded<SessionState>): Held {
    const claimed = folded.state.header?.sessionId ?? "";
    const name = basename(path);
    const id = idOfFileName(name) ?? (isSessionId(claimed) ? claimed : name.slice(0, -".jsonl".length));
    const plain = sessionKey(NAME, root.index, id);
    const place = relative(projectsDirectory(root.path), path);
    const isTaken = this.#held.has(plain) || (this.#reserved.get(plain) ?? path) !== path;
    const key = isTaken ? sessionKey(NAME, root.index, `${id}@${place}`) : plain;
    return newHeld({ key, root, id, path, folded });
  }
}

/** The unfinished end of a file, to see whether it moved. */
function tailOf(held: Held | undefined): string {
  const tail = held?.folded.state.tail;
  return held === undefined ? "unknown" : tail ? `${tail.at}+${tail.bytes}` : "";
}

export function earlier(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
