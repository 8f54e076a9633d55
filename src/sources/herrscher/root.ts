import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Evidence } from "../../probe/evidence.ts";
import { findProgram } from "../../probe/program.ts";
import type { SessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Delta, Root, Services, Watched } from "../source.ts";
import { SnapshotChanges } from "../told.ts";
import { availableTo, type Channel, channelOf } from "./channel.ts";
import { places } from "./cohort.ts";
import { DaemonWatch } from "./daemon-watch.ts";
import { fallen } from "./fell-away.ts";
import { keysOf } from "./keys.ts";
import { isValidName, participantsPath, transcriptPath } from "./names.ts";
import { readParticipants } from "./participants.ts";
import { defaultDirectory, stateFileOf } from "./place.ts";
import { planResume, type ResumePlan } from "./resume.ts";
import { blankFacts, type NameFiles, NO_FILES, type RowFacts } from "./row.ts";
import { snapshotOf } from "./snapshot.ts";
import { BadState, readStateFile, type StateContent, type StateRow } from "./state-file.ts";
import { tornTail, transcriptFold, transcriptSums } from "./transcript-fold.ts";

const NAME = "herrscher";

/** A row as it is shown. */
export interface HeldRow {
  facts: RowFacts;
  snapshot: Snapshot;
  resume: ResumePlan;
}

/** Everything forktail knows of one root: its state file, the files of its sessions, its daemon. */
export class HerrscherRoot {
  readonly root: Root;
  readonly statePath: string;
  readonly dir: string;
  readonly daemon: DaemonWatch;
  readonly #services: Services;
  #content: StateContent | null = null;
  readonly #files = new Map<string, NameFiles & { incarnation: string }>();
  #held = new Map<SessionKey, HeldRow>();
  #problems = new Map<string, Problem>();
  #program: string | null = null;
  #evidence: Evidence | null = null;

  constructor(root: Root, services: Services, changed: (delta: Delta) => void) {
    this.root = root;
    this.#services = services;
    this.statePath = stateFileOf(root.path);
    this.dir = dirname(this.statePath);
    this.daemon = new DaemonWatch({
      statePath: this.statePath,
      env: services.env,
      instanceID: () => this.#content?.instanceID ?? "",
      rows: () => this.#freshRows(),
      changed: () => changed(this.compose(null, false)),
    });
  }

  get content(): StateContent | null {
    return this.#content;
  }

  get env(): NodeJS.ProcessEnv {
    return this.#services.env;
  }

