import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import type { Evidence } from "../../../src/probe/evidence.ts";
import { noEvidence } from "../../../src/probe/evidence.ts";
import type { TmuxPane } from "../../../src/probe/tmux.ts";
import type { Problem } from "../../../src/session/problem.ts";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import { questmasterSource } from "../../../src/sources/questmaster/source.ts";
import type { Delta, SourceReader } from "../../../src/sources/source.ts";
import { expected, referenceNow } from "./expected.ts";

export function paneOf(session: string, pane: Partial<TmuxPane> = {}): TmuxPane {
  return {
    id: `%${session.replace(/\D/gu, "").slice(-6)}`,
    session,
    window: 0,
    index: 1,
    pid: null,
    tty: null,
    dead: false,
    inMode: false,
    cwd: null,
    command: null,
    role: "primary",
    visible: false,
    ...pane,
  };
}

/** tmux as it would be with one primary pane in each of these sessions. */
export function evidenceOf(live: readonly string[] = expected.live_tmux_sessions, now = referenceNow): Evidence {
  const panes = live.map((id) => paneOf(id));
  return { ...noEvidence(now), tmux: { panes, sessions: new Set(live), server: live.length > 0 } };
}

/** A reader of one root, and what its deltas have added up to. */
export class Reading {
  readonly reader: SourceReader;
  readonly rows = new Map<string, Snapshot>();
  readonly seen = new Map<string, string>();
  problems: Problem[] = [];
  last: Delta | null = null;

  constructor(root: string, env: NodeJS.ProcessEnv = {}) {
    this.reader = questmasterSource.open([{ source: "questmaster", index: 1, path: root, explicit: true }], {
      files: new LocalFoldedFiles(),
      env,
      seen: (key) => this.seen.get(key) ?? null,
      copiedFrom: () => null,
      directories: () => [],
    });
  }

  async scan(evidence: Evidence = evidenceOf()): Promise<this> {
    for await (const delta of this.reader.scan(evidence)) this.take(delta);
    return this;
  }

  async apply(paths: readonly string[], evidence: Evidence = evidenceOf()): Promise<Delta> {
    return this.take(await this.reader.apply(paths, evidence));
  }

  tick(evidence: Evidence): Delta {
    return this.take(this.reader.tick(evidence));
  }

  take(delta: Delta): Delta {
    for (const snapshot of delta.changed) this.rows.set(snapshot.key, snapshot);
    for (const key of delta.removed) this.rows.delete(key);
    if (delta.problems !== null) this.problems = delta.problems;
    this.last = delta;
    return delta;
  }

  row(id: string): Snapshot {
    const row = this.rows.get(`questmaster:${id}`);
    if (!row) throw new Error(`no row ${id}`);
    return row;
  }
}
