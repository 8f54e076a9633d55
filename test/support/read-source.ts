import { LocalFoldedFiles } from "../../src/files/folded-files.ts";
import { type Evidence, noEvidence } from "../../src/probe/evidence.ts";
import { type ProcessTable, processTable } from "../../src/probe/processes.ts";
import type { Problem } from "../../src/session/problem.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import type { Delta, Root, Services, Source, SourceReader } from "../../src/sources/source.ts";

/** What a reader has said so far, as a store would hold it. */
export class Seen {
  readonly snapshots = new Map<string, Snapshot>();
  problems: Problem[] = [];

  take(delta: Delta): void {
    for (const key of delta.removed) this.snapshots.delete(key);
    for (const snapshot of delta.changed) this.snapshots.set(snapshot.key, snapshot);
    if (delta.problems !== null) this.problems = delta.problems;
  }

  byId(id: string): Snapshot {
    const found = [...this.snapshots.values()].find((snapshot) => snapshot.id === id);
    if (found === undefined) throw new Error(`no session ${id} among ${[...this.snapshots.keys()].join(" ")}`);
    return found;
  }
}

export function servicesFor(over: Partial<Services> = {}): Services {
  return {
    files: new LocalFoldedFiles(),
    env: {},
    seen: () => null,
    copiedFrom: () => null,
    directories: () => [],
    ...over,
  };
}

export function rootsOf(source: Source, paths: readonly string[]): Root[] {
  return paths.map((path, i) => ({ source: source.name, index: i + 1, path, explicit: true }));
}

/** Evidence of a machine on which these processes run, and nothing else. */
export function evidenceOf(now: string, processes: ProcessTable = processTable([])): Evidence {
  return { ...noEvidence(Date.parse(now)), processes, locks: [], tmux: null };
}

/** Opens a source over these directories and scans them once. */
export async function readSource(
  source: Source,
  paths: readonly string[],
  evidence: Evidence,
  over: Partial<Services> = {},
): Promise<{ reader: SourceReader; seen: Seen }> {
  const reader = source.open(rootsOf(source, paths), servicesFor(over));
  const seen = new Seen();
  for await (const delta of reader.scan(evidence)) seen.take(delta);
  return { reader, seen };
}