  channel(): Channel {
    return channelOf(this.daemon.daemon, this.#program, basename(this.statePath) === "state.json");
  }

  find(key: SessionKey): HeldRow | null {
    return this.#held.get(key) ?? null;
  }

  /** The rows of the cohort of a row, in file order; of equal names the first. */
  members(facts: RowFacts): HeldRow[] {
    const names = new Set(facts.cohort);
    return [...this.#held.values()].filter(({ facts: one }) => !one.row.duplicate && names.has(one.session.name));
  }

  problems(): Problem[] {
    return [...this.#problems.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  }

  watched(): Watched {
    return { path: this.dir, depth: 1, matters: (path) => this.#kindOf(path) !== null };
  }

  #kindOf(path: string): { kind: "state" | "lock" } | { kind: "transcript" | "participants"; name: string } | null {
    if (path === this.statePath) return { kind: "state" };
    const file = basename(path);
    const folder = dirname(path);
    if (folder === this.dir) return file === `.${basename(this.statePath)}.lock` ? { kind: "lock" } : null;
    const named = (suffix: string): string | null => {
      const name = file.endsWith(suffix) ? file.slice(0, -suffix.length) : "";
      return isValidName(name) ? name : null;
    };
    const transcript = folder === join(this.dir, "transcripts") ? named(".jsonl") : null;
    if (transcript !== null) return { kind: "transcript", name: transcript };
    const journal = folder === join(this.dir, "participants") ? named(".log") : null;
    return journal === null ? null : { kind: "participants", name: journal };
  }

  /** Reads everything once. */
  async readAll(evidence: Evidence): Promise<void> {
    this.#readState();
    this.#look(evidence);
    await this.#readNames([...this.#names()]);
  }

  /** Files of this root that changed; paths of other places are passed over. Returns whether any was ours. */
  async readChanged(paths: readonly string[], evidence: Evidence): Promise<boolean> {
    const changed = paths.map((path) => this.#kindOf(path)).filter((kind) => kind !== null);
    if (changed.length === 0) return false;
    const names = new Set<string>();
    if (changed.some((one) => one.kind === "state")) {
      const before = new Set(this.#names());
      this.#readState();
      for (const name of this.#names()) if (!before.has(name)) names.add(name);
    }
    for (const one of changed) if ("name" in one) names.add(one.name);
    this.#look(evidence);
    await this.#readNames([...names]);
    this.#findOrphans();
    return true;
  }

  #look(evidence: Evidence): void {
    this.#evidence = evidence;
    this.#program = findProgram(NAME, this.#services.env);
    this.daemon.look(evidence);
  }

  #names(): Set<string> {
    const rows = this.#content?.rows ?? [];
    return new Set(rows.filter((row) => row.nameValid).map((row) => row.session.name));
  }

  /** A file that cannot be parsed leaves the last good copy in use, and that is said (herrscher.md §2). */
  #readState(): void {
    this.#problems.delete(this.statePath);
    try {
      const content = readStateFile(this.statePath);
      if (content === null) this.#noState();
      this.#content = content;
      for (const key of content?.wrong ?? [])
        this.#problem(this.statePath, "bad-state", `state.json: ${key} has the wrong type`);
    } catch (error) {
      const bad = error instanceof BadState;
      const kind = bad ? "bad-state" : error instanceof Error && "kind" in error ? String(error.kind) : "unreadable";
      const message = error instanceof Error ? error.message : String(error);
      const kept = this.#content === null ? "herrscher refuses to start with it" : "the last good copy is shown";
      this.#problem(this.statePath, kind, `${message}: ${kept}`);
    }
    this.#findOrphans();
  }

  #noState(): void {
    if (!this.root.explicit) return;
    const there = lstatSync(this.dir, { throwIfNoEntry: false });
    const what = there === undefined ? "no such directory" : "no state.json in it: herrscher has never run here";
    this.#problem(this.statePath, "gone", `${this.root.path}: ${what}`);
  }

  /** Transcripts without a row: left by a close that did not end, counted instead of hidden (herrscher.md §3). */
  #findOrphans(): void {
    const names = this.#names();
    const folder = join(this.dir, "transcripts");
    for (const [path, problem] of this.#problems) if (problem.kind === "orphan-transcript") this.#problems.delete(path);
    if (this.#content === null) return;
    let files: string[];
    try {
      files = readdirSync(folder);
    } catch {
      return;
    }
    for (const file of files) {
      if (!file.endsWith(".jsonl") || names.has(file.slice(0, -".jsonl".length))) continue;
      const path = join(folder, file);
      this.#problem(path, "orphan-transcript", `transcripts/${file}: no session of that name is left; not shown`);
    }
  }

  async #readNames(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#names().has(name)) await this.#readName(name);
      else this.#forget(name);
    }
    for (const name of this.#files.keys()) if (!this.#names().has(name)) this.#forget(name);
  }

  #forget(name: string): void {
    if (!this.#files.delete(name)) return;
    const path = transcriptPath(this.dir, name);
    this.#services.files.forget(path);
    this.#problems.delete(path);
    this.#problems.delete(participantsPath(this.dir, name));
  }

  async #readName(name: string): Promise<void> {
    const path = transcriptPath(this.dir, name);
    const incarnation = this.#content?.rows?.find((row) => row.session.name === name)?.session.incarnation ?? "";
    const held = this.#files.get(name);
    // The same path belongs to another session once the name was used again.
    const before = held !== undefined && held.incarnation === incarnation ? held : null;
    const result = await this.#services.files.advance(transcriptFold, path);
    this.#problems.delete(path);
    let transcript: NameFiles["transcript"] = null;
    if (result.ok) {
      const { ino, size, state } = result.folded;
      const sums = { ...transcriptSums(state) };
      transcript = { path, ino, size, sums, dropped: [...state.dropped], torn: tornTail(state) };
    } else if (result.kind !== "gone") this.#problem(path, result.kind, `${path}: ${result.message}`);
    const fellAway = fallen(before, transcript);
    this.#files.set(name, { incarnation, transcript, participants: this.#participants(name), fellAway });
  }

  #participants(name: string): string[] {
    const path = participantsPath(this.dir, name);
    this.#problems.delete(path);
    try {
      return readParticipants(path);
    } catch (error) {
      this.#problem(path, "unreadable", `${path}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  #problem(path: string, kind: string, message: string): void {
    this.#problems.set(path, { source: NAME, path, kind, message: cleanLine(message) });
  }

  /** For a comparison with the daemon right now; the rows shown stay as they are until their file is reported. */
  #freshRows(): readonly StateRow[] {
    try {
      return readStateFile(this.statePath)?.rows ?? [];
    } catch {
      return this.#content?.rows ?? [];
    }
  }

  /** Snapshots as of now; only what changed is in the delta. Without evidence, the last one with the time of now. */
  compose(evidence: Evidence | null, problems: boolean): Delta {
    if (evidence !== null) this.#look(evidence);
    const seen = this.#evidence;
    const now = evidence?.now ?? this.daemon.now();
    const rows = this.#content?.rows ?? [];
    const facts = this.#facts(rows);
    const keys = keysOf(rows, this.root);
    const byName = new Map<string, SessionKey>();
    for (const row of rows) if (!row.duplicate) byName.set(row.session.name, keys.get(row) ?? "");
    const held = new Map<SessionKey, HeldRow>();
    const changes = new SnapshotChanges();
    let recheckAt: number | null = null;
    const pane = seen === null ? null : this.daemon.pane(seen);
    for (const one of facts) {
      const key = keys.get(one.row) ?? "";
      const resume = planResume(one, this.#resumePlace());
      const { snapshot, until } = snapshotOf(one, {
        root: this.root,
        key,
        id: key.slice(key.indexOf(":") + 1),
        path: one.row.nameValid ? transcriptPath(this.dir, one.session.name) : this.statePath,
        parent: one.drawnUnder === null ? null : (byName.get(one.drawnUnder) ?? null),
        resume,
        can: availableTo(one, this.channel(), resume.ok),
        pane: one.daemon?.state === "up" ? pane : null,
        now,
      });
      if (until !== null && (recheckAt === null || until < recheckAt)) recheckAt = until;
      held.set(key, { facts: one, snapshot: changes.note(this.#held.get(key)?.snapshot ?? null, snapshot), resume });
    }
    for (const [key, { snapshot }] of this.#held) if (!held.has(key)) changes.note(snapshot, null);
    this.#held = held;
    const { changed, removed } = changes;
    return { changed, removed, problems: problems ? this.problems() : null, recheckAt };
  }

  #resumePlace(): Parameters<typeof planResume>[1] {
    return { dir: this.dir, isDefault: defaultDirectory(this.#services.env) === this.dir, program: this.#program };
  }

  #facts(rows: readonly StateRow[]): RowFacts[] {
    const tree = places(rows.filter((row) => row.session.name !== "").map((row) => row.session));
    const silent = (name: string): number => {
      const sums = this.#files.get(name)?.transcript?.sums;
      return sums === undefined ? 0 : sums.turns - sums.reportedTurns;
    };
    return rows.map((row) => {
      const { session } = row;
      const files = row.nameValid ? (this.#files.get(session.name) ?? NO_FILES) : NO_FILES;
      const place = tree.get(session.name);
      const cohort = place?.cohort ?? [session.name];
      const spent = { cost: 0, tokens: 0 };
      for (const name of cohort) {
        const sums = this.#files.get(name)?.transcript?.sums;
        spent.cost += sums?.cost ?? 0;
        spent.tokens += (sums?.tokensIn ?? 0) + (sums?.tokensOut ?? 0);
      }
      const blank = blankFacts(row);
      return {
        ...blank,
        files,
        sums: files.transcript?.sums ?? blank.sums,
        cohort,
        cohortRoot: place?.root ?? session.name,
        depth: place?.depth ?? 0,
        children: place?.children ?? [],
        parentExists: place?.parentExists ?? null,
        drawnUnder: row.duplicate ? null : (place?.drawnUnder ?? null),
        cohortSpent: spent,
        cohortSilent: cohort.reduce((sum, name) => sum + silent(name), 0),
        daemon: this.daemon.daemon,
        daemonCwd: this.daemon.cwd(this.#evidence),
        live: row.duplicate ? null : this.daemon.liveOf(session),
        feed: this.daemon.feedState(),
      };
    });
  }

  close(): void {
    this.daemon.close();
  }
}
