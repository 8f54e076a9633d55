import { basename } from "node:path";
import type { Evidence } from "../../probe/evidence.ts";

export interface LiveCodebot {
  pid: number;
  /** Its tmux pane, null when it runs in none that we see. */
  pane: string | null;
}

/**
 * The codebots that run, by working directory. codebot leaves no pid and no lock (codebot.md §14), so a process in a
 * session's directory is the only sign that someone is on it. The youngest pid where several share a directory.
 */
export function liveCodebots(evidence: Evidence): Map<string, LiveCodebot> {
  const live = new Map<string, LiveCodebot>();
  for (const process of evidence.processes?.all ?? []) {
    const program = basename(process.argv[0] ?? "") || process.comm;
    if (program !== "codebot" || process.cwd === null) continue;
    const before = live.get(process.cwd);
    if (before !== undefined && before.pid > process.pid) continue;
    const pane = evidence.tmux?.panes.find(
      (one) => !one.dead && (one.pid === process.pid || (process.tty !== null && one.tty === process.tty)),
    );
    live.set(process.cwd, { pid: process.pid, pane: pane?.id ?? null });
  }
  return live;
}
