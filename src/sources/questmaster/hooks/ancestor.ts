import { readFileSync } from "node:fs";
import { type ProcStat, parseStat } from "../../../probe/proc-stat.ts";

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "fish", "ash", "ksh"]);
const MOST_LEVELS = 6;

/** The process a hook works for: the nearest one above us that is no shell. null where there is no /proc to ask. */
export function hookingProcess(from: number = process.ppid): { pid: number; startTicks: string } | null {
  let pid = from;
  for (let level = 0; level < MOST_LEVELS && pid > 1; level++) {
    const stat = statOf(pid);
    if (stat === null) return null;
    if (!SHELLS.has(stat.comm)) return { pid, startTicks: stat.startTicks };
    pid = stat.ppid;
  }
  return null;
}

function statOf(pid: number): ProcStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return null;
  }
}
