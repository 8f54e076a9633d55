import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Sink } from "../live/live.ts";
import type { Evidence } from "../probe/evidence.ts";
import type { Problem } from "../session/problem.ts";
import type { Snapshot } from "../session/snapshot.ts";
import { cleanLine, jsonText } from "../session/untrusted.ts";
import { SOURCES } from "../sources/index.ts";
import { VERSION } from "../version.ts";
import type { WatcherFacts, WatchTrouble } from "../watch/watcher.ts";
import { openWorkplace, print, type SharedOptions } from "./context.ts";

/** `forktail doctor [--json]`: where it looks, what it sees there, how it watches, what limits it, what is wrong. */
export async function doctor(options: SharedOptions): Promise<number> {
  const place = await openWorkplace(options);
  const sessions = new Map<string, Snapshot>();
  const problems = new Map<string, Problem[]>();
  const troubles: WatchTrouble[] = [];
  const sink: Sink = {
    commit(source, delta) {
      for (const snapshot of delta.changed) sessions.set(snapshot.key, snapshot);
      for (const key of delta.removed) sessions.delete(key);
      if (delta.problems !== null) problems.set(source, delta.problems);
    },
    trouble: (trouble) => troubles.push(trouble),
    scanned: () => undefined,
  };
  await place.live.start(sink);
  const report: Report = {
    schema: 1,
    version: VERSION,
    node: process.versions.node,
    stateDirectory: place.memory.directory,
    roots: place.roots.map((root) => ({
      source: root.source,
      title: SOURCES.find((one) => one.name === root.source)?.title ?? root.source,
      path: root.path,
      there: existsSync(root.path),
      asked: root.explicit,
      sessions: [...sessions.values()].filter((one) => one.source === root.source && one.root === root.path).length,
    })),
    watching: place.live.facts(),
    probes: place.live.evidence.failures,
    limits: { inotifyWatches: await number("/proc/sys/fs/inotify/max_user_watches") },
    troubles,
    problems: [...problems.values()].flat(),
  };
  await place.live.close();
  await print(options.json ? jsonText(report, 2) : words(report));
  return 0;
}

interface Report {
  schema: 1;
  version: string;
  node: string;
  stateDirectory: string;
  roots: { source: string; title: string; path: string; there: boolean; asked: boolean; sessions: number }[];
  watching: WatcherFacts | null;
  probes: Evidence["failures"];
  limits: { inotifyWatches: number | null };
  troubles: WatchTrouble[];
  problems: Problem[];
}

function words(report: Report): string {
  const lines = [
    `forktail ${report.version}, Node ${report.node}`,
    `own memory: ${report.stateDirectory}`,
    "",
    "looks in:",
  ];
  for (const root of report.roots) {
    const state = root.there ? `${root.sessions} sessions` : root.asked ? "NOT THERE" : "not there";
    lines.push(`  ${root.title}: ${cleanLine(root.path)}: ${state}`);
  }
  const { watching } = report;
  if (watching) {
    const how = watching.mode === "polling" ? "polls every 2 s" : "watches";
    lines.push("", `${how}: ${watching.directories} directories`);
    for (const path of watching.missing) lines.push(`  waits for ${cleanLine(path)} to appear`);
  }
  if (report.limits.inotifyWatches !== null) lines.push(`system limit: ${report.limits.inotifyWatches} watches`);
  for (const { probe, message } of report.probes) lines.push(`probe ${probe}: ${cleanLine(message)}`);
  for (const trouble of report.troubles) lines.push(`trouble: ${cleanLine(trouble.message)}`);
  lines.push("", report.problems.length === 0 ? "no problems" : `${report.problems.length} problems:`);
  for (const problem of report.problems)
    lines.push(`  ${problem.source}: ${problem.kind}: ${cleanLine(problem.message)}`);
  return lines.join("\n");
}

async function number(path: string): Promise<number | null> {
  try {
    return Number((await readFile(path, "utf8")).trim());
  } catch {
    return null;
  }
}
