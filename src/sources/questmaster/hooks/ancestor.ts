import { readFileSync } from "node:fs";
import { parseStat } from "../../../probe/processes.ts";

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "fish", "ash", "ksh"]);
const MOST_LEVELS = 6;

/** The process a hook works for: the nearest one above us that is no shell. null where there is no /proc to ask. */
export function hookingProcess(from: number = process.ppid): { pid: number; startTicks: string } | null {
  let pid = from;
  for (let level = 0; level < MOST_LEVELS && pid > 1; level++) {
    const stat = statOf(pid);
    if (stat === null || stat.startTicks === null) return null;
    if (!SHELLS.has(stat.comm)) return { pid, startTicks: stat.startTicks };
    pid = stat.ppid ?? 0;
  }
  return null;
}

function statOf(pid: number): ReturnType<typeof parseStat> {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return null;
  }
}
